import Capture
import Files
import JSONText
import Telemetry
import Testing

/// Compares every Leanplum case with its oracle, which does not read stores.
@Suite struct LeanplumOracleTests {
    @Test("A store yields the results that its oracle lists", arguments: try LeanplumCase.all)
    func matches(fixture: LeanplumCase) async throws {
        let oracle = try fixture.oracle()
        let found = try await ReadCapture(path: fixture.path)
        #expect(found.reasonCodes == oracle.rejects)
        if oracle.salvageable == 0 { #expect(found.records.count == oracle.records.count) }
        for (index, (record, expected)) in zip(found.records, oracle.records).enumerated() {
            try check(record, expected, index)
        }
        #expect(found.quarantined.allSatisfy { $0.isStored })
    }

    private func check(_ record: Record, _ expected: [String: String], _ index: Int) throws {
        var line: [UInt8] = []
        record.write(to: &line)
        let document = try JSONDocument(line)
        for key in ["client", "id", "notes", "payload", "system", "target", "time", "type"] {
            #expect(Oracle.text(of: key, in: document) == expected[key], "record \(index), \(key)")
        }
        let source = "{\"index\":\(record.source.index),\"path\":\"\(record.source.path)\",\"store\":"
        #expect("\(source)\"\(record.source.store.description)\"}" == expected["source"], "record \(index), source")
        #expect(record.app.map { Oracle.text(of: $0) } ?? "null" == expected["app"], "record \(index), app")
        #expect(record.held.isEmpty)
        #expect(record.contradiction == nil)
    }

    @Test func allCasesAreThere() throws {
        #expect(try LeanplumCase.all.count == 33)
    }

    @Test func rowsAfterADamagedPageAreRead() async throws {
        let fixture = try LeanplumCase.named("sqlite-corrupt-page")
        let oracle = try fixture.oracle()
        let found = try await ReadCapture(path: fixture.path)
        let requests = try found.records.flatMap { try $0.requests }
        #expect(oracle.salvageable > 0)
        #expect(Array(requests.prefix(oracle.requests.count)) == oracle.requests)
        #expect(requests.count == oracle.requests.count + oracle.salvageable)
        #expect(Set(requests).count == requests.count)
        #expect(found.records.filter { $0.notes.contains { $0.hasPrefix("corrupt rows of rowid") } }.count == 1)
    }

    @Test(
        "The application id is taken from the file or from a key",
        arguments: ["plist-documents", "plist-caches", "plist-xml", "userdefaults"])
    func applicationID(name: String) async throws {
        let found = try await ReadCapture(path: try LeanplumCase.named(name).path)
        #expect(found.records.map(\.app?.id) == ["app_FIXTURE0000000000000000000000000000000000"])
    }

    @Test func aFileWithoutApplicationIDInItsNameYieldsNone() async throws {
        let found = try await ReadCapture(path: try LeanplumCase.named("plist-null-appid").path)
        #expect(found.records.map(\.app?.id) == [nil])
    }

    @Test func aMissingItemIsReported() async throws {
        let found = try await ReadCapture(path: try LeanplumCase.named("userdefaults").path)
        #expect(found.problems.map(\.problem) == [Problem("missing_item", "item 3 counted, but not there")])
    }

    @Test func otherSchemaObjectsAreReportedAndIgnored() async throws {
        let found = try await ReadCapture(path: try LeanplumCase.named("hostile-triggers").path)
        #expect(found.problemCodes == ["Documents/__leanplum.sqlite schema-objects"])
    }
}
