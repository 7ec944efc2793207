import Capture
import Testing

/// Tests that the work per archive does not grow with the number of archives in a capture.
@Suite struct ManyArchivesTests {
    @Test("Entries that are named like members of an archive are reported for each affected archive")
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

    @Test("The container of a folder is searched once for all its stores")
    func containers() async throws {
        let folder = try CaptureFolder()
        for number in 0..<3 { try folder.put("AppDomain-a.b/Documents/deep/\(number).har", "") }
        try folder.put("top.har", "")
        let capture = try await folder.open()
        #expect(capture.stores.map(\.container.path) == ["AppDomain-a.b", "AppDomain-a.b", "AppDomain-a.b", ""])
        #expect(capture.stores.map(\.container.identifier) == ["a.b", "a.b", "a.b", nil])
    }
}
