import ActivityStream
import Mozilla
import Telemetry
import TestSupport

extension Sample {
    /// Creates a ping that may be uploaded.
    static func ping(_ number: Int, client: String, type: String = "core", path: String? = nil) -> Record {
        let digits = String(number, radix: 16, uppercase: true)
        let id = "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
        return Record(
            system: .mozilla, type: type, id: id, client: client,
            time: Timestamp(milliseconds: 1_583_154_000_000 + Int64(number) * 60_000),
            target: Target(path: path ?? "/submit/telemetry/\(id)/\(type)/Focus/8.1.3/release/4236?v=4"),
            payload: Array(#"{"clientId":"\#(client)","seq":\#(number)}"#.utf8), source: source)
    }

    /// Creates a ping of Activity Stream.
    static func activityStream(_ number: Int) -> Record {
        let payload = Array(#"{"client_id":"A","session":\#(number),"topic":"activity-stream-mobile-sessions"}"#.utf8)
        return Record(
            system: .activityStream, type: "activity-stream-mobile-sessions", id: PayloadHash.id(of: payload),
            client: "A", time: Timestamp(milliseconds: 1_583_154_000_000 + Int64(number)),
            target: Target(path: "/v3/links/ping-centre"), payload: payload, source: source)
    }
}
