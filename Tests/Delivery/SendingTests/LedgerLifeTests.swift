import Foundation
import Telemetry
import TestSupport
import Testing

/// Tests how ledgers are created, copied, moved and checked, and how bundles are selected.
@Suite struct LedgerLifeTests {
    private let folder: TemporaryFolder
    private let server: LoopbackServer
    private var ledger: String { folder("ledger.sqlite") }
    private let older = "the ledger is older than its last job: it ends with job"

    init() async throws {
        folder = try TemporaryFolder()
        server = try LoopbackServer()
        try await server.setRules()
    }

    private func run(_ arguments: String..., ledger: String? = nil) async throws -> FinishedProgram {
        try await Uploader(arguments + ["--ledger", ledger ?? self.ledger, "--timezone", noonTimezone]).finish()
    }

    private func arguments(_ more: [String], ledger: String? = nil) -> [String] {
        ["send", "--endpoint", server.address, "--ledger", ledger ?? self.ledger, "--timezone", noonTimezone] + more
    }

    private func job(_ more: String..., ledger: String? = nil) async throws -> FinishedProgram {
        try await Uploader(arguments(more, ledger: ledger)).finish()
    }

    private func bundle(_ name: String, _ numbers: ClosedRange<Int>) async throws -> String {
        try await Sample.bundle(numbers.map { Sample.ping($0, client: "C") }, at: folder("\(name).tar.zst"))
    }

    /// The names of the ledger and of the files beside it.
    private var ledgerNames: [String] { folder.names.filter { $0.hasPrefix("ledger.sqlite") } }

