import Capture
import Files
import Glean
import JSONText
import Telemetry
import Testing

/// Compares every Glean case with its oracle, which is computed without decoding stores, so that it is
/// independent of the code under test.
@Suite struct GleanOracleTests {
    @Test("A capture yields the results that its oracle lists", arguments: try GleanFixtures.cases)
    func matches(fixture: FixtureCase) async throws {
        let oracle = try Oracle(fixture)
        let found = try await ReadCapture(path: fixture.path)
        #expect(found.records.count == oracle.records.count)
        for (index, (record, expected)) in zip(found.records, oracle.records).enumerated() {
            var line: [UInt8] = []
            record.write(to: &line)
            let document = try JSONDocument(line, policy: JSONReadingPolicy(depthLimit: 513))
            for (key, text) in expected.texts {
                #expect(Oracle.text(of: key, in: document) == text, "record \(index), \(key)")
            }
            #expect(Oracle.text(of: "app", in: document) == expected.app, "record \(index), app")
            #expect(record.held.map(\.code) == expected.held, "record \(index), held")
            #expect(Set(record.notes.map(\.code)) == Set(expected.notes), "record \(index), notes \(record.notes)")
            #expect(record.contradiction == nil, "record \(index)")
        }
        #expect(found.duplicates == oracle.duplicates)
        #expect(found.problems.map { "\($0.path) \($0.problem.code)" }.sorted() == oracle.problems.sorted())
    }

    @Test("The quarantine contains the spans that the oracle lists", arguments: try GleanFixtures.cases)
    func quarantine(fixture: FixtureCase) async throws {
        try await Oracle.checkQuarantine(of: fixture)
    }

    @Test(
        "One job yields the same bytes as several jobs",
        arguments: ["gen-d", "phone", "g51-bad-lines", "g59-deletion-request"])
    func jobs(name: String) async throws {
        let path = try GleanFixtures.named(name).path
        let one = try await ReadCapture(path: path, jobs: 1)
        let many = try await ReadCapture(path: path, jobs: 8)
        #expect(one.lines.count > 0)
        #expect(one.lines == many.lines && one.quarantined == many.quarantined && one.problems == many.problems)
    }
}

/// Tests of the folders that are recognized as Glean data directories.
@Suite struct GleanDiscoveryTests {
    private static let id = "0b9c7a5e-6d21-4f7b-8f0c-3e1d2a4b5c60"
    private static let ping =
        "/submit/org-mozilla-ios-focus/onboarding-opt-out/1/\(id)\n{}\n{\"body_has_info_sections\":false}"
    private static let event = #"{"timestamp":1,"category":"a","name":"b"}"#

    private func stores(_ files: [String: String]) async throws -> [String] {
        let folder = try CaptureFolder()
        for (name, text) in files { try folder.put(name, text) }
        return try await folder.open().stores.filter { $0.store.system == .glean }.map(\.path)
    }

    @Test(
        "A data directory is recognized by its contents, regardless of its name",
        arguments: [
            "pending_pings/\(id)", "deletion_request/\(id)", "client_id.txt", "db/data.safe.bin", "db/data.mdb",
            "db/glean.sqlite",
        ])
    func recognizedContents(name: String) async throws {
        #expect(try await stores(["Documents/any name/\(name)": Self.ping]) == ["Documents/any name"])
    }

