import Foundation
import TestSupport
import Testing

@testable import Files

@Suite struct FolderEntryTests {
    @Test("The names of files are sorted by their bytes, and folders are omitted")
    func fileNames() throws {
        let folder = try TemporaryFolder()
        for name in ["b", "é", "a.json", "Z", "sub/file"] { try folder.put("", name) }
        try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "nowhere")
        #expect(try Folder(path: folder.path).fileNames() == ["Z", "a.json", "b", "link", "é"])
    }

    @Test("A name that is not UTF-8 keeps its bytes")
    func malformedNames() {
        let entry = FolderEntry(name: [0x61, 0xFF], kind: .file, inode: 1)
        #expect(entry.name == [0x61, 0xFF])
        #expect(entry.text == "a\u{FFFD}")
        #expect(!entry.isNamed("a\u{FFFD}"))
        #expect(FolderEntry(name: "client_id.txt".utf8, kind: .file, inode: 1).isNamed("client_id.txt"))
    }

    @Test(
        "Only the complete name is equal",
        arguments: [("client_id.txt", true), ("client_id.tx", false), ("client_id.txt2", false), ("", false)])
    func isNamed(name: String, isEqual: Bool) {
        #expect(FolderEntry(name: name.utf8, kind: .file, inode: 1).isNamed("client_id.txt") == isEqual)
    }
}
