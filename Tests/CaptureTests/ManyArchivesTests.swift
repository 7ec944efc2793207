import Files
import Parallel
import Testing

@testable import Capture

/// Captures with archives in tens of thousands: what is done for each must not grow with their number.
@Suite struct ManyArchivesTests {
    @Test("a place among sorted things is found in as many steps as they can be halved")
    func steps() {
        for count in [0, 1, 2, 3, 1000, 100_000] {
            for place in Set([0, count / 3, count - 1, count]) where place >= 0 {
                var steps = 0
                let found = (0..<count).firstSorted { number in
                    steps += 1
                    return number >= place
                }
                #expect(found == place)
                #expect(steps <= 18)
            }
        }
    }

    @Test("a path leads into the archive whose name it goes on from, whatever stands beside it")
    func parts() throws {
        let names = ["a.zip", "a b.zip", "a.zip0", "b/a.zip", "b.zip", "a.zi"]
        let folder = try CaptureFolder()
        var tree = CaptureTree(TreeFolder(try Folder(path: folder.path)))
        let members = SpooledTree(
            name: "x", folders: [FolderEntries()], files: [], spool: try SpoolFile(in: folder.path))
        for prefix in names.map({ $0 + "!" }).sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            let part = tree.add(members, prefix: prefix)
            #expect(part.parts.map(\.prefix) == [prefix])
        }
        for name in names {
            #expect(tree.part(of: name + "!")?.prefix == name + "!")
            #expect(tree.part(of: name + "!x/y!z")?.prefix == name + "!")
            #expect(tree.part(of: name) == nil || tree.part(of: name)?.prefix != name + "!")
            #expect(tree.base(of: name + "!") == name + "!")
            #expect(tree.base(of: name + "!x") == name + "!x/")
        }
        #expect(tree.part(of: "a") == nil)
        #expect(tree.part(of: "c.zip!") == nil)
        #expect(tree.part(of: "")?.prefix == nil)
    }

    @Test("neighbours that are called like members are told of each archive that has any")
    func ambiguous() async throws {
        let folder = try CaptureFolder()
        let archive = try TestArchive("zip", [.ping(1)]).bytes
        for name in ["a.zip", "b.zip", "c.zip"] { try folder.put(name, archive) }
        for name in ["a.zip!x", "b.zip 2!", "!", "c.zi!"] { try folder.put(name, "x") }
        try folder.makeFolder("c.zip!")
        let capture = try await folder.open()
        #expect(capture.problems.map(\.path) == ["a.zip", "c.zip"])
        #expect(capture.stores.map(\.path) == ["b.zip!\(corePings)"])
    }

    @Test("results are taken in order from a queue that fills and empties")
    func orderedTasks() async throws {
        var tasks = OrderedTasks<Int>(limit: JobLimit(jobs: 2))
        var taken: [Int] = []
        for number in 0..<300 {
            tasks.add { number }
            #expect(tasks.count <= 8)
            while tasks.count > 7 || (number % 50 == 49 && tasks.count > 0) {
                if let result = try await tasks.next() { taken.append(result) }
            }
        }
        #expect(try await tasks.next() == nil)
        #expect(taken == Array(0..<300))
    }

    @Test("stores of one folder are asked once for their container")
    func containers() async throws {
        let folder = try CaptureFolder()
        for number in 0..<3 { try folder.put("AppDomain-a.b/Documents/deep/\(number).har", "") }
        try folder.put("top.har", "")
        let capture = try await folder.open()
        #expect(capture.stores.map(\.container.path) == ["AppDomain-a.b", "AppDomain-a.b", "AppDomain-a.b", ""])
        #expect(capture.stores.map(\.container.identifier) == ["a.b", "a.b", "a.b", nil])
    }
}
