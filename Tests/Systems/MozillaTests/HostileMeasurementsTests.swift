import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Tests that any JSON at any position results in a record or a reject, and that normalizing a payload again changes
/// nothing.
@Suite struct HostileMeasurementsTests {
    private static let values = [
        "null", "true", "false", "0", "-0", "1", "-1", "1.5", "1.0", "1e400", "18446744073709551616", #""""#, #""x""#,
        #""12""#, #""nil""#, "[]", "[[]]", "[null]", #"["a.actionbar","b.actionbar","c"]"#,
        "[\(Array(repeating: "1", count: 300).joined(separator: ","))]", "{}", #"{"":null}"#, #"{"a":{"b":[1.0]}}"#,
        #"{"a":true,"actionbar.x":1.0,"x.actionbar":2}"#, #"[[1,"a","b","c"]]"#,
    ]

    private static let keys =
        Set(StoredJSON.coreFields.keys).union(StoredJSON.eventFields.keys).union([
            "fennec", "experiments", "displayVersion", "createdDate", "createdTimestamp", "openTabCount",
            "showTrackerStatsShare", "profileGroupId", "accessibilityServices", "",
        ]).sorted()

    /// Returns whether normalization does not change a payload.
    private func isStable(_ payload: [UInt8], type: String) throws -> Bool {
        var document = try JSONDocument(payload)
        var findings = Findings()
        let root = document.root
        _ = PingNormalizer.normalize(root, type: type, in: &document, findings: &findings)
        return document.canonicalBytes(of: root) == payload
    }

    @Test(
        "Any value in any field is kept or normalized, and is stable afterwards",
        arguments: ["core", "focus-event", "mobile-event", "x"])
    func anyField(type: String) throws {
        for key in Self.keys {
            for value in Self.values {
                for version in ["1", "7"] {
                    let measurements = StoredJSON.measurements(type, ["v": version], [key: value])
                    let extraction = readPingFile(StoredJSON.envelope(type, measurements), in: type)
                    try #require(extraction.records.count == 1 && extraction.rejects.isEmpty, "\(key): \(value)")
                    let record = extraction.records[0]
                    let isConsistent = try isStable(record.payload, type: type) && record.contradiction == nil
                    let isNoted = record.text == measurements || !record.notes.isEmpty
                    guard isConsistent, isNoted else {
                        Issue.record("\(key): \(value) became \(record.text), notes \(record.notes)")
                        continue
                    }
                }
            }
        }
    }

    @Test("Any value at any position of an event is kept or normalized, and is stable afterwards")
    func anyEvent() throws {
        for index in 0..<8 {
            for value in Self.values {
                var parts = ["5", #""a""#, #""b""#, #""c""#, #""v""#, #"{"k":"v"}"#, "7", "8"]
                parts[index] = value
                for count in 0...8 {
                    let event = "[\(parts.prefix(count).joined(separator: ","))]"
                    let changes = ["events": "[\(event),\(event),\(event)]"]
                    let text = StoredJSON.envelope("focus-event", StoredJSON.measurements("focus-event", changes))
                    let record = try #require(readPingFile(text, in: "focus-event").records.first)
                    var file = PendingEventFile(Array(event.utf8))
                    let pending = file.read()
                    guard try isStable(record.payload, type: "focus-event"),
                        pending.events.count + pending.rejects.count <= 8
                    else {
                        Issue.record("\(event) became \(record.text)")
                        continue
                    }
                }
            }
        }
    }

    @Test("Any value in any field of the envelope results in a record or a reject")
    func anyEnvelope() {
        for key in ["documentId", "measurements", "pingType", "timestamp", "uploadPath", "other"] {
            for value in Self.values {
                let text = StoredJSON.envelope("core", StoredJSON.measurements("core"), [key: value])
                for extraction in [readPingFile(text), readPingArray("[\(text)]"), readPingArray(text)] {
                    #expect(extraction.records.count + extraction.rejects.count == 1, "\(key): \(value)")
                }
            }
        }
    }

    @Test("Randomly changed bytes result in records or rejects", arguments: 1...4 as ClosedRange<UInt64>)
    func changedBytes(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let type = seed % 2 == 0 ? "core" : "focus-event"
        let text = Array(StoredJSON.envelope(type, StoredJSON.measurements(type)).utf8)
        let insertedBytes = Array("[]{}\",:0-.eE\\utnf \n\u{7F}".utf8) + [0, 0xC3, 0xFF]
        var records = 0
        for _ in 0..<3000 {
            var changed = text
            for _ in 0...Int.random(in: 0...2, using: &random) {
                let index = Int.random(in: changed.indices, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: changed[index] = insertedBytes[Int.random(in: insertedBytes.indices, using: &random)]
                case 1: changed.remove(at: index)
                default: changed.insert(insertedBytes[Int.random(in: insertedBytes.indices, using: &random)], at: index)
                }
            }
            let extraction = readPingFile(changed, in: type)
            try #require(extraction.records.count + extraction.rejects.count == 1)
            guard let record = extraction.records.first else { continue }
            records += 1
            var line: [UInt8] = []
            record.write(to: &line)
            var document = JSONDocument()
            #expect(try Record(line: Array(line.dropLast()), using: &document) == record)
        }
        #expect(records > 100)
    }
}
