import Bytes
import JSONText
import Telemetry

/// The format of captured requests to Adjust's servers.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 11.
struct AdjustRequests: RequestFormat {
    let hosts = ["app", "gdpr", "subscription", "ssrv", "analytics", "consent"].flatMap { subdomain in
        [
            "adjust.com", "adjust.io", "adjust.net.in", "adjust.world", "adjust.cn", "eu.adjust.com", "tr.adjust.com",
            "us.adjust.com",
        ].map { CapturedHost("\(subdomain).\($0)") }
    }
    let methods = ["POST"]
    let body = CapturedBody.fields
    let headers = [AdjustHeaders.sdkHeader, AdjustHeaders.agentHeader]
    let secretHeaders = [authorization]
    let payloadsRepeat = true

    private static let authorization = "authorization"
    private static let firstVersionWithoutAgent = [4]

    func isUpload(_ parts: [[UInt8]]) -> Bool { AdjustType.path(ofParts: parts) != nil }

    func path(of address: WebAddress) -> String { AdjustType.path(ofParts: address.parts) ?? address.path }

    /// Recognizes decoded fields by a time in the form that the SDK writes.
    func areDecoded(_ fields: [FormField]) -> Bool {
        fields.contains {
            $0.name.elementsEqual(AdjustParameters.createdAt.utf8) && Timestamp(adjust: $0.value.span) != nil
        }
    }

    func record(of upload: CapturedUpload, in document: inout JSONDocument) throws(BodyError) -> Record {
        guard let path = AdjustType.path(ofParts: upload.route?.parts ?? []), let type = AdjustType.byPath[path] else {
            throw .invalid("the path is none that the SDK uses")
        }
        func values(_ name: String) -> [String] {
            upload.headers.filter { $0.isNamed(name) }.map(\.value)
        }
        let sdks = values(AdjustHeaders.sdkHeader)
        let sdk = sdks.count == 1 ? sdks[0] : nil
        let version = sdk.flatMap { AdjustHeaders.version(ofSDK: $0) }
        // Since version 4 of the SDK, the system or the app sets the user agent, so the user agent is not kept.
        let hasOwnAgent = version?.lexicographicallyPrecedes(Self.firstVersionWithoutAgent) ?? false
        var request = AdjustUpload(
            path: path, type: type, sdk: sdk, agent: hasOwnAgent ? values(AdjustHeaders.agentHeader).first : nil,
            needsSignature: !values(Self.authorization).isEmpty)
        var record = upload.completed(
            request.record(from: &document, isStored: false, captureTime: upload.time, source: upload.source))
        record.target?.headers = request.target?.headers ?? [:]
        return record
    }
}

/// The header fields that identify the SDK and the app.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 7.4.
enum AdjustHeaders {
    static let sdkHeader = "Client-Sdk"
    static let agentHeader = "User-Agent"

    /// Returns whether `text` can be sent as the name of the SDK.
    static func isValidSDKName(_ text: String) -> Bool {
        guard let first = text.utf8.first, first.isLetter || first.isDigit, text.utf8.count <= 64 else { return false }
        return text.utf8.allSatisfy { $0.isLetter || $0.isDigit || "._@+-".utf8.contains($0) }
    }

    /// Returns whether `text` can be sent as the name of the app.
    static func isValidUserAgent(_ text: String) -> Bool {
        (1...512).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Returns the version in a name such as `unity4.11.4@ios4.11.5`, or `nil` if there is none.
    static func version(ofSDK name: String) -> [Int]? {
        let own = name.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        guard own.hasPrefix("ios") else { return nil }
        let numbers = own.dropFirst(3).split(separator: ".", omittingEmptySubsequences: false).map {
            $0.utf8.allSatisfy(\.isDigit) ? Int($0) : nil
        }
        return numbers.contains(nil) ? nil : numbers.compactMap(\.self)
    }
}
