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

    @Test func objectForMachinesIsWhatTheBundleHolds() throws {
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
        #expect(list["version"] as? Int == 1)
    }

    @Test func quietShowsNoTables() throws {
        let finished = try pingferry("list", "--quiet", bundle)
        #expect(finished.status == 0)
        #expect(finished.output.isEmpty && finished.errors == "")
        #expect(try pingferry("list", "--quiet", "--json", bundle).json()["version"] as? Int == 1)
        #expect(try pingferry("list", "--quiet", folder("none")).status == 66)
    }

    @Test func tablesNameMembersHoldsClientsQuarantineAndProblems() throws {
        let finished = try pingferry("list", bundle)
        #expect(finished.status == 0)
        #expect(finished.lines.dropFirst(2).first == "12 records (9 uploadable; held: no-target 1, pending-events 2)")
        let titles = finished.lines.filter { !$0.hasPrefix(" ") && $0.hasSuffix(":") }
        #expect(titles == ["members:", "types:", "held:", "clients:", "quarantine:", "problems:"])
        #expect(finished.lines.contains { $0.hasPrefix("  records/000001.ndjson") && $0.hasSuffix("  12") })
    }

    @Test func recordsAreNotRead() throws {
        let other = folder("changed.tar.zst")
        try tool("python3", generator("repack.py"), bundle, other, "not-canonical")
        #expect(try pingferry("list", other).status == 0)
        #expect(try pingferry("verify", other).status == 65)
    }

    @Test func otherFilesAreRefused() throws {
        let finished = try pingferry("list", "\(repository)/samples/README.md")
        #expect(finished.status == 65)
        #expect(finished.errors == "pingferry: \(repository)/samples/README.md: byte 0: not a bundle (not zstd data)\n")
        #expect(try pingferry("list", sample("focus")).status == 65)
    }
}
