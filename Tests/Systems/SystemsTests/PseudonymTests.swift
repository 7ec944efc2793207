import JSONText
import Systems
import Telemetry
import TestSupport
import Testing

/// Tests replacing ids by pseudonyms in records of each system.
@Suite struct PseudonymTests {
    private static let key = [UInt8]("a key that is no secret, for tests".utf8)
    private static let captured = SystemTableTests.captured

    private func record(_ captured: SystemTableTests.Captured) throws -> Record {
        let system = try #require(Systems.table[captured.system])
        let route = try UploadRoute(method: system.uploads.method, url: system.uploads.endpoint + captured.path)
        var document = try JSONDocument(Array(captured.body.utf8))
        let source = Source(capture: "anna's phone", path: "a/b.har", store: .harEntry, index: 3)
        let upload = CapturedUpload(route: route, time: Timestamp(milliseconds: 1_583_154_000_417), source: source)
        return try upload.record(by: system.requests, in: &document)
    }

    private func pseudonymizer(_ key: [UInt8] = key, timeUnit: TimeUnit? = nil) throws -> RecordPseudonymizer {
        RecordPseudonymizer(try PseudonymKey(key), knowing: Systems.table, timeUnit: timeUnit)
    }

    private func pseudonym(_ value: String, _ kind: PseudonymClass) throws -> String {
        String(decoding: try PseudonymKey(Self.key).pseudonym(of: Array(value.utf8), kind), as: UTF8.self)
    }

    @Test(
        "Ids, capture and path become pseudonyms. The kind of store, index, time and app are kept.", arguments: captured
    )
    func frame(captured: SystemTableTests.Captured) throws {
        let original = try record(captured)
        var record = original
        var pseudonymizer = try pseudonymizer()
        _ = try pseudonymizer.pseudonymize(&record)
        #expect(record.id == (try pseudonym(original.id, .document)))
        #expect(record.client == (try original.client.map { try pseudonym($0, .client) }))
        #expect(record.source.capture == (try pseudonym("anna's phone", .capture)))
        #expect(record.source.path == (try pseudonym("a/b.har", .path)))
        #expect(record.source.store == original.source.store && record.source.index == original.source.index)
        #expect(record.time == original.time && record.app == original.app && record.type == original.type)
        #expect(record.held.last == .pseudonymized)
        #expect(record.notes.first == "pseudonymized \(pseudonymizer.keyID)")
        // The record is read back, and its target still names the record.
        var document = JSONDocument()
        #expect(try Record(line: Array(record.line.utf8), using: &document) == record)
        #expect(record.contradiction == nil)
        #expect(record.target != nil)
        #expect(record.targetNamesRecord)
    }

    @Test("The client has the same pseudonym in the record and in its payload.", arguments: captured)
    func client(captured: SystemTableTests.Captured) throws {
        var record = try record(captured)
        guard let client = record.client else { return }
        let occurrences = record.text.occurrenceCount(of: "\"\(client)\"")
        var pseudonymizer = try pseudonymizer()
        _ = try pseudonymizer.pseudonymize(&record)
        #expect(occurrences > 0)
        #expect(record.text.occurrenceCount(of: "\"\(try pseudonym(client, .client))\"") == occurrences)
    }

    @Test("Pseudonymizing a record again changes nothing.", arguments: captured) func again(
        captured: SystemTableTests.Captured
    ) throws {
        var record = try record(captured)
        var pseudonymizer = try pseudonymizer()
        _ = try pseudonymizer.pseudonymize(&record)
        let first = record
        let counts = try pseudonymizer.pseudonymize(&record)
        #expect(record == first)
        #expect(counts == PseudonymCounts())
    }

