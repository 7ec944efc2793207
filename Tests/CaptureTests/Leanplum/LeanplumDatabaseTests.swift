import Bundle
import Capture
import Files
import Foundation
import Leanplum
import Telemetry
import TestSupport
import Testing

/// Tests of databases in the states that SQLite leaves them in, and hostile ones.
@Suite struct LeanplumDatabaseTests {
    private let capture: CaptureFolder
    private static let path = "Documents/__leanplum.sqlite"

    init() throws {
        capture = try CaptureFolder()
        try capture.makeFolder("Documents")
    }

    /// Runs a script in the folder of the capture.
    ///
    /// `db` is the path of the database, and `row(n)` inserts a request.
    @discardableResult
    private func python(_ script: String) throws -> String {
        let start = """
            import json, os, shutil, sqlite3, struct, sys
            os.chdir(sys.argv[1])
            db = "\(Self.path)"
            def row(n, size=0):
                return json.dumps({"action": "track", "deviceId": "D", "time": "15000000%02d.000000" % (n % 100),
                                   "reqId": "R%d" % n, "info": "x" * size}, separators=(",", ":"))
            def make(rows, **pragmas):
                con = sqlite3.connect(db, isolation_level=None)
                for name, value in pragmas.items():
                    con.execute("PRAGMA %s=%s" % (name, value))
                con.execute("CREATE TABLE event (data TEXT NOT NULL)")
                con.execute("BEGIN")
                con.executemany("INSERT INTO event (data) VALUES (?)", [(r,) for r in rows])
                con.execute("COMMIT")
                return con
            # What SQLite makes of a copy of the files.
            def ids(folder):
                shutil.copytree("Documents", folder)
                con = sqlite3.connect(folder + "/__leanplum.sqlite")
                found = [json.loads(r[0])["reqId"] for r in con.execute("SELECT data FROM event ORDER BY rowid")]
                con.close()
                shutil.rmtree(folder)
                return " ".join(found)

            """
        return try tool("python3", "-c", start + script, capture.path)
    }

    private func readStore() async throws -> ReadCapture { try await ReadCapture(capture.open()) }

    private func requestIDs(_ found: ReadCapture) throws -> [String] {
        try found.records.flatMap { try $0.requests }.compactMap { $0.firstMatch(of: /"reqId":"([^"]*)"/)?.1 }
            .map(String.init)
    }

    @Test(
        "The app is Leanplum's id in the preferences of the container, or else the bundle id of the container",
        arguments: [
            ("__leanplum_push_token_app_6AoABC-user-device", "app_6AoABC"),
            ("__leanplum_user_notification_app_6AoABC-user-device", "app_6AoABC"),
            ("__leanplum_uuid", "org.example.Reader"), ("textSize", "org.example.Reader"),
        ])
    func app(key: String, expected: String) async throws {
        try python("make([row(1)])")
        try capture.putPropertyList("Library/Preferences/org.example.Reader.plist", [key: "x"])
        #expect(try await readStore().records.map { $0.app?.id }.allSatisfy { ["app_6AoABC", nil].contains($0) })
        try capture.putPropertyList(
            ".com.apple.mobile_container_manager.metadata.plist", ["MCMMetadataIdentifier": "org.example.Reader"])
        #expect(try await readStore().records.map { $0.app?.id } == [expected])
    }

    @Test("Damaged preferences, and preferences of another container, name no app")
    func otherPreferences() async throws {
        try python("make([row(1)])")
        try capture.put("Library/Preferences/a.plist", "__leanplum_push_token_app_6AoABC-user-device")
        try capture.putPropertyList("Library/Preferences/b.plist", ["x": "__leanplum_push_token_app_6AoABC-u-d"])
        try capture.putPropertyList(
            "other/Library/Preferences/c.plist", ["__leanplum_push_token_app_6AoABC-user-device": "x"])
        let records = try await readStore().records
        #expect(records.map(\.source.store) == [.leanplumSQLite])
        #expect(records.map { $0.app?.id } == [nil])
    }

    /// Returns the contents of all files by name.
    private func files() throws -> [String: Data] {
        let folder = "\(capture.path)/Documents"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        return Dictionary(
            uniqueKeysWithValues: names.map { ($0, FileManager.default.contents(atPath: "\(folder)/\($0)") ?? Data()) })
    }

