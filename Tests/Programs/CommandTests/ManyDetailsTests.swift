import Foundation
import TestSupport
import Testing

/// Tests of captures in which almost nothing can be parsed.
@Suite struct ManyDetailsTests {
    private static let count = 30_000
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.put((0..<Self.count).map { "{\"junk\":\($0)}\n" }.joined(), "junk.ndjson")
    }

    @Test func bundleHasAllDetailsAndCanBeRead() throws {
        let bundle = folder("a.tar.zst")
        let finished = try pingferry("bundle", "--json", "-o", bundle, folder("junk.ndjson"))
        #expect(finished.status == 1)
        let summary = try finished.json()
        #expect((summary["quarantined"] as? [Any])?.count == 1000)
        #expect((summary["quarantineCounts"] as? [String: Int])?.values.reduce(0, +) == Self.count)
        #expect(finished.errorLines.last == "pingferry: and \(Self.count - 20) more")
        #expect(try tool("tar", "--zstd", "-tf", bundle).contains("\nquarantine.000002.ndjson\n"))
        #expect(try pingferry("verify", bundle).status == 0)
        let list = try pingferry("list", "--json", bundle)
        #expect((try list.json()["quarantined"] as? [Any])?.count == Self.count)
        let tables = try pingferry("list", bundle)
        #expect(tables.lines.contains("  and \(Self.count - 1000) more; --json lists all"))
        #expect(try pingferry("bundle", "-q", "-o", folder("b.tar.zst"), bundle).status == 0)
        let digest = try pingferry("verify", folder("b.tar.zst")).lines.last
        let expected = try #require(try list.json()["digest"] as? String)
        #expect(digest == "digest \(expected)")
        #expect(folder.names == ["a.tar.zst", "b.tar.zst", "junk.ndjson"])
    }

    @Test func scanCountsAllAndListsFirst() throws {
        let summary = try pingferry("scan", "--json", folder("junk.ndjson")).json()
        let store = try #require((summary["stores"] as? [[String: Any]])?.first)
        #expect((store["quarantined"] as? [Any])?.count == 1000)
        #expect(store["quarantineCount"] as? Int == Self.count)
        #expect((summary["quarantined"] as? [Any])?.count == 1000)
        #expect(try pingferry("scan", folder("junk.ndjson")).text.contains("\(Self.count) quarantined"))
    }
}