    @Test("A record with pseudonyms of another key is rejected.", arguments: captured) func otherKey(
        captured: SystemTableTests.Captured
    )
        throws
    {
        var record = try record(captured)
        var first = try pseudonymizer()
        var second = try pseudonymizer(Self.key + [0])
        _ = try first.pseudonymize(&record)
        #expect(throws: PseudonymError.otherKey(first.keyID, given: second.keyID)) {
            try second.pseudonymize(&record)
        }
    }

    @Test("A forged mark does not keep values that are not pseudonyms.")
    func forgedMark() throws {
        var record = try record(Self.captured[0])
        var pseudonymizer = try pseudonymizer()
        record.held.append(.pseudonymized)
        record.notes = ["pseudonymized \(pseudonymizer.keyID)", "anna is at home", "C8 of anna"]
        let client = try #require(record.client)
        _ = try pseudonymizer.pseudonymize(&record)
        #expect(record.client == (try pseudonym(client, .client)))
        #expect(record.notes == ["pseudonymized \(pseudonymizer.keyID)", "C8"])
        #expect(!record.line.contains("anna") && !record.line.contains(client))
    }

    @Test("A record with pseudonyms needs both a note and a hold.")
    func marks() throws {
        var record = try record(Self.captured[0])
        record.notes = ["pseudonymized 01234567"]
        #expect(record.contradiction == "noted or held as pseudonymized, not both")
        record.held = [.pseudonymized]
        #expect(record.contradiction == nil)
        record.notes = []
        #expect(record.contradiction == "noted or held as pseudonymized, not both")
    }

    // MARK: Times

    @Test("Times are rounded to the largest unit, which a note states.", arguments: captured)
    func times(captured: SystemTableTests.Captured) throws {
        var record = try record(captured)
        var plain = try pseudonymizer()
        var (hours, days) = (try pseudonymizer(timeUnit: .hour), try pseudonymizer(timeUnit: .day))
        let key = "pseudonymized \(plain.keyID)"
        record.time = Timestamp(rfc3339: "2020-03-02T13:59:59.999Z")
        record.notes = ["times-coarsened day"]
        _ = try plain.pseudonymize(&record)
        #expect(record.notes == [key])
        #expect(record.timeUnit == nil)
        _ = try hours.pseudonymize(&record)
        #expect(record.notes == [key, "times-coarsened hour"])
        #expect(record.time?.description == "2020-03-02T13:00:00.000Z")
        let rounded = record
        // The note is kept if times are not rounded again.
        _ = try plain.pseudonymize(&record)
        #expect(record == rounded)
        _ = try days.pseudonymize(&record)
        #expect(record.notes == [key, "times-coarsened day"])
        #expect(record.time?.description == "2020-03-02T00:00:00.000Z")
        let again = record
        _ = try hours.pseudonymize(&record)
        #expect(record == again)
        #expect(record.timeUnit == .day)
        #expect(record.contradiction == nil)
    }

    @Test("Rounding to days at once or after rounding to hours gives the same record.", arguments: captured)
    func twice(captured: SystemTableTests.Captured) throws {
        var (first, second) = (try record(captured), try record(captured))
        var (hours, days) = (try pseudonymizer(timeUnit: .hour), try pseudonymizer(timeUnit: .day))
        _ = try hours.pseudonymize(&first)
        _ = try days.pseudonymize(&first)
        _ = try days.pseudonymize(&second)
        #expect(first == second)
    }

    // MARK: Notes and holds

    private static let notes: [(note: String, expected: String?)] = [
        ("C8 searches: null removed", "C8"), ("E13 events[3]: offset 3 follows 61240", "E13"),
        ("PE clientId borrowed", "PE"),
        ("E.2 body spelled as x", "E.2"), ("5.1 event: a value", "5.1"), ("no-target path and query", "no-target"),
        ("missing_action@12", "missing_action@12"), ("bad_nested_json:params@3", "bad_nested_json:params@3"),
        ("unproven", "unproven"), ("server answered 503", nil), ("anna was here", nil), ("AB anna", nil),
        ("550e8400-e29b-41d4-a716-446655440000 x", nil), ("anna@example.org x", nil), ("anna_1987 x", nil), ("", nil),
        (" x", nil), ("P12345 x", nil), ("x:y@1 z", nil), ("a-b:12@1", nil), ("bad-code@12345678901", nil),
    ]

    @Test("Only the codes of notes are kept.", arguments: notes.indices) func note(index: Int) throws {
        var record = try record(Self.captured[0])
        record.notes = [Self.notes[index].note]
        var pseudonymizer = try pseudonymizer()
        _ = try pseudonymizer.pseudonymize(&record)
        #expect(Array(record.notes.dropFirst()) == [Self.notes[index].expected].compactMap { $0 })
    }

    @Test("Only the codes and numbers of holds are kept.")
    func holds() throws {
        var record = try record(Self.captured[0])
        record.held = [
            .schema(["searches.anna is no integer"]), .delivered(status: 200), .tooFewEvents,
            Hold("capability", "ohttp"),
            Hold("Anna Smith", "1"),
        ]
        var pseudonymizer = try pseudonymizer()
        _ = try pseudonymizer.pseudonymize(&record)
        #expect(
            record.held.map(\.text) == [
                "schema", "delivered: 200", "too-few-events", "capability", "other: 1", "pseudonymized",
            ])
    }

    // MARK: Targets

    @Test("Ids in paths become pseudonyms, and the rest of the path is kept.")
    func targets() throws {
        let id = "0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B11"
        let document = try pseudonym(id, .document)
        let paths: [(SystemName, String, String?)] = [
            (
                .mozilla, "/submit/telemetry/\(id)/core/WebXR Viewer/1.0/Release/9?v=4",
                "/submit/telemetry/\(document)/core/WebXR Viewer/1.0/Release/9?v=4"
            ),
            (
                .mozilla, "/submit/telemetry/no uuid/anna@example/Focus/1/r/2",
                "/submit/telemetry/\(try pseudonym("no uuid", .document))/\(try pseudonym("anna@example", .type))/Focus/1/r/2"
            ),
            (.mozilla, "/elsewhere/\(id)", nil),
            (.glean, "/submit/org-mozilla-focus/baseline/1/\(id)", "/submit/org-mozilla-focus/baseline/1/\(document)"),
            (
                .sift, "/v3/accounts/4e1a50/mobile_events",
                "/v3/accounts/\(try pseudonym("4e1a50", .account))/mobile_events"
            ),
            (.leanplum, "/api", "/api"), (.leanplum, "/other", nil),
            (.activityStream, "/v3/links/ping-centre", "/v3/links/ping-centre"),
            (.adjust, "/v2/purchase", "/v2/purchase"), (.adjust, "/attribution", nil),
        ]
        for (name, path, expected) in paths {
            var record = try record(Self.captured[0])
            record.system = name
            record.target = Target(path: path, headers: ["X-Debug-ID": "anna"])
            var pseudonymizer = try pseudonymizer()
            _ = try pseudonymizer.pseudonymize(&record)
            #expect(record.target == expected.map { Target(path: $0) }, "\(path)")
        }
    }
}

extension String {
    /// Returns the number of occurrences of a string.
    fileprivate func occurrenceCount(of text: String) -> Int { ranges(of: text).count }
}
