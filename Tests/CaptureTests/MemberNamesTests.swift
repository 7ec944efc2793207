import Files
import Systems
import Testing

@testable import Capture

/// Tests of the selection of archive members, and the names of archives.
@Suite struct MemberNamesTests {
    @Test(
        "Members that may belong to stores are recognized by their paths",
        arguments: [
            ("Documents/MozTelemetry-Default-core/-t-1.json", true), ("Documents/MozTelemetry-Default-core/x", true),
            ("a/b.plist", true), ("a/b.sqlite3", false), ("a/.b.json", false), ("a/photo.jpg", false),
            (".com.apple.mobile_container_manager.metadata.plist", true), ("MozTelemetry-Default-core", false),
        ])
    func wanted(path: String, isWanted: Bool) throws {
        let formats = CaptureFormats.all(Systems.table)
        // The result does not depend on the folder of the previous file.
        for before in ["", "Documents/MozTelemetry-Default-core", "Documents", "a"] {
            var folders = MemberNames.FolderNames()
            _ = folders.names(in: Array(before.utf8)[...])
            let isKept = MemberNames.mayBelongToStore(
                try MemberPath(Array(path.utf8)), rootName: "phone", formats, after: &folders)
            #expect(isKept == isWanted)
        }
    }

    @Test(
        "Archives are recognized by their names",
        arguments: [
            ("a.zip", "a"), ("A.ZIP", "A"), ("a.tar.gz", "a"), ("a.b.tgz", "a.b"), ("a.tar.zst", "a"), ("a.7z", "a"),
            ("a.cpio.xz", "a"), ("a.tbz2", "a"), ("a.TZST", "a"), ("a.tar.lz4", "a"), ("a.tlz4", nil), ("a.gz", nil),
            ("zip", nil), ("a.zipper", nil), ("a.json", nil),
        ])
    func archiveNames(name: String, rest: String?) {
        #expect(ArchiveFormat.removingSuffix(from: name.utf8) == rest)
    }
}
