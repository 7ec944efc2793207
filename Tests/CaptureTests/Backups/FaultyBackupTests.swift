import DeviceBackup
import Files
import Foundation
import Systems
import TestSupport
import Testing

@testable import Capture

/// Tests of backups without expected results: links instead of manifests, many faults, and exceeded limits.
@Suite struct FaultyBackupTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Copies a backup with expected results.
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

    @Test(
        "A pipe or a folder in the place of a property list is reported and not read",
        arguments: ["Info.plist", "Manifest.plist", "Status.plist"], ["mkfifo", "mkdir"])
    func irregularList(name: String, command: String) async throws {
        let path = try copy("plain")
        let whole = try await open(path)
        let count = try await ReadCapture(whole).records.count
        try tool("rm", "\(path)/\(name)")
        try tool(command, "\(path)/\(name)")
        let capture = try await open(path)
        let problems = capture.problems.filter { $0.path == name }.map(\.problem)
        #expect(problems.map(\.code) == ["special"])
        let text =
            command == "mkfifo"
            ? "B31 not read: a pipe, a socket or a device in the place of a file"
            : "B31 a folder in the place of a property list of a backup"
        #expect(problems.map(\.text) == [text])
        #expect(problems.map(\.isLoss) == [false])
        #expect(capture.problems.count == whole.problems.count + 1)
        #expect(capture.isIncomplete == whole.isIncomplete)
        #expect(capture.backups.count == 1)
        #expect(try await ReadCapture(capture).records.count == count)
    }

    @Test(
        "A pipe or a folder in the place of Manifest.plist explains why an encrypted backup cannot be read",
        arguments: ["mkfifo", "mkdir"])
    func irregularListOfEncryptedBackup(command: String) async throws {
        let path = try copy("encrypted")
        try tool("rm", "\(path)/Manifest.plist")
        try tool(command, "\(path)/Manifest.plist")
        let error = try #require(try await error(path))
        #expect(error.message == "\(path): B33 Manifest.plist is not a regular file")
    }

    @Test("Pipes and folders in the place of all property lists are reported although no backup is recognized")
    func irregularListsOfUnrecognizedBackup() async throws {
        let path = try copy("encrypted")
        for name in ["Info.plist", "Manifest.plist", "Status.plist"] { try tool("rm", "\(path)/\(name)") }
        try tool("mkdir", "\(path)/Info.plist")
        try tool("mkfifo", "\(path)/Manifest.plist")
        try tool("cp", "-R", try BackupCase.named("plain").input, "\(path)/other")
        let problems = try await open(path).problems.filter { $0.problem.code == "special" }
        #expect(problems.map(\.path) == ["Info.plist", "Manifest.plist"])
    }

    /// Moves each file of a backup to its domain and path, as some tools do that decrypt backups.
    private static let unpacking = """
        import os, sqlite3, sys
        root = sys.argv[1]
        rows = sqlite3.connect(root + "/Manifest.db").execute("SELECT fileID, domain, relativePath FROM Files")
        for name, domain, path in rows.fetchall():
            stored = os.path.join(root, name[:2], name)
            if os.path.isfile(stored):
                target = os.path.join(root, domain, path)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                os.rename(stored, target)
        """

    @Test("Files that are stored by domain and path are read")
    func unpackedFiles() async throws {
        let path = try copy("plain")
        let expected = try await ReadCapture(open(path))
        try tool("python3", "-c", Self.unpacking, path)
        try tool("tar", "-C", path, "-cf", folder("unpacked.tar"), ".")
        for input in [path, folder("unpacked.tar")] {
            let found = try await ReadCapture(open(input))
            #expect(!expected.ids.isEmpty && found.ids == expected.ids)
            #expect(!found.problems.contains { $0.problem.text.hasPrefix("B28") })
        }
    }

    @Test("A link in the place of the folder of a domain is not followed")
    func linkedDomain() async throws {
        let path = try copy("plain")
        try tool("python3", "-c", Self.unpacking, path)
        for domain in try FileManager.default.contentsOfDirectory(atPath: path) where domain.hasPrefix("AppDomain") {
            try tool("mv", "\(path)/\(domain)", folder(domain))
            try tool("ln", "-s", folder(domain), "\(path)/\(domain)")
        }
        let found = try await ReadCapture(open(path))
        #expect(found.ids.isEmpty)
        #expect(found.problems.contains { $0.problem.text.hasPrefix("B31") })
    }

    @Test("Rows of unknown kinds without a path are skipped, and other rows without one are reported")
    func rowsWithoutPath() async throws {
        let path = try copy("plain-bare")
        let expected = try await open(path)
        func insert(_ flags: Int) throws {
            let script = """
                import sqlite3, sys
                db = sqlite3.connect(sys.argv[1] + "/Manifest.db")
                db.execute("INSERT INTO Files VALUES (?, NULL, NULL, ?, NULL)", (sys.argv[2] * 40, int(sys.argv[2])))
                db.commit()
                """
            try tool("python3", "-c", script, path, "\(flags)")
        }
        try insert(8)
        let capture = try await open(path)
        #expect(capture.problems == expected.problems)
        try insert(1)
        let texts = try await open(path).problems.map(\.problem.text)
        #expect(texts.contains { $0.hasPrefix("B36") && $0.hasSuffix(": 1, such as /") })
    }

    @Test("Copies of stores with altered names are reported as in a folder")
    func alteredNames() async throws {
        let path = try copy("plain-bare")
        let expected = try await open(path)
        let script = """
            import hashlib, sqlite3, sys
            db = sqlite3.connect(sys.argv[1] + "/Manifest.db")
            row = list(db.execute("SELECT * FROM Files WHERE flags = 1").fetchone())
            for name in sys.argv[2:]:
                row[1:3] = ["AppDomain-org.mozilla.ios.Focus", name]
                row[0] = hashlib.sha1("-".join(row[1:3]).encode()).hexdigest()
                db.execute("INSERT INTO Files VALUES (?, ?, ?, ?, ?)", row)
            db.commit()
            """
        try tool(
            "python3", "-c", script, path, "Documents/AdjustIoPackageQueue (1)", "Documents/ADJUST~1",
            "Documents/MOZTEL~1/-T-1~1.JSO", "Documents/__leanplum.sqlite.old", "Documents/photo.jpg")
        let capture = try await open(path)
        #expect(capture.stores.map(\.path) == expected.stores.map(\.path))
        let added = capture.problems.filter { !expected.problems.contains($0) }
        #expect(added.map(\.path) == ["AppDomain-org.mozilla.ios.Focus/Documents/ADJUST~1"])
        #expect(added.allSatisfy { $0.problem.isLoss && $0.problem.text.contains("(and 3 more files of this kind)") })
    }

    @Test("A backup without its manifest and a backup of iOS 3 are named")
    func withoutManifest() async throws {
        let path = try copy("plain")
        for name in ["Manifest.db", "Manifest.db-wal", "Manifest.db-journal"] {
            try tool("rm", "-f", "\(path)/\(name)")
        }
        #expect(try await error(path)?.message.hasPrefix("\(path): B33 not read: the backup has no manifest") == true)
        try tool("mkdir", folder("old"))
        for suffix in ["mdinfo", "mddata"] {
            try tool("touch", "\(folder("old"))/\(String(repeating: "a", count: 40)).\(suffix)")
        }
        #expect(try await error(folder("old"))?.message.contains("a backup of iOS 3 or older") == true)
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

    @Test("A manifest whose write-ahead log is missing is reported if files have no row", arguments: [true, false])
    func missingLog(hasUnlistedFiles: Bool) async throws {
        let path = try copy("plain-wal")
        if !hasUnlistedFiles {
            let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA wal_checkpoint(TRUNCATE)')"
            try tool("python3", "-c", script, "\(path)/Manifest.db")
        }
        try tool("rm", "-f", "\(path)/Manifest.db-wal")
        let capture = try await open(path)
        let words = "B34 the manifest seems to lack its last changes, because Manifest.db-wal is missing"
        #expect(capture.problems.filter { $0.problem.text.hasPrefix(words) }.count == (hasUnlistedFiles ? 1 : 0))
        #expect(capture.isIncomplete == hasUnlistedFiles)
    }

    @Test("The inventory of a backup counts the rows beyond its limit")
    func inventoryLimit() throws {
        var inventory = BackupInventory(limit: 2)
        for (domain, path) in [
            ("a", "x"), ("b", "Library/io.sentry"), ("c", "x"), ("b", "y"), ("c", "Library/io.sentry"),
            ("a", "Library/io.sentry"), ("a", "Library/Caches/io.sentry"),
        ] {
            let name = "AppDomain-com.example.\(domain)"
            let row = ManifestRow(
                domain: Array(name.utf8), path: Array(path.utf8), fileID: nil, flags: 2, file: .archive(nil))
            inventory.add(row, in: try #require(BackupDomain(name: name)))
        }
        #expect(inventory.domains.count == 2)
        #expect(inventory.otherQueues.count == 2)
        // Two rows of the third container, and the third queue.
        #expect(inventory.omittedRowCount == 3)
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

    @Test("Of the rows that name the same file by a wrong name, only the first is read")
    func manyRowsOfOneFile() async throws {
        let path = try copy("plain-bare")
        let script = """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1] + "/Manifest.db")
            db.execute("ALTER TABLE Files RENAME TO Unique_Files")
            db.execute("CREATE TABLE Files (fileID TEXT, domain TEXT, relativePath TEXT, flags INTEGER, file BLOB)")
            db.execute("INSERT INTO Files SELECT * FROM Unique_Files")
            db.execute("DROP TABLE Unique_Files")
            name, = db.execute("SELECT fileID FROM Files WHERE relativePath LIKE 'Documents/eventArray-%'").fetchone()
            for n in range(150):
                path = "Documents/%d/eventArray-MozTelemetry-Default-core.json" % n
                db.execute("INSERT INTO Files VALUES (?, 'AppDomain-com.example.many', ?, 1, NULL)", (name, path))
            db.commit()
            """
        let whole = try await open(path)
        try tool("python3", "-c", script, path)
        let capture = try await open(path)
        let store = "Documents/0/eventArray-MozTelemetry-Default-core.json"
        #expect(capture.stores.count == whole.stores.count + 1)
        #expect(
            capture.stores.map(\.path).filter { $0.hasPrefix("AppDomain-com.example.many") }
                == ["AppDomain-com.example.many/\(store)"])
        let texts = capture.problems.map(\.problem.text).filter { $0.hasPrefix("B38") }
        #expect(texts.count == 2)
        let omitted = "are not read: 149, such as AppDomain-com.example.many/Documents/1/eventArray-"
        #expect(texts.filter { $0.contains(omitted) }.count == 1)
    }

    @Test("Rows that share overflow pages are read only up to the limit for the size of the manifest")
    func sharedPages() async throws {
        try folder.makeFolder("shared")
        // The cell of a row contains 489 bytes of the row and the number of its first overflow page. The script repeats
        // the cell, so that all rows have the same 4 MiB.
        let script = """
            import sqlite3, struct, sys
            path = sys.argv[1] + "/Manifest.db"
            db = sqlite3.connect(path)
            db.execute("PRAGMA page_size = 4096")
            db.execute("CREATE TABLE Files (fileID TEXT, domain TEXT, relativePath TEXT, flags INTEGER, file BLOB)")
            size = 489 + 1025 * 4092 - 61
            db.execute("INSERT INTO Files VALUES (?, 'AppDomain-x', 'y', 1, zeroblob(?))", ("a" * 40, size))
            db.commit()
            page, = db.execute("SELECT rootpage FROM sqlite_schema").fetchone()
            db.close()
            with open(path, "rb+") as file:
                file.seek((page - 1) * 4096)
                leaf = bytearray(file.read(4096))
                start, = struct.unpack(">H", leaf[5:7])
                cell = leaf[start:]
                assert len(cell) == 498 and leaf[3:5] == bytes([0, 1])
                for n in range(8):
                    start = 4096 - len(cell) * (n + 1)
                    leaf[start:start + len(cell)] = cell[:4] + bytes([n + 1]) + cell[5:]
                    leaf[8 + 2 * n:10 + 2 * n] = struct.pack(">H", start)
                leaf[3:7] = struct.pack(">HH", 8, start)
                file.seek((page - 1) * 4096)
                file.write(leaf)
            """
        try tool("python3", "-c", script, folder("shared"))
        let capture = try await open(folder("shared"))
        #expect(capture.isIncomplete)
        // Six rows have 24 MiB, which is twice the size of the manifest and 16 MiB.
        #expect(
            capture.problems.map(\.problem.text).filter { $0.hasPrefix("B34") }
                == ["B34 the manifest is damaged after 6 rows: its rows share pages"])
    }
}