    @Test(
        "The files of a killed app yield the rows that SQLite reads from a copy",
        arguments: [
            "journal_mode='wal'", "journal_mode='delete', cache_size=2", "journal_mode='persist', cache_size=2",
        ],
        ["utf8", "utf16"])
    func killedApp(pragmas: String, encoding: String) async throws {
        let expected = try python(
            """
            if os.fork() == 0:
                con = make([row(n) for n in range(400)], encoding="'\(encoding == "utf8" ? "UTF-8" : "UTF-16le")'",
                           page_size=1024, \(pragmas))
                for n in range(400, 600): con.execute("INSERT INTO event (data) VALUES (?)", (row(n),))
                con.execute("DELETE FROM event WHERE rowid < 50")
                con.execute("BEGIN")
                for n in range(600, 1200): con.execute("INSERT INTO event (data) VALUES (?)", (row(n, 300),))
                con.execute("UPDATE event SET data = '{}' WHERE rowid < 300")
                os._exit(0)
            os.wait()
            assert os.path.getsize(db + ("-wal" if "wal" in "\(pragmas.prefix(20))" else "-journal")) > 0
            print(ids("copy"), end="")
            """)
        let before = try files()
        let found = try await readStore()
        #expect(expected.split(separator: " ").count == 551)
        #expect(try requestIDs(found).joined(separator: " ") == expected)
        #expect(found.quarantined.isEmpty)
        #expect(try files() == before)
    }

