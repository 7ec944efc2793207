import Bytes
import JSONText
import Telemetry

/// The URL-encoded form that uploads a Leanplum payload, with its fields in alphabetical order.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section C.3.
enum LeanplumForm {
    /// The name of the field that specifies the method of a call.
    static let actionField = "action"
    /// The value of ``actionField`` in a call with stored requests.
    static let multiAction = "multi"
    /// The name of the field that contains the stored requests.
    static let dataField = "data"

    /// Creates the body of a call.
    ///
    /// - Throws: `RequestError.payload` if `payload` is not a non-empty list `{"data":[…]}`.
    static func body(payload: [UInt8], appID: String, key: String, now: Timestamp) throws(RequestError) -> [UInt8] {
        var body = Array("\(actionField)=\(multiAction)&appId=".utf8)
        PercentEncoding.append(formValue: appID.utf8, to: &body)
        body.append(contentsOf: "&client=ios&clientKey=".utf8)
        PercentEncoding.append(formValue: key.utf8, to: &body)
        body.append(contentsOf: "&\(dataField)=".utf8)
        PercentEncoding.append(formValue: payload, to: &body)
        if let version = try sdkVersion(of: payload) {
            body.append(contentsOf: "&sdkVersion=".utf8)
            PercentEncoding.append(formValue: version.utf8, to: &body)
        }
        body.append(contentsOf: "&time=\(secondsText(for: now))".utf8)
        return body
    }

    /// Returns the seconds since 1970 with six decimal places, in the format `%f` of the SDK.
    private static func secondsText(for time: Timestamp) -> String {
        let fraction = String(time.milliseconds % 1000)
        return "\(time.milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)000"
    }

    /// Returns the version of the SDK that queued the last request of a payload, or `nil` if the request states none.
    private static func sdkVersion(of payload: [UInt8]) throws(RequestError) -> String? {
        guard let document = try? JSONDocument(payload),
            let data = document.value(of: LeanplumKeys.data, in: document.root),
            let last = document.elements(of: data).last
        else { throw .payload }
        return document.value(of: LeanplumKeys.sdkVersion, .string, in: last).map { document.string(of: $0) }
    }
}
