import Foundation
import TestSupport
import Testing

/// Tests of reports of records without a time that filters reject, and of conditions that no record meets.
@Suite struct FilterTests {
    private let folder: TemporaryFolder
    private let log: String

    init() throws {
        folder = try TemporaryFolder()
        // Two of the three records have no time.
        let lines = try pingferry("convert", "-o", "-", sample("focus")).lines.prefix(3).enumerated().map {
            index, line in
            index == 0 ? line : try Self.withoutTime(line)
        }
        log = try folder.put(lines.joined(separator: "\n") + "\n", "records.ndjson")
    }

    private static func withoutTime(_ line: String) throws -> String {
        line.replacing(#/"time":"[^"]*"/#, with: #""time":null"#)
    }

    private func runs(_ filters: [String]) throws -> [FinishedProgram] {
        try [
            ["scan"], ["convert", "--force", "-o", folder("out.ndjson")],
            ["bundle", "--force", "-o", folder("out.tar.zst")],
        ]
        .map { try shell(#""$0" "$@""#, $0 + ["--json", log] + filters) }
    }

    private struct Filters: Decodable {
        struct Unmatched: Decodable, Equatable {
            let filter: String
            let value: String
        }
        let unmatched: [Unmatched]
        let withoutTime: Int
    }

    private func filters(_ finished: FinishedProgram) throws -> Filters {
        struct Summary: Decodable { let filters: Filters }
        return try JSONDecoder().decode(Summary.self, from: finished.output).filters
    }

    @Test("Records without a time are counted")
    func withoutTime() throws {
        for finished in try runs(["--since", "2000-01-01"]) {
            #expect(finished.status == 0)
            let line = "pingferry: 2 records without a time were omitted because --since and --until require one"
            #expect(finished.errorLines == [line])
            #expect(try filters(finished).withoutTime == 2)
            #expect((try finished.json()["totals"] as? [String: Any])?["records"] as? Int == 1)
        }
        for finished in try runs([]) {
            #expect(finished.errors == "")
            #expect(try filters(finished).withoutTime == 0)
            #expect(try filters(finished).unmatched == [])
        }
    }

    @Test("A condition that no record meets is reported")
    func unmatchedConditions() throws {
        let filters = [
            "--type", "nosuch", "--type", "core", "--client", "xyz", "--system", "sift", "--until", "2000-01-01",
        ]
        for finished in try runs(filters) {
            #expect(finished.status == 0)
            #expect(
                finished.errorLines == [
                    "pingferry: no record matches --client xyz", "pingferry: no record matches --system sift",
                    "pingferry: no record matches --type nosuch",
                ])
            #expect(
                try self.filters(finished).unmatched == [
                    .init(filter: "client", value: "xyz"), .init(filter: "system", value: "sift"),
                    .init(filter: "type", value: "nosuch"),
                ])
        }
    }

    @Test("A bundle is filtered like a capture")
    func bundles() throws {
        #expect(try pingferry("bundle", "-q", "-o", folder("a.tar.zst"), log).status == 0)
        for options in [[], ["--salvage"]] {
            let words = ["scan", "--since", "2000-01-01", "--type", "corr", "--type", "core", folder("a.tar.zst")]
            let finished = try shell(#""$0" "$@""#, words + options)
            #expect(
                finished.errorLines == [
                    "pingferry: no record matches --type corr",
                    "pingferry: 2 records without a time were omitted because --since and --until require one",
                ])
        }
    }

    @Test("A scan identifies the app even if its records are filtered out")
    func appOfFilteredScan() throws {
        let all = try pingferry("scan", "--json", sample("focus")).json()["stores"] as? [[String: Any]]
        let none = try pingferry("scan", "--json", "--since", "2099-01-01", sample("focus")).json()["stores"]
        let apps = { (stores: [[String: Any]]?) in stores?.map { ($0["app"] as? [String: String]) ?? [:] } }
        #expect(apps(none as? [[String: Any]]) == apps(all))
        #expect(apps(all)?.first == ["id": "org.mozilla.ios.Focus", "name": "Focus", "version": "8.1.3"])
        #expect((none as? [[String: Any]])?.map { $0["records"] as? Int } == [0, 0, 0, 0])
    }
}