    /// SQLite itself ignores a damaged frame and all frames after it.
    @Test("No change or truncation of a write-ahead log loses rows without a problem", arguments: [false, true])
    func damagedLog(wasUsedBefore: Bool) async throws {
        let count = wasUsedBefore ? 103 : 120
        try python(
            """
            if os.fork() == 0:
                con = make([row(n, 100) for n in range(100)], page_size=1024, journal_mode="'wal'")
                if \(wasUsedBefore ? "True" : "False"):
                    con.execute("PRAGMA wal_checkpoint(RESTART)")
                for n in range(100, \(count)): con.execute("INSERT INTO event (data) VALUES (?)", (row(n, 100),))
                os._exit(0)
            os.wait()
            """)
        let log = "\(Self.path)-wal"
        let bytes = Array(try #require(try files()[log.split(separator: "/").last.map(String.init) ?? ""]))
        let whole = try await readStore()
        #expect(try requestIDs(whole).count == count)
        #expect(whole.problems == [])
        var (found, harmless) = (0, 0)
        func check(_ changed: [UInt8], _ what: String) async throws {
            try capture.put(log, changed)
            let read = try await readStore()
            let isReported = read.problems.contains { $0.problem.code == "damaged" && $0.path == log }
            #expect(isReported || read.lines == whole.lines, "\(what)")
            if isReported { found += 1 } else { harmless += 1 }
        }
        for bit in stride(from: 3, to: bytes.count * 8, by: bytes.count * 8 / 60) {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            try await check(changed, "bit \(bit)")
        }
        for count in stride(from: 1, to: bytes.count, by: bytes.count / 20) {
            try await check(Array(bytes.prefix(count)), "cut to \(count)")
        }
        #expect(found > (wasUsedBefore ? 3 : 20))
        #expect((harmless > 0) == wasUsedBefore)
    }

    /// A process that ends within a transaction leaves uncommitted frames in the log, which SQLite ignores.
    @Test("Damage in a write-ahead log is reported up to the last commit")
    func damageBehindTheLastCommit() async throws {
        let committed = try #require(
            Int(
                try python(
                    """
                    if os.fork() == 0:
                        con = make([row(n, 100) for n in range(20)], page_size=1024, journal_mode="'wal'")
                        con.execute("INSERT INTO event (data) VALUES (?)", (row(20, 3000),))
                        print(os.path.getsize(db + "-wal"), flush=True)
                        con.execute("PRAGMA cache_size=2")
                        con.execute("BEGIN")
                        for n in range(21, 60): con.execute("INSERT INTO event (data) VALUES (?)", (row(n, 500),))
                        os._exit(0)
                    os.wait()
                    """
                ).split(separator: "\n").first ?? ""))
        let log = "\(Self.path)-wal"
        let bytes = Array(try #require(try files()["__leanplum.sqlite-wal"]))
        let frame = 24 + 1024
        #expect(bytes.count >= committed + 5 * frame)
        #expect((bytes.count - 32).isMultiple(of: frame))
        let whole = try await readStore()
        #expect(try requestIDs(whole).count == 21)
        #expect(whole.problems == [])
        func read(damagedAt offset: Int) async throws -> ReadCapture {
            var changed = bytes
            changed[offset] ^= 1
            try capture.put(log, changed)
            return try await readStore()
        }
        // The salts, the checksum and the page of the last committed frame, and of the first and the last uncommitted
        // frame.
        for place in [8, 12, 16, 23, 24, 24 + 1023] {
            let found = try await read(damagedAt: committed - frame + place)
            #expect(found.problems.map(\.problem.code) == ["damaged"], "\(place)")
            for start in [committed, bytes.count - frame] {
                let found = try await read(damagedAt: start + place)
                #expect(found.problems == [], "\(start) \(place)")
                #expect(found.lines == whole.lines, "\(start) \(place)")
            }
        }
        try capture.put(log, Array(bytes.dropLast(frame)))
        #expect(try await readStore().problems == [])
    }

    @Test func severalDamagedPagesLoseOnlyTheirOwnRows() async throws {
        let lost = try python(
            """
            make([row(n, 200) for n in range(3000)], page_size=1024).close()
            data = bytearray(open(db, "rb").read())
            lost, leaves = [], [at for at in range(0, len(data), 1024) if data[at] == 13]
            def rowids(at):
                for cell in range(struct.unpack_from(">H", data, at + 3)[0]):
                    i = at + struct.unpack_from(">H", data, at + 8 + 2 * cell)[0]
                    while data[i] & 0x80: i += 1
                    rowid, i = 0, i + 1
                    while True:
                        rowid = rowid << 7 | data[i] & 0x7F
                        i += 1
                        if not data[i - 1] & 0x80: break
                    yield rowid
            for leaf in (leaves[0], leaves[7], leaves[8], leaves[300], leaves[-1]):
                lost += rowids(leaf)
                data[leaf:leaf + 1024] = b"\\xa5" * 1024
            open(db, "wb").write(data)
            print(" ".join("R%d" % (n - 1) for n in lost), end="")
            """)
        let found = try await readStore()
        let ids = try requestIDs(found)
        let lostIDs = Set(lost.split(separator: " ").map(String.init))
        #expect(lostIDs.count > 10)
        let isAsExpected = ids == (0..<3000).map { "R\($0)" }.filter { !lostIDs.contains($0) }
        #expect(isAsExpected, "\(ids.count) of \(3000 - lostIDs.count) rows")
        #expect(Set(found.reasonCodes) == ["corrupt"])
        #expect(found.reasonCodes.count <= 5)
    }

    @Test func aRowWithABrokenPageChainIsTheOnlyOneLost() async throws {
        try python(
            """
            make([row(n, 5000 if n == 5 else 0) for n in range(10)], page_size=1024).close()
            con = sqlite3.connect(db)
            root = con.execute("SELECT rootpage FROM sqlite_master").fetchone()[0]
            con.close()
            data = bytearray(open(db, "rb").read())
            # An overflow page says that the next one is the page that the database ends behind.
            at = next(p for p in range(1024 * root, len(data), 1024) if data[p] == 0 and b"xxxx" in data[p:p + 1024])
            data[at:at + 4] = struct.pack(">I", len(data) // 1024 + 9)
            open(db, "wb").write(data)
            """)
        let found = try await readStore()
        #expect(try requestIDs(found) == (0..<10).filter { $0 != 5 }.map { "R\($0)" })
        #expect(found.quarantined.map(\.reject.reason) == ["corrupt the row of rowid 6 cannot be read"])
    }

    @Test func anOversizedRowIsTheOnlyOneOmitted() async throws {
        try python(
            """
            make([row(1), row(2, 17 << 20), row(3)]).close()
            """)
        let found = try await readStore()
        #expect(try requestIDs(found) == ["R1", "R3"])
        #expect(found.quarantined.map(\.reject.reason) == ["too_large item 1, rowid 2: more than 16 MiB"])
    }

    @Test func aJournalCannotOpenOrDeleteAnotherFile() async throws {
        let victim = "\(capture.path)/victim"
        try capture.put("victim", "nobody's journal")
        try python(
            """
            if os.fork() == 0:
                con = make([row(n) for n in range(400)], page_size=1024, cache_size=2)
                con.execute("BEGIN")
                for n in range(400, 1200): con.execute("INSERT INTO event (data) VALUES (?)", (row(n, 300),))
                con.execute("UPDATE event SET data = '{}' WHERE rowid < 300")
                os._exit(0)
            os.wait()
            # The end of a journal that names a super-journal: lock page, name, length, checksum, magic.
            name = b"\(victim)"
            end = struct.pack(">I", (1 << 30) // 1024 + 1) + name
            end += struct.pack(">2I", len(name), sum(name)) + bytes.fromhex("d9d505f920a163d7")
            open(db + "-journal", "ab").write(end)
            """)
        _ = try await readStore()
        #expect(FileManager.default.contents(atPath: victim) == Data("nobody's journal".utf8))
        // Opening the same files without protection proves that the attack is real.
        try python("sqlite3.connect(db).execute('SELECT count(*) FROM event').fetchone()")
        #expect(FileManager.default.contents(atPath: victim) == nil)
    }

    @Test("The rollback of a hot journal is reported with the number of replaced rows")
    func rollback() async throws {
        let expected = try python(
            """
            if os.fork() == 0:
                con = make([row(n) for n in range(400)], page_size=1024, cache_size=2)
                con.execute("BEGIN")
                con.execute("UPDATE event SET data = '{}' WHERE rowid < 100")
                for n in range(400, 1200): con.execute("INSERT INTO event (data) VALUES (?)", (row(n, 300),))
                os._exit(0)
            os.wait()
            def rows(names):
                os.mkdir("copy")
                for name in names: shutil.copy("Documents/" + name, "copy")
                con = sqlite3.connect("copy/__leanplum.sqlite")
                found = set(con.execute("SELECT rowid, data FROM event"))
                con.close()
                shutil.rmtree("copy")
                return found
            # The last changed pages were not written yet, so that the schema and the pages in the tree are complete.
            before = rows(["__leanplum.sqlite"])
            after = rows(["__leanplum.sqlite", "__leanplum.sqlite-journal"])
            print(len(before - after), len(after - before), end="")
            """
        ).split(separator: " ")
        let found = try await readStore()
        #expect(try requestIDs(found).count == 400)
        #expect(found.problemCodes == ["\(Self.path)-journal rolled-back"])
        #expect(
            found.problems.map(\.problem.text) == [
                "a hot journal was rolled back, which replaced \(expected[0]) rows by \(expected[1]) earlier rows"
            ])
        #expect(found.problems.allSatisfy { !$0.problem.isLoss })
    }

