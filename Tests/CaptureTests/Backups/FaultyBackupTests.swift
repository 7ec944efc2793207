import Capture
import Files
import Foundation
import Parallel
import Systems
import TestSupport
import Testing

/// Tests of backups that the generator does not create: links instead of manifests, many faults, and exceeded limits.
@Suite struct FaultyBackupTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Copies a generated backup.
    private func copy(_ name: String) throws -> String {
        try tool("cp", "-R", try BackupCase.named(name).input, folder(name))
        return folder(name)
    }

    private func open(_ path: String, spool: Spool = Spool()) async throws -> CapturedFolder {
        let opening = InputOpener(
            labels: ["x"], systems: Systems.table, limit: JobLimit(jobs: 2), spool: spool)
        guard case .folder(let capture)? = try await opening.open([path]).first else {
            throw BackupCase.MissingCase(name: path)
        }
        return capture
    }

    private func error(_ path: String, spool: Spool = Spool()) async throws -> InputError? {
        do {
            _ = try await open(path, spool: spool)
            return nil
        } catch let error as InputError {
            return error
        }
    }

    @Test("A link instead of a manifest does not make a backup")
    func linkedManifest() async throws {
        let path = try copy("plain-bare")
        try tool("mv", "\(path)/Manifest.db", folder("elsewhere.db"))
        try tool("ln", "-s", folder("elsewhere.db"), "\(path)/Manifest.db")
        let error = try #require(try await error(path))
        guard case .unrecognized = error else { return #expect(Bool(false), "\(error.message)") }
    }

    @Test("A link instead of a log or a journal is not followed", arguments: ["-wal", "-journal"])
    func linkedCompanion(_ suffix: String) async throws {
        let path = try copy("plain")
        try tool("ln", "-s", "/etc/passwd", "\(path)/Manifest.db\(suffix)")
        let error = try #require(try await error(path))
        #expect(error.message == "\(path): B33 Manifest.db\(suffix) is not a regular file")
    }

    @Test(
        "A row with a damaged domain or path is reported",
        arguments: [
            ("plain", "AppDomain-org.mozilla.ios.Focus", "ApqDomain-org.mozilla.ios.Focus"),
            ("plain", "AppDomain-org.mozilla.ios.Focus", "HomeDomain"),
            ("plain", "Documents/eventArray-", "Documents/evenuArray-"),
            ("mbdb", "AppDomain-org.mozilla.ios.Focus", "AppDomaim-org.mozilla.ios.Focus"),
            ("mbdb", "AppDomain-com.example.old", "BppDomain-com.example.old"),
            ("mbdb", "Library/Preferences/com.example.old", "Library/Preferenc~s/com.example.old"),
        ])
    func damagedRows(name: String, from: String, to: String) async throws {
        let path = try copy(name)
        let whole = try await ReadCapture(try await open(path)).records.count
        try tool(
            "python3", "-c",
            """
            import glob, sqlite3, sys
            path, old, new = sys.argv[1:]
            for name in glob.glob(path + "/Manifest.db"):
                con = sqlite3.connect(name)
                con.execute("UPDATE Files SET domain = replace(domain, ?, ?), relativePath = replace(relativePath, ?, ?)", (old, new, old, new))
                con.commit()
            for name in glob.glob(path + "/Manifest.mbdb"):
                with open(name, "rb+") as file:
                    data = file.read()
                    file.seek(0)
                    file.write(data.replace(old.encode(), new.encode()))
            """, path, from, to)
        let capture = try await open(path)
        #expect(capture.isIncomplete)
        #expect(capture.problems.contains { ["B36", "B38", "B44"].contains($0.problem.text.prefix(3)) })
        #expect(try await ReadCapture(capture).records.count < whole)
    }

    @Test("A link instead of a property list counts as missing")
    func linkedList() async throws {
        let path = try copy("plain")
        try tool("mv", "\(path)/Info.plist", folder("Info.plist"))
        try tool("ln", "-s", folder("Info.plist"), "\(path)/Info.plist")
        let facts = try #require(try await open(path).backups.first)
        #expect(facts.productType == "iPhone11,2")
        #expect(facts.lastBackup == "2020-04-20T10:05:00Z")
    }

    @Test("A manifest that exceeds the spool is rejected without copying any of it")
    func spoolLimit() async throws {
        let path = try copy("plain")
        let error = await #expect(throws: FileError.self) { try await open(path, spool: Spool(byteLimit: 1000)) }
        #expect(error?.isOverSpoolLimit == true)
    }

    @Test("A backup is not modified")
    func untouched() async throws {
        let path = try copy("plain-wal")
        let before = try tool("find", path, "-printf", "%p %s %m %T@ %A@ %C@\\n", "-type", "f")
        let found = try await ReadCapture(open(path))
        #expect(found.records.count > 0)
        let after = try tool("find", path, "-printf", "%p %s %m %T@ %A@ %C@\\n", "-type", "f")
        let names = { (text: String) in text.split(separator: "\n").map { $0.split(separator: " ").prefix(4) } }
        #expect(names(before) == names(after))
    }

    @Test("A hundred files are reported individually, and the others by their number")
    func manyFaults() async throws {
        let path = try copy("plain-bare")
        let script = """
            import hashlib, sqlite3, sys
            db = sqlite3.connect(sys.argv[1] + "/Manifest.db")
            for n in range(150):
                domain, path = "AppDomain-com.example.many", "Documents/%d/eventArray-MozTelemetry-Default-core.json" % n
                name = hashlib.sha1((domain + "-" + path).encode()).hexdigest()
                db.execute("INSERT INTO Files VALUES (?, ?, ?, 1, NULL)", (name, domain, path))
            db.commit()
            """
        try tool("python3", "-c", script, path)
        let capture = try await open(path)
        let problems = try await ReadCapture(capture).problems.filter { $0.problem.text.hasPrefix("B28") }
        let texts = Set(problems.map { "\($0.path) \($0.problem.text)" })
        #expect(texts.count == 101)
        #expect(texts.contains(" B28 and 50 more such problems in this backup"))
        #expect(capture.stores.filter { $0.path.hasPrefix("AppDomain-com.example.many") }.count == 100)
    }
}
