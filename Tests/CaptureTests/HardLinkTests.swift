import Files
import Systems
import TestSupport
import Testing

@testable import Capture

/// Tests of hard links in archives.
@Suite struct HardLinkTests {
    private typealias Member = TestArchive.Member

    private func link(_ name: String, to target: String) -> Member {
        Member(name: name, type: "hardlink", link: target)
    }

    @Test(
        "A hard link has the contents of its target, whether or not the target belongs to a store",
        arguments: ["gnu", "pax"])
    func targets(format: String) async throws {
        let archive = try TestArchive(
            format,
            [
                .ping(1), link("b/\(corePings)/-t-1.json", to: "\(corePings)/-t-1.json"),
                .file("notes.txt", CaptureFolder.ping(3)), link("c/\(corePings)/-t-3.json", to: "notes.txt"),
                link("d/\(corePings)/-t-4.json", to: "/etc/passwd"),
                link("e/\(corePings)/-t-5.json", to: "e/\(corePings)/-t-5.json"),
            ])
        let capture = try await archive.open()
        let found = try await ReadCapture(capture)
        #expect(found.ids == [1, 3].map(CaptureFolder.id))
        #expect(found.duplicates == 1)
        #expect(
            capture.problems.map(\.problem.text) == [
                "hard link to etc/passwd, which is not a file in the archive",
                "hard link to e/\(corePings)/-t-5.json, which is not a file in the archive",
            ])
    }

    @Test("Problems beyond the first thousand are counted")
    func manyProblems() async throws {
        let links = (1...1005).map { link("\(corePings)/-t-\($0).json", to: "missing") }
        let problems = try await TestArchive("gnu", links).open().problems.map(\.problem.text)
        #expect(problems.count == 1001)
        #expect(problems.last == "and 5 more such problems")
    }

    @Test("The target of a hard link can be another hard link")
    func chain() async throws {
        let archive = try TestArchive(
            "gnu",
            [
                .file("notes.txt", CaptureFolder.ping(3)), link("a.txt", to: "notes.txt"), link("b.txt", to: "a.txt"),
                link("\(corePings)/-t-3.json", to: "b.txt"),
            ])
        let capture = try await archive.open()
        #expect(try await ReadCapture(capture).ids == [CaptureFolder.id(3)])
        #expect(capture.problems.isEmpty)
    }

    @Test("A hard link to contents that were not kept is reported if the archive is a stream")
    func stream() throws {
        let members: [Member] = [
            .file("notes.pdf", CaptureFolder.ping(3)), link("\(corePings)/-t-3.json", to: "notes.pdf"),
        ]
        let spooler = ArchiveSpooler(
            ArchiveLocation(label: "capture", path: "capture.tar"), spool: Spool(),
            formats: CaptureFormats.all(Systems.table))
        let found = try spooler.read(.source(ByteSource(try TestArchive("gnu", members).bytes)))
        #expect(
            found.problems.map(\.problem.text) == [
                "hard link to notes.pdf, which was not kept; unpack the archive yourself and give the folder"
            ])
        #expect(found.neededTargets == [Array("notes.pdf".utf8)])
        // The entry would be reported a second time as an unreadable file.
        #expect(try Folder(rootOf: found.tree).folder(at: corePings).entries().isEmpty)
    }

    /// In the format newc, only the last name has contents.
    ///
    /// In the format odc, every name has them.
    @Test("A file with several names in a cpio archive is read under each name", arguments: ["newc", "odc"])
    func cpio(format: String) async throws {
        let folder = try CaptureFolder()
        try folder.put("a.txt", CaptureFolder.ping(1))
        try folder.makeFolder("b/\(corePings)")
        try folder.makeFolder("c/\(corePings)")
        let names = ["b/\(corePings)/-t-1.json", "c/\(corePings)/-t-1.json", "d.txt"]
        for name in names { try tool(["ln", "\(folder.path)/a.txt", "\(folder.path)/\(name)"]) }
        for order in ["sort", "sort -r"] {
            let archive = try TestArchive(
                of: folder.path, named: "a.cpio", "find . -type f | \(order) | bsdcpio -o -H \(format) > \"$0\"")
            let found = try await ReadCapture(archive.open())
            #expect(found.ids == [CaptureFolder.id(1)], "\(order)")
            #expect(found.duplicates == 1)
            #expect(found.problems == [])
        }
    }
}