    /// The changes in a write-ahead log whose database is missing.
    enum DetachedLog: String, CaseIterable {
        /// All changes since the database was created.
        case whole = ""
        /// The changes since a checkpoint, which include the first page.
        case partial = "DELETE FROM event WHERE rowid <= 10"
        /// A change of one page.
        case withoutFirstPage = "UPDATE event SET data = replace(data, 'x', 'y') WHERE rowid = 50"
    }

    @Test("A write-ahead log without its database is read as far as its pages lead", arguments: DetachedLog.allCases)
    func detachedLog(log: DetachedLog) async throws {
        let expected = try python(
            """
            if os.fork() == 0:
                con = make([row(n, 100) for n in range(100)], page_size=1024, journal_mode="'wal'")
                if "\(log.rawValue)":
                    con.execute("PRAGMA wal_checkpoint(RESTART)")
                    con.execute("\(log.rawValue)")
                else:
                    con.execute("DELETE FROM event WHERE rowid <= 10")
                con.execute("BEGIN")
                con.execute("PRAGMA cache_size=2")
                for n in range(200, 300): con.execute("INSERT INTO event (data) VALUES (?)", (row(n, 500),))
                os._exit(0)
            os.wait()
            os.remove(db)
            # The pages of the last commit, without their order.
            log = open(db + "-wal", "rb").read()
            salts = log[16:24]
            frames = [log[n:n + 24] for n in range(32, len(log), 1048) if log[n + 8:n + 16] == salts]
            last = max(n for n, frame in enumerate(frames) if frame[4:8] != bytes(4))
            pages = {int.from_bytes(frame[:4], "big") for frame in frames[:last + 1]}
            count = int.from_bytes(frames[last][4:8], "big")
            print(count, *sorted(set(range(1, count + 1)) - pages), end="")
            """
        ).split(separator: " ").compactMap { Int($0) }
        let found = try await readStore()
        let path = "\(Self.path)-wal"
        let missing = "pages \(expected.dropFirst().first ?? 0) to "
        switch log {
        case .whole:
            #expect(try requestIDs(found) == (10..<100).map { "R\($0)" })
            #expect(found.records.map(\.source.path) == [path])
            #expect(found.quarantined.isEmpty)
            #expect(found.problemCodes == ["\(path) no-database"])
            #expect(found.problems.allSatisfy { !$0.problem.isLoss })
        case .partial:
            let ids = try requestIDs(found)
            #expect(ids.count > 2)
            #expect(ids == (10..<10 + ids.count).map { "R\($0)" })
            #expect(found.quarantined.map(\.path) == [path, path])
            #expect(found.reasonCodes == ["corrupt", "no-database"])
            let reason = try #require(found.quarantined.last?.reject.reason)
            #expect(reason.contains("which lacks \(missing)"))
            #expect(reason.contains("of \(expected[0]); the rows on these pages are lost; copy the database"))
        case .withoutFirstPage:
            #expect(found.records.isEmpty)
            #expect(found.quarantined.map(\.path) == [path])
            #expect(found.reasonCodes == ["no-database"])
            let reason = try #require(found.quarantined.first?.reject.reason)
            #expect(reason.contains("the write-ahead log lacks \(missing)"))
            #expect(reason.contains("without page 1"))
        }
    }

