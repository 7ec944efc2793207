import Adjust
import Glean
import Leanplum
import Mozilla
import Telemetry
import TestSupport

// Records of the systems whose data users can withdraw.
extension Sample {
    /// Returns a Glean ping whose metrics contain the given UUIDs.
    static func glean(
        _ number: Int, _ type: String, client: String?, uuids: [String: String] = [:], capture: String = "phone",
        held: [Hold] = []
    ) -> Record {
        let id = "0b9c7a5e-6d21-4f7b-8f0c-" + String(repeating: "0", count: 12 - "\(number)".count) + "\(number)"
        let metrics = uuids.sorted { $0.key < $1.key }.map { #""\#($0.key)":"\#($0.value)""# }.joined(separator: ",")
        return Record(
            system: .glean, type: type, id: id, client: client, time: time(number),
            target: Target(path: "/submit/org-mozilla-ios-firefox/\(type)/1/\(id)"),
            payload: Array(#"{"metrics":{"uuid":{\#(metrics)}},"seq":\#(number)}"#.utf8),
            source: Source(capture: capture, path: "glean_data/\(id)", store: .gleanPingFile, index: 0), held: held)
    }

    /// Returns a ping of telemetry-ios.
    static func core(
        _ number: Int, client: String, capture: String = "phone", held: [Hold] = []
    ) -> Record {
        var record = ping("\(number)", client: client, minute: number, seq: number, held: held)
        record.source = Source(capture: capture, path: "Documents/\(number)", store: .mozillaPingFile, index: 0)
        return record
    }

    /// Returns an activity package of Adjust.
    static func adjust(
        _ number: Int, client: String, capture: String = "phone", held: [Hold] = [Hold("attribution")]
    ) -> Record {
        let payload = Array(#"{"activity_kind":"event","idfv":"\#(client)","event_count":"\#(number)"}"#.utf8)
        return Record(
            system: .adjust, type: "event", id: PayloadHash.id(of: payload), client: client, time: time(number),
            target: Target(path: "/event"), payload: payload,
            source: Source(capture: capture, path: "AdjustIoPackageQueue", store: .adjustQueue, index: number),
            held: held)
    }

    /// Returns a withdrawal of a client.
    static func withdrawal(
        _ reason: Withdrawal.Reason, _ system: SystemName, client: String, capture: String = "tue",
        path: String = "Library/Preferences/com.example.shop.plist"
    ) -> Withdrawal {
        Withdrawal(reason, of: Withdrawal.Subject(system, .client, id: client), capture: capture, path: path)
    }
}