    /// Runs a job that is killed after the server accepted all pings but the last one, number `last`.
    private func killedJob(_ path: String, last: Int) async throws {
        try await server.setRules(#"[{"contains":"\"seq\":\#(last)}","hold":true}]"#)
        let uploader = try Uploader(arguments([path]))
        while try await server.report().total < last { try await Task.sleep(for: .milliseconds(20)) }
        uploader.program.send(SIGKILL)
        #expect(try await uploader.finish().status == 128 + SIGKILL)
        try await server.configure(#"{"rules":[],"release":true}"#)
        #expect(ledgerNames.contains("ledger.sqlite-wal"))
    }

    // MARK: Creation

    @Test("Only a job creates a ledger, and only if it can use its bundles")
    func creation() async throws {
        let path = try await bundle("a", 1...2)
        let commands = [
            ["status", path], ["release", "--reason", "schema", "--bundle", path], ["receipt", path],
            ["receipt", "-o", folder("receipt.json"), path], ["ledger", "backup", folder("copy")],
        ]
        for command in commands {
            let finished = try await Uploader(command + ["--ledger", ledger]).finish()
            #expect(finished.status == 66, "\(command)")
            #expect(finished.errorLines.first == "pingferry-upload: \(ledger): the ledger does not exist")
            #expect(folder.names == ["a.tar.zst"], "\(command)")
        }
        let damaged = try folder.put(String(repeating: "x", count: 99), "damaged.tar.zst")
        #expect(try await job(folder("none.tar.zst")).status == 66)
        #expect(try await job(damaged).status == 65)
        #expect(try await job(path, damaged).status == 65)
        #expect(ledgerNames == [])
        #expect(try await server.report().total == 0)
        let first = try await job("--quiet", path)
        #expect(first.status == 0 && first.errors == "pingferry-upload: created a new ledger at \(ledger)\n")
        #expect(ledgerNames == ["ledger.sqlite", "ledger.sqlite.jobs", "ledger.sqlite.lock"])

        // A ledger that was removed is replaced, which is reported.
        try FileManager.default.removeItem(atPath: ledger)
        let second = try await job("--quiet", path)
        #expect(second.status == 0)
        #expect(second.errors.contains("created a new ledger at \(ledger), although 1 job used a ledger there; "))
        #expect(try await job("--quiet", path).errors == "")
    }

    @Test("The ledger is given once, and a command is written before its options")
    func usage() async throws {
        for command in [["status"], ["retry", "--all"], ["ledger", "check"], ["send", "a.tar.zst"]] {
            let finished = try await Uploader(command + ["--ledger", ledger, "--ledger", folder("b")]).finish()
            #expect(finished.status == 64)
            #expect(finished.errors.contains("--ledger is given more than once"), "\(finished.errors)")
        }
        for command in ["status", "retry", "prune", "ledger"] {
            let finished = try await Uploader(["--ledger", ledger, command]).finish()
            #expect(finished.status == 64)
            let words = "\(command) is a command, so write it before its options: pingferry-upload \(command) …"
            #expect(finished.errors.contains(words), "\(finished.errors)")
        }
        #expect(folder.names == [])
    }

    @Test(
        "Folders and files that root creates for a ledger belong to the owner of their folder",
        .enabled(if: geteuid() == 0, "only root can change the owner of files"))
    func owner() async throws {
        let state = try folder.makeFolder("state")
        try #require(chown(state, 65_534, 65_533) == 0)
        let path = folder("state/share/ferry/ledger.sqlite")
        #expect(try await job(try await bundle("a", 1...2), ledger: path).status == 0)
        let names = try FileManager.default.subpathsOfDirectory(atPath: state).sorted()
        #expect(
            names == ["share", "share/ferry"]
                + ["", ".jobs", ".lock"].map { "share/ferry/ledger.sqlite\($0)" })
        for name in names {
            var status = stat()
            let code = stat("\(state)/\(name)", &status)
            #expect(code == 0 && status.st_uid == 65_534 && status.st_gid == 65_533, "\(name)")
        }
    }

    // MARK: Copies

    @Test("A job with an older copy of its ledger sends nothing, unless this is accepted")
    func olderCopy() async throws {
        let (first, second) = (try await bundle("a", 1...2), try await bundle("b", 3...4))
        #expect(try await job(first).status == 0)
        try tool("cp", ledger, folder("yesterday"))
        #expect(try await job(second).status == 0)
        #expect(try await run("ledger", "check").text.hasPrefix("\(ledger): intact: 4 delivered, 0 refused, "))
        try tool("cp", folder("yesterday"), ledger)
        let metrics = folder("metrics")
        for options in [[], ["--quiet"], ["--metrics", metrics]] {
            let finished = try await Uploader(arguments(options + [first, second])).finish()
            #expect(finished.status == 78 && finished.text == "")
            #expect(finished.errors.contains("pingferry-upload: \(ledger): \(older) 1 of 20"), "\(finished.errors)")
            #expect(finished.errors.contains(", but job 2 began at 20"))
            #expect(finished.errors.contains("; 2 planned uploads may have been delivered by the missing jobs"))
            #expect(finished.errors.contains("--accept-older-ledger"))
        }
        #expect(try folder.text("metrics").contains("\npingferry_last_exit_status 78\n"))
        #expect(try await server.report().total == 4)
        // Commands that send nothing only report it.
        for command in [["status"], ["send", "--dry-run", second]] {
            let finished = try await Uploader(command + ["--ledger", ledger]).finish()
            #expect(finished.status == 0 && finished.errors.contains("\(ledger): \(older) 1 of 20"), "\(command)")
        }
        let check = try await run("ledger", "check")
        #expect(check.status == 78 && check.errors.contains("\(ledger): \(older) 1 of 20"))

        let accepted = try await job("--accept-older-ledger", first, second)
        #expect(accepted.status == 0)
        #expect(accepted.text == "4 records: delivered 2, delivered before 2; nothing is left\n")
        #expect(try await server.report().total == 6)
        let later = try await job("--quiet", first, second)
        #expect(later.status == 0 && later.errors == "")
        #expect(try await run("ledger", "check").status == 0)
        #expect(try await server.report().total == 6)
    }

    @Test("A ledger that is moved without the files beside it is not used", arguments: [false, true])
    func movedAlone(isKilled: Bool) async throws {
        let path = try await bundle("a", 1...2)
        // The outcomes of a killed job are only in the write-ahead log.
        if isKilled { try await killedJob(path, last: 2) } else { #expect(try await job(path).status == 0) }
        let moved = try folder.makeFolder("moved") + "/ledger.sqlite"
        try FileManager.default.moveItem(atPath: ledger, toPath: moved)
        let finished = try await job("--quiet", path, ledger: moved)
        #expect(finished.status == 78 && finished.text == "")
        #expect(finished.errors.contains("\(moved): \(older) 1 of 20"), "\(finished.errors)")
        #expect(finished.errors.contains(", and the file .jobs beside it, which counts the jobs, is missing; "))
        #expect(try await server.report().total == 2)
        let accepted = try await job("--accept-older-ledger", path, ledger: moved)
        #expect(accepted.status == 0)
        let outcome = isKilled ? "delivered 2" : "delivered before 2"
        #expect(accepted.text == "2 records: \(outcome); nothing is left\n")
        let later = try await job("--quiet", path, ledger: moved)
        #expect(later.status == 0 && later.errors == "")
        #expect(try await server.report().total == (isKilled ? 4 : 2))
    }

    @Test("A ledger that is moved with the files beside it continues, even after a kill")
    func movedTogether() async throws {
        let path = try await bundle("a", 1...3)
        try await killedJob(path, last: 3)
        let place = try folder.makeFolder("moved")
        for name in ledgerNames {
            try FileManager.default.moveItem(atPath: folder(name), toPath: "\(place)/\(name)")
        }
        let finished = try await job("--quiet", path, ledger: "\(place)/ledger.sqlite")
        #expect(finished.status == 0 && finished.errors == "")
        // Only the upload that was in flight is sent again.
        #expect(try await server.report().receipts?.map(\.times).sorted() == [1, 1, 2])
    }

    @Test("A backup is restored in another folder without repeating an upload")
    func backup() async throws {
        let (first, second) = (try await bundle("a", 1...2), try await bundle("b", 3...4))
        #expect(try await job(first).status == 0)
        let copy = folder("copy.sqlite")
        let written = try await run("ledger", "backup", copy)
        #expect(written.status == 0)
        #expect(written.text.hasPrefix("\(copy): written: 2 delivered, 0 refused, 0 in flight, 0 waiting, 0 held; "))
        #expect(try tool("stat", "-c", "%a", copy) == "600\n")
        #expect(try await run("ledger", "backup", copy).status == 73)
        #expect(try await run("ledger", "backup", "--force", copy).status == 0)
        #expect(try await run("ledger", "backup", "--force", ledger).status == 73)
        #expect(folder.names.filter { $0.hasPrefix("copy") || $0.contains(".partial") } == ["copy.sqlite"])

        let other = folder("new/ledger.sqlite")
        let restored = try await run("ledger", "restore", copy, ledger: other)
        #expect(restored.status == 0 && restored.errors == "")
        #expect(restored.text.hasPrefix("\(other): restored: 2 delivered, 0 refused, "))
        let continued = try await job(first, second, ledger: other)
        #expect(continued.text == "4 records: delivered 2, delivered before 2; nothing is left\n")
        #expect(continued.status == 0 && continued.errors == "")
        #expect(try await run("ledger", "check", ledger: other).status == 0)
        #expect(try await server.report().total == 4)
    }

    @Test("A restored backup that lacks a job is reported, and so are files that are no backups")
    func olderBackup() async throws {
        let (first, second) = (try await bundle("a", 1...2), try await bundle("b", 3...4))
        #expect(try await job(first).status == 0)
        #expect(try await run("ledger", "backup", folder("old")).status == 0)
        #expect(try await job(second).status == 0)
        #expect(try await run("ledger", "backup", folder("new")).status == 0)
        let restored = try await run("ledger", "restore", folder("old"))
        #expect(restored.status == 0 && restored.errors.contains("\(ledger): \(older) 1 of 20"), "\(restored.errors)")
        #expect(try await job(first, second).status == 78)
        let text = try folder.put(String(repeating: "x", count: 5000), "text")
        for (path, status) in [(folder("none"), 66), (text, 78), (ledger, 73)] as [(String, Int32)] {
            #expect(try await run("ledger", "restore", path).status == status, "\(path)")
        }
        #expect(try await run("ledger", "restore", folder("new")).errors == "")
        #expect(try await job(first, second).text == "4 records: delivered before 4; nothing is left\n")
        #expect(try await server.report().total == 4)
    }

    @Test("A ledger is backed up while a job runs, but not restored")
    func backupOfARunningJob() async throws {
        try await server.setRules(#"[{"contains":"\"seq\":2}","hold":true}]"#)
        let path = try await bundle("a", 1...2)
        let uploader = try Uploader(arguments([path]))
        while try await server.report().total < 2 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(try await run("ledger", "check").text.contains(": intact: 1 delivered, 0 refused, 1 in flight, "))
        let written = try await run("ledger", "backup", folder("copy"))
        #expect(written.text.contains(": written: 1 delivered, 0 refused, 1 in flight, "))
        #expect(try await run("ledger", "restore", folder("copy")).status == 75)
        try await server.configure(#"{"rules":[],"release":true}"#)
        #expect(try await uploader.finish().status == 0)
        #expect(try await run("ledger", "check").text.contains(": intact: 2 delivered, 0 refused, 0 in flight, "))
        // The copy lacks what the job did after it was made.
        let restored = try await run("ledger", "restore", folder("copy"))
        #expect(restored.errors.contains("it was copied while job 1 of 20"), "\(restored.errors)")
        #expect(try await run("ledger", "check").status == 78)
        #expect(try await job(path).status == 78)
    }

    // MARK: Counters

    @Test("A job that was killed while it began is not reported as missing, and a damaged counter is an error")
    func counter() async throws {
        let path = try await bundle("a", 1...2)
        #expect(try await job(path).status == 0)
        let name = "ledger.sqlite.jobs"
        let counter = try folder.text(name)
        #expect(counter.hasPrefix(#"{"ended":true,"inLedger":true,"job":1,"started":"20"#))
        func put(_ isInLedger: Bool, _ number: Int) throws {
            let begin = #""inLedger":\#(isInLedger),"job":\#(number)"#
            try folder.put(counter.replacing(#""inLedger":true,"job":1"#, with: begin), name, mode: 0o600)
        }
        try put(false, 2)
        let next = try await job("--quiet", path)
        #expect(next.status == 0 && next.errors == "")
        // Any number of jobs that were killed while they began have the same number.
        #expect(try folder.text(name).hasPrefix(#"{"ended":true,"inLedger":true,"job":2,"#))
        try put(false, 5)
        #expect(try await job(path).errors.contains("\(older) 2 of 20"))
        try put(true, 4)
        #expect(try await job(path).status == 78)
        try folder.put("x", name, mode: 0o600)
        for command in [["send", path], ["status"], ["ledger", "check"]] {
            let finished = try await Uploader(command + ["--ledger", ledger]).finish()
            #expect(finished.status == 78, "\(command)")
            #expect(finished.errorLines.first == "pingferry-upload: \(ledger).jobs: not a counter of jobs")
        }
        try FileManager.default.removeItem(atPath: folder(name))
        #expect(try await job(path).errors.contains("the file .jobs beside it, which counts the jobs, is missing"))
        #expect(try await job("--accept-older-ledger", path).status == 0)
        #expect(try await job("--quiet", path).status == 0)
        #expect(try await server.report().total == 2)
    }

    @Test("A ledger without a version is rejected and not changed")
    func ledgerWithoutVersion() async throws {
        // The programs before the first release recorded the migrations of a ledger in this table.
        try tool(
            "sqlite3", ledger,
            "PRAGMA application_id = 1346784324; CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        let before = try folder.data("ledger.sqlite")
        let path = try await bundle("a", 1...2)
        for finished in [try await run("ledger", "check"), try await run("status"), try await job(path)] {
            #expect(finished.status == 78)
            #expect(finished.errorLines.first == "pingferry-upload: \(ledger): not a ledger of this program")
        }
        #expect(try folder.data("ledger.sqlite") == before)
        #expect(try await server.report().total == 0)
    }

    @Test("A damaged ledger is reported by the check")
    func damagedLedger() async throws {
        #expect(try await job(try await bundle("a", 1...2)).status == 0)
        var bytes = try folder.data("ledger.sqlite")
        // The first two pages stay intact.
        for index in 8400..<min(28_000, bytes.count) { bytes[index] = UInt8(truncatingIfNeeded: index &* 31 &+ 7) }
        try bytes.write(to: URL(fileURLWithPath: ledger))
        let check = try await run("ledger", "check")
        #expect(check.status == 74 && check.errors.contains("\(ledger): the ledger is damaged: "), "\(check.errors)")
    }

    // MARK: Folders

    @Test("Of a folder, its bundles and first volumes are sent in the order of their names, and nothing else")
    func folderOfBundles() async throws {
        for name in ["spool/sub", "spool/x.tar.zst", "done"] { try folder.makeFolder(name) }
        for (number, name) in ["b.tar.zst", "a.tar.zst", ".hidden.tar.zst", "sub/c.tar.zst", "d.tar"].enumerated() {
            _ = try await Sample.bundle([Sample.ping(number, client: "C")], at: folder("spool/\(name)"))
        }
        for name in ["notes.txt", "b.tar.zst.sig"] { try folder.put("x", "spool/\(name)") }
        let whole = try await Sample.bundle(
            (100...399).map { Sample.ping($0, client: "C-\($0)") }, at: folder("spool/v.tar.zst"))
        try tool("split", "-b", "4096", "-d", "-a", "3", "--numeric-suffixes=1", whole, whole + ".")
        unlink(whole)
        let spool = folder("spool")
        let finished = try await job("--json", "--move-done", folder("done"), spool)
        #expect(finished.status == 0, "\(finished.errors)")
        let json = try finished.json()
        let names = ["a.tar.zst", "b.tar.zst", "v.tar.zst.001"]
        #expect((json["bundles"] as? [[String: Any]])?.map { $0["path"] as? String } == names.map { "\(spool)/\($0)" })
        #expect(json["records"] as? [String: Int] == ["delivered": 302])
        #expect(try await server.report().total == 302)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: spool).sorted()
                == [".hidden.tar.zst", "d.tar", "notes.txt", "sub", "x.tar.zst"])

        let status = try await run("status", folder("done"))
        #expect(status.status == 0)
        #expect(
            status.lines == zip(names, [1, 1, 300]).map { "\(folder("done"))/\($0): done: \($1) delivered" })
        #expect(try await run("receipt", "-q", folder("done")).status == 0)
        #expect(try await run("release", "--reason", "schema", "--bundle", folder("done")).status == 0)
        // A folder can be given with bundles.
        let both = try await job(folder("done"), "\(spool)/sub/c.tar.zst")
        #expect(both.text == "303 records: delivered 1, delivered before 302; nothing is left\n")
    }

    @Test("A folder without bundles is not an error")
    func emptyFolder() async throws {
        let spool = try folder.makeFolder("spool")
        try folder.put("x", "spool/notes.txt")
        let plan = try await job("--dry-run", spool)
        #expect(plan.status == 0 && plan.text == "0 uploads planned of 0 records\n")
        let first = try await job(spool)
        #expect(first.status == 0 && first.text == "0 records\n")
        let second = try await job("--quiet", spool)
        #expect(second.status == 0 && second.text == "" && second.errors == "")
        let status = try await run("status", spool)
        #expect(status.status == 0 && status.text == "")
    }
}
