import Bytes
import JSONText
import Systems
import Telemetry
import TestSupport
import Testing

/// Tests the header fields of targets.
@Suite struct TargetHeaderTests {
    private static let record = Record(
        system: .probe, type: "hello", id: "1",
        target: Target(path: "/submit/hello/1", headers: ["X-Tag": "test"]), payload: Array("{}".utf8),
        source: Source(capture: "c", path: "p", store: .harEntry, index: 0))

    private func read(_ line: String) throws -> Record {
        var document = JSONDocument()
        return try Record(line: Array(line.utf8), using: &document, knowing: ProbeSystem.table)
    }

    private func line(_ target: Target) -> String {
        var record = Self.record
        record.target = target
        return record.line
    }

    @Test("Header fields are written in canonical order and read back.")
    func roundTrip() throws {
        let line = Self.record.line
        #expect(line.contains(#""target":{"headers":{"X-Tag":"test"},"path":"/submit/hello/1"}"#))
        #expect(try read(line) == Self.record)
        let several = Target(path: "/\"", method: "PUT", headers: ["b": "\n\"", "": "x", "a": "é"])
        #expect(
            self.line(several).contains(
                #""target":{"headers":{"":"x","a":"é","b":"\n\""},"method":"PUT","path":"/\""}"#))
        #expect(try read(self.line(several)).target == several)
    }

    @Test("A target without header fields is written without the key.")
    func none() throws {
        #expect(line(Target(path: "/submit/hello/1")).contains(#""target":{"path":"/submit/hello/1"}"#))
    }

    @Test(
        "A line with other header fields is rejected.",
        arguments: ["{}", "null", "[]", #"{"X-Tag":1}"#, #"{"b":"1","a":"2"}"#, #"{"a":"1","a":"1"}"#, #"{ "a":"1"}"#])
    func refused(headers: String) {
        let line = Self.record.line.replacing(#"{"X-Tag":"test"}"#, with: headers)
        #expect(throws: RecordError.self) { try read(line) }
    }

    @Test(
        "A header field that the system does not permit is a contradiction.",
        arguments: [["x-tag": "test"], ["X-Tag": "a b"], ["X-Tag": ""], ["Host": "a"]])
    func unknown(headers: [CapturedText: String]) throws {
        #expect(Self.record.contradiction(knowing: ProbeSystem.table) == nil)
        let record = try read(line(Target(path: "/submit/hello/1", headers: headers)))
        #expect(record.contradiction(knowing: ProbeSystem.table) == "the target is not in the system's grammar")
    }

    @Test(
        "No built-in system permits header fields.",
        arguments: [
            (SystemName("leanplum"), "/api"), (SystemName("activity-stream"), "/v3/links/ping-centre"),
            (SystemName("sift"), "/v3/accounts/a/mobile_events"),
        ])
    func known(system: SystemName, path: String) {
        #expect(Target(path: path).isKnown(to: system))
        #expect(!Target(path: path, headers: ["X-Debug-ID": "a"]).isKnown(to: system))
    }
}