    @Test("A database of another library in the same format does not make a data directory")
    func otherDatabases() async throws {
        func number(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) } }
        func file(_ names: [String]) -> [UInt8] {
            names.reduce(into: number(names.count, 8)) { file, name in
                file += [1]
                file += number(name.utf8.count, 8)
                file += name.utf8
                file += number(0, 12)
            }
        }
        let folder = try CaptureFolder()
        let nimbus = ["experiments", "enrollments", "meta", "updates", "event_counts"]
        try folder.put("Library/nimbus.db/db/data.safe.bin", file(nimbus))
        try folder.put("Library/other/db/data.safe.bin", file(["app", "ping", "user"]))
        try folder.put("Library/glean_data/db/data.safe.bin", file(nimbus))
        let found = try await folder.open().stores.filter { $0.store.system == .glean }.map(\.path)
        #expect(found == ["Library/glean_data", "Library/other"])
    }

    @Test("A data directory with the usual name is recognized without other evidence")
    func usualName() async throws {
        #expect(try await stores(["glean_data/events/events": Self.event]) == ["glean_data"])
    }

    @Test(
        "Folders with the same names elsewhere are ignored",
        arguments: ["Documents/party/events/events", "tmp/\(id)", "Documents/db/other.sqlite", "db/data.safe.bin.bak"])
    func foldersElsewhere(name: String) async throws {
        #expect(try await stores([name: Self.event]) == [])
    }

    @Test("A ping folder that is given as an input is a store", arguments: ["pending_pings", "deletion_request"])
    func pingFolder(name: String) async throws {
        let folder = try CaptureFolder()
        try folder.put("\(name)/\(Self.id)", Self.ping)
        let capture = try await CapturedFolder(path: "\(folder.path)/\(name)", label: name)
        let found = try await ReadCapture(capture)
        #expect(found.records.map(\.source.path) == [Self.id])
        #expect(found.records.map(\.type) == ["onboarding-opt-out"])
    }

    @Test("Folders inside a ping folder are reported and not searched [G19]")
    func foldersAmongPings() async throws {
        let folder = try CaptureFolder()
        try folder.put("pending_pings/\(Self.id)", Self.ping)
        try folder.put("pending_pings/odd/\(corePings)/-t-1.json", CaptureFolder.ping(1))
        let capture = try await CapturedFolder(path: "\(folder.path)/pending_pings", label: "c")
        #expect(capture.problems.map { "\($0.path) \($0.problem.code)" } == ["odd G19"])
        #expect(try await ReadCapture(capture).records.map(\.system) == [.glean])
    }

    @Test(
        "A single file is recognized by its folder or by its first line",
        arguments: [
            ("glean_data/pending_pings/\(id)", ping, "glean-ping-file"),
            ("glean_data/tmp/\(id)", ping, "glean-ping-file"),
            ("glean_data/events/onboarding", event, "glean-pending-events"), ("copies/ping", ping, "glean-ping-file"),
        ])
    func singleFile(name: String, text: String, kind: String) async throws {
        let folder = try CaptureFolder()
        try folder.put(name, text)
        let capture = try #require(try CapturedFolder(file: "\(folder.path)/\(name)", label: "file"))
        let found = try await ReadCapture(capture)
        #expect(found.records.map(\.source.store.description) == [kind])
        #expect(found.records.map(\.source.path) == [String(name.split(separator: "/").last ?? "")])
    }

    @Test(
        "A damaged database is a loss, and the app does not make pings of it",
        arguments: [
            ([], "empty file"), (Array(repeating: 0, count: 300), "only zero bytes"),
            ([1, 0, 0, 0, 0, 0, 0, 0, 1], "truncated or overwritten"), (Array(repeating: 0, count: 8), nil),
            (Array(repeating: 0xFF, count: 9), "truncated or overwritten"),
            (Array("SQLite".utf8), "truncated or overwritten"),
        ] as [([UInt8], String?)])
    func damagedDatabase(bytes: [UInt8], fault: String?) async throws {
        let folder = try CaptureFolder()
        try folder.put("glean_data/pending_pings/\(Self.id)", Self.ping)
        try folder.put("glean_data/db/data.safe.bin", bytes)
        let opened = try await folder.open()
        #expect(
            opened.problems.map { "\($0.path) \($0.problem.text)" }
                == (fault.map { ["glean_data/db/data.safe.bin the database cannot be read: \($0)"] } ?? []))
        #expect(opened.problems.allSatisfy { $0.problem.isLoss })
        #expect(try await ReadCapture(opened).records.count == 1)
    }

    @Test("A database that alone identifies a data directory can belong to another library")
    func foreignDatabase() async throws {
        let folder = try CaptureFolder()
        try folder.put("library/db/data.safe.bin", Array(repeating: 0xFF, count: 9))
        try folder.put("app/db/data.safe.bin", [1, 0, 0, 0, 0, 0, 0, 0, 1])
        #expect(
            try await folder.open().problems.map(\.path) == ["app/db/data.safe.bin"])
    }

    @Test("A single unfinished ping is held")
    func unfinished() async throws {
        let folder = try CaptureFolder()
        try folder.put("glean_data/tmp/\(Self.id)", Self.ping)
        let capture = try #require(try CapturedFolder(file: "\(folder.path)/glean_data/tmp/\(Self.id)", label: "file"))
        #expect(try await ReadCapture(capture).records.map { $0.held.map(\.code) } == [["incomplete"]])
    }

    @Test("Links instead of a data directory, a folder in it, or an enclosing folder are reported")
    func links() async throws {
        let folder = try CaptureFolder()
        try folder.put("elsewhere/x", "")
        try folder.put("glean_data/pending_pings/\(Self.id)", Self.ping)
        try folder.link("glean_data/events", to: "../elsewhere")
        try folder.link("Documents", to: "elsewhere")
        try folder.put("Library/y", "")
        try folder.link("Library/glean_data", to: "../elsewhere")
        let problems = try await folder.open().problems.map { "\($0.path) \($0.problem.code)" }
        #expect(problems == ["Documents link", "Library/glean_data link", "glean_data/events link"])
    }

    @Test("Stores of telemetry-ios and Glean in one container are both read")
    func sideBySide() async throws {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.put("Library/Application Support/glean_data/pending_pings/\(Self.id)", Self.ping)
        let found = try await ReadCapture(folder.open())
        #expect(found.records.map(\.system.description).sorted() == ["glean", "mozilla"])
    }
}
