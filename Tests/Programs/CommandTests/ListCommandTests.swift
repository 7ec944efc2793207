import Foundation
import TestSupport
import Testing

@Suite struct ListCommandTests {
    private let folder: TemporaryFolder
    private let bundle: String

    init() throws {
        folder = try TemporaryFolder()
        bundle = folder("a.tar.zst")
        #expect(try pingferry("bundle", "-q", "-o", bundle, sample("focus"), sample("damaged")).status == 1)
    }

    @Test func jsonHasContentsOfBundle() throws {
        let list = try pingferry("list", "--json", bundle).json()
        let members = try #require(list["members"] as? [[String: Any]])
        let names = try tool("tar", "--zstd", "-tf", bundle).split(separator: "\n").map(String.init)
        #expect(members.compactMap { $0["path"] as? String } == names)
        for member in members {
            let name = try #require(member["path"] as? String)
            let contents = try tool("tar", "--zstd", "-xOf", bundle, name)
            #expect(member["bytes"] as? Int == contents.utf8.count, "\(name)")
        }
        #expect((list["clients"] as? [[String: Any]])?.compactMap { $0["records"] as? Int } == [7, 5])
        #expect((list["quarantined"] as? [Any])?.count == 6)
        #expect((list["problems"] as? [[String: Any]])?.compactMap { $0["code"] as? String } == ["pending-counters"])
        #expect((list["totals"] as? [String: Any])?["held"] as? [String: Int] == ["no-target": 1, "pending-events": 2])
        #expect(list["bundleVersion"] as? Int == 1)
    }

    @Test func quietPrintsNothing() throws {
        let finished = try pingferry("list", "--quiet", bundle)
        #expect(finished.status == 0)
        #expect(finished.output.isEmpty && finished.errors == "")
        #expect(try pingferry("list", "--quiet", "--json", bundle).json()["bundleVersion"] as? Int == 1)
        #expect(try pingferry("list", "--quiet", folder("none")).status == 66)
    }

    @Test func tablesShowAllSections() throws {
        let finished = try pingferry("list", bundle)
        #expect(finished.status == 0)
        #expect(finished.lines.dropFirst(2).first == "12 records (9 uploadable; held: no-target 1, pending-events 2)")
        let titles = finished.lines.filter { !$0.hasPrefix(" ") && $0.hasSuffix(":") }
        #expect(titles == ["inputs:", "members:", "types:", "held:", "clients:", "quarantine:", "problems:"])
        #expect(finished.lines.contains { $0.hasPrefix("  records/000001.ndjson") && $0.hasSuffix("  12") })
    }

    @Test func recordsAreNotRead() throws {
        let other = folder("changed.tar.zst")
        try tool("python3", fixture("repack.py"), bundle, other, "not-canonical")
        #expect(try pingferry("list", other).status == 0)
        #expect(try pingferry("verify", other).status == 65)
    }

    @Test func otherFilesAreRejected() throws {
        let finished = try pingferry("list", "\(repository)/samples/README.md")
        #expect(finished.status == 65)
        #expect(finished.errors == "pingferry: \(repository)/samples/README.md: byte 0: not a bundle (not zstd data)\n")
        #expect(try pingferry("list", sample("focus")).status == 65)
    }

    @Test func recordsAreListedWithIdsAndReasons() throws {
        let finished = try pingferry("list", "--ids", bundle)
        #expect(finished.status == 0)
        let rows = finished.lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
        let records = try pingferry("convert", "-o", "-", bundle).lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(records.count == 12)
        let expected = records.map { record in
            let held = (record["held"] as? [String])?.joined(separator: "; ") ?? ""
            return ["id", "system", "type", "client", "time"].map { record[$0] as? String ?? "-" }
                + [held.isEmpty ? "-" : held]
        }
        #expect(rows == expected)
        #expect(rows.filter { $0.last == "no-target" }.count == 1)
        let ids = try shell(#""$0" list --ids "$1" | grep pending-events | cut -f 1"#, [bundle])
        #expect(ids.lines == expected.filter { $0.last == "pending-events" }.map { $0[0] })
        #expect(ids.lines.count == 2)
    }

    @Test func recordsAreListedAsJSON() throws {
        let list = try pingferry("list", "--json", "--ids", bundle).json()
        let records = try #require(list["records"] as? [[String: Any]])
        let lines = try pingferry("list", "--ids", bundle).lines
        #expect(records.map { $0["id"] as? String } == lines.map { $0.components(separatedBy: "\t")[0] })
        let held = records.compactMap { $0["held"] as? [[String: String]] }.joined()
        #expect(Set(held.compactMap { $0["code"] }) == ["no-target", "pending-events"])
        #expect(held.allSatisfy { $0["text"]?.hasPrefix("the record ") == true })
        #expect(try pingferry("list", "--json", bundle).json()["records"] == nil)
    }

    @Test func severalBundlesAreNamed() throws {
        let other = folder("b.tar.zst")
        #expect(try pingferry("bundle", "-q", "-o", other, sample("webxr")).status == 0)
        let tables = try pingferry("list", bundle, other)
        #expect(tables.lines.filter { $0.hasSuffix(".tar.zst:") } == ["\(bundle):", "\(other):"])
        #expect(tables.lines.filter { $0 == "members:" }.count == 2)
        let ids = try pingferry("list", "--ids", bundle, other).lines
        #expect(ids.filter { $0.hasSuffix("\t\(bundle)") }.count == 12)
        #expect(ids.filter { $0.hasSuffix("\t\(other)") }.count == 6)
        let objects = try pingferry("list", "--json", bundle, other).lines.map {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        #expect(objects.map { $0?["path"] as? String } == [bundle, other])
    }

    @Test func otherBundlesAreListedAfterError() throws {
        let finished = try pingferry("list", "--ids", folder("none"), bundle)
        #expect(finished.status == 66)
        #expect(finished.lines.count == 12)
        #expect(finished.errorLines.count == 1)
    }

    @Test func helpListsHoldCodes() throws {
        let help = try pingferry("list", "--help").text
        for code in ["no-target", "pending-events", "too-few-events", "schema", "unproven"] {
            #expect(help.contains("\n  \(code) "), "\(code)")
        }
    }
}
