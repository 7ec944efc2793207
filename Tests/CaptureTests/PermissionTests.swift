import Foundation
import JSONText
import Mozilla
import TestSupport
import Testing

/// Tests of files without read permission.
///
/// The program runs as an unprivileged user, because root may read every file.
@Suite struct PermissionTests {
    private static let isRoot = getuid() == 0
    private static let canRun = !isRoot || access("/usr/bin/setpriv", X_OK) == 0

    /// Runs `pingferry scan` without privileges, and returns the number of records and the problems as path and code.
    private func scan(_ folder: CaptureFolder) throws -> (records: Int, problems: [String]) {
        let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        let words = (Self.isRoot ? user : []) + [builtProgram("pingferry"), "scan", "--json", folder.path]
        let fields = try JSONFields(Array(try tool(words, statuses: [1])))
        #expect(fields.boolean("complete") == false)
        let records = try #require(fields.objects("stores")).reduce(0) { $0 + ($1.integer("records") ?? 0) }
        let problems = try #require(fields.objects("problems")).map { problem in
            "\(problem.text("path") ?? "") \(problem.text("code") ?? "")"
        }
        return (records, problems)
    }

    @Test("A folder that cannot be listed is reported, and the others are read", .enabled(if: canRun, "needs setpriv"))
    func unreadableFolder() throws {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.put("Library/Caches/MozTelemetry-Default-core/-t-2.json", CaptureFolder.ping(2))
        try folder.makeFolder("Documents/empty")
        for name in ["Library", "Documents/empty"] { #expect(chmod("\(folder.path)/\(name)", 0) == 0) }
        defer { chmod("\(folder.path)/Library", 0o755) }
        let found = try scan(folder)
        #expect(found.records == 1)
        #expect(found.problems == ["Documents/empty unreadable", "Library unreadable"])
    }

    @Test(
        "A backup whose manifest cannot be read is reported, and the others are read",
        .enabled(if: canRun, "needs setpriv"))
    func unreadableManifest() throws {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        for name in ["new/Manifest.db", "old/Manifest.mbdb", "listed/Manifest.plist"] {
            try folder.put(name, "x")
            #expect(chmod("\(folder.path)/\(name)", 0) == 0)
        }
        try folder.put("listed/Manifest.db", "x")
        let found = try scan(folder)
        #expect(found.records == 1)
        #expect(found.problems == ["listed unreadable", "new unreadable", "old unreadable"])
    }

    @Test("Files that cannot be read are reported, and the others are read", .enabled(if: canRun, "needs setpriv"))
    func unreadableFiles() throws {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        let unreadable = [
            "Documents/App-core.json", "\(corePings)/-t-2.json", "Documents/MozTelemetry-Default-focus-event.json",
            "Documents/eventArray-MozTelemetry-Default-focus-event.json",
            "Library/Preferences/org.mozilla.ios.Focus.plist", ".com.apple.mobile_container_manager.metadata.plist",
        ]
        for name in unreadable + ["Documents/notes.txt"] {
            try folder.put(name, CaptureFolder.ping(2))
            #expect(chmod("\(folder.path)/\(name)", 0) == 0)
        }
        let found = try scan(folder)
        #expect(found.records == 1)
        #expect(found.problems.sorted() == unreadable.map { "\($0) unreadable" }.sorted())
    }
}