    @Test("A log that lacks only pages without rows is no loss")
    func detachedLogWithAllRows() async throws {
        try python(
            """
            if os.fork() == 0:
                con = make([row(n) for n in range(3)], page_size=1024, journal_mode="'wal'")
                con.execute("CREATE TABLE other (data TEXT)")
                con.execute("INSERT INTO other VALUES ('x')")
                con.execute("PRAGMA wal_checkpoint(RESTART)")
                con.execute("PRAGMA user_version=1")
                con.execute("INSERT INTO event (data) VALUES (?)", (row(3),))
                os._exit(0)
            os.wait()
            os.remove(db)
            """)
        let found = try await readStore()
        #expect(try requestIDs(found) == ["R0", "R1", "R2", "R3"])
        #expect(found.quarantined.isEmpty)
        #expect(found.problemCodes == ["\(Self.path)-wal schema-objects", "\(Self.path)-wal no-database"])
        #expect(
            found.problems.last?.problem.text
                == "the database is missing; its rows were read from the write-ahead log alone, which lacks page 3 of 3; "
                + "no row of the table is on a missing page")
        #expect(found.problems.allSatisfy { !$0.problem.isLoss })
    }

    @Test("The rows of an empty database are read from its write-ahead log", arguments: [true, false])
    func emptyDatabase(isLogWhole: Bool) async throws {
        try python(
            """
            if os.fork() == 0:
                con = make([row(n) for n in range(3)], journal_mode="'wal'")
                os._exit(0)
            os.wait()
            os.truncate(db, 0)
            if not \(isLogWhole ? "True" : "False"): os.truncate(db + "-wal", 40)
            """)
        let found = try await readStore()
        #expect(try requestIDs(found) == (isLogWhole ? ["R0", "R1", "R2"] : []))
        let texts = found.problems.map(\.problem.text) + found.quarantined.map(\.reject.reason)
        #expect(texts.contains { $0.contains("the database is empty") })
        #expect(found.quarantined.isEmpty == isLogWhole)
    }

    @Test func aJournalWithoutItsDatabaseIsQuarantinedUnlessItIsEmpty() async throws {
        try capture.put("\(Self.path)-journal", "some pages")
        try capture.put("\(Self.path)-wal", "")
        let found = try await readStore()
        #expect(found.quarantined.map(\.path) == ["\(Self.path)-journal"])
        #expect(found.reasonCodes == ["no-database"])
        #expect(found.problems == [])
    }

    @Test func aTableWithTwoRowIDColumnsIsRejected() async throws {
        try python(
            """
            con = sqlite3.connect(db)
            con.execute("CREATE TABLE event (rowid TEXT, data TEXT)")
            con.execute("INSERT INTO event VALUES ('9', ?)", (row(1),))
            con.commit()
            """)
        let found = try await readStore()
        #expect(found.records.isEmpty)
        #expect(found.quarantined.map(\.reject.reason) == ["unsupported_schema event has a column named rowid"])
    }

    @Test func sharedPagesAreNotReadRepeatedly() async throws {
        try python(
            """
            make([row(n, 200) for n in range(3000)], page_size=1024).close()
            data = bytearray(open(db, "rb").read())
            leaf = next(at // 1024 + 1 for at in range(1024, len(data), 1024) if data[at] == 13)
            for at in range(1024, len(data), 1024):
                if data[at] != 5: continue
                for cell in range(struct.unpack_from(">H", data, at + 3)[0]):
                    i = at + struct.unpack_from(">H", data, at + 12 + 2 * cell)[0]
                    if data[(struct.unpack_from(">I", data, i)[0] - 1) * 1024] == 13:
                        data[i:i + 4] = struct.pack(">I", leaf)
            open(db, "wb").write(data)
            """)
        let found = try await readStore()
        let ids = try requestIDs(found)
        #expect(Set(ids).count == ids.count)
        #expect(ids.count < 100)
        #expect(Set(found.reasonCodes) == ["corrupt"])
    }

    /// An output is full before the store ends, and the reading continues at the same row.
    @Test func aStoreOfSeveralBatchesIsReadCompletely() async throws {
        try python("make([row(n, 380) for n in range(10100)]).close()")
        let found = try await readStore()
        #expect(try found.records.map { try $0.requests.count } == [10_000, 100])
        #expect(found.records.map(\.source.index) == [0, 10_000])
        #expect(found.lines.count > 4 << 20)
    }

    @Test func companionsOfADamagedDatabaseAreQuarantinedToo() async throws {
        try capture.put(Self.path, String(repeating: "no database ", count: 500))
        try capture.put("\(Self.path)-wal", "no log either")
        let opened = try await capture.open()
        let found = try await ReadCapture(opened)
        #expect(found.quarantined.map(\.path) == [Self.path, "\(Self.path)-wal"])
        for item in found.quarantined {
            let bytes = try #require(try found.bytes(of: item))
            #expect(bytes.count == item.size)
        }
    }

    @Test func anOversizedDatabaseIsQuarantinedUnread() async throws {
        try capture.putSparse(Self.path, size: 256 << 20 | 1)
        let found = try await readStore()
        #expect(found.records.isEmpty)
        #expect(found.quarantined.map(\.reject.reason) == ["too-large more than 256 MiB"])
        #expect(found.quarantined.map(\.size) == [256 << 20 | 1])
    }

    @Test func aCompanionThatCannotBeReadMakesTheDatabaseUnreadable() async throws {
        try python("make([row(1)]).close()")
        try capture.link("\(Self.path)-journal", to: "/etc/passwd")
        let found = try await readStore()
        #expect(found.records.isEmpty)
        #expect(found.problemCodes == ["\(Self.path)-journal link", "\(Self.path) unreadable"])
    }

    @Test(
        "An archive yields the same results as the folder",
        arguments: ["sqlite-wal", "sqlite-hot-journal", "plist-documents", "plist-caches", "userdefaults"])
    func archive(name: String) async throws {
        let fixture = try LeanplumCase.named(name)
        let folder = try await ReadCapture(path: fixture.path)
        for archive in ["\(name).zip", "\(name).tar.gz"] {
            let path = "\(capture.path)/\(archive)"
            try tool(["bsdtar", "-a", "-c", "-f", path, "-C", fixture.path, "."])
            let bytes = ArchiveBytes.source(ByteSource(try InputFile(path: path)))
            let opened = try await CapturedFolder(
                archive: bytes, path: path, label: name, spool: Spool(), limit: JobLimit(jobs: 2))
            let packed = try await ReadCapture(opened)
            #expect(packed.lines == folder.lines)
            #expect(!packed.records.isEmpty)
        }
    }

    @Test func aSingleFileIsReadWithItsCompanions() async throws {
        let fixture = try LeanplumCase.named("sqlite-wal")
        let opened = try #require(try CapturedFolder(file: "\(fixture.path)/\(Self.path)", label: "x"))
        let found = try await ReadCapture(opened)
        #expect(try found.records.flatMap { try $0.requests } == fixture.oracle().requests)
    }
}
