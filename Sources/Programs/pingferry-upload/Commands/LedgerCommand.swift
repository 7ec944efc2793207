import ArgumentParser
import Console
import Delivery
import Files
import JSONText
import Systems
import Telemetry

/// The command `ledger`, which checks and copies the ledger itself.
struct LedgerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger",
        abstract: "Check, back up or restore the ledger.",
        discussion: """
            The ledger consists of several files: the database, its write-ahead log (-wal), and a counter of the jobs (.jobs). \
            A copy of the database alone can lack the last outcomes, and a job with an older copy would send records twice. \
            Use backup and restore to copy or move a ledger, and keep the copies: without the ledger, everything is sent again.
              pingferry-upload ledger backup /backup/ledger.sqlite
              pingferry-upload ledger restore /backup/ledger.sqlite
            """,
        subcommands: [LedgerCheckCommand.self, LedgerBackupCommand.self, LedgerRestoreCommand.self])
}

/// The command `ledger check`.
struct LedgerCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check that the ledger is intact and contains the last job.",
        discussion: """
            Reads the whole database. The exit status is 0 if it is intact, 74 if it is damaged, and 78 if it is older than \
            its last job. A job can run at the same time.
              pingferry-upload ledger check --ledger /var/lib/pingferry/ledger.sqlite
            """)

    @OptionGroup(title: "Ledger") var ledger: LedgerOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func run() async throws {
        try await reportingErrors {
            let view = try LedgerView(path: try ledger.path())
            if let fault = try view.fault() { throw LedgerError.damaged(path: view.path, reason: fault) }
            if let missing = try view.missingJobs() { throw LedgerError.older(path: view.path, missing) }
            try common.printLedger(view, "intact", today: ledger.today)
        }
    }
}

/// The command `ledger backup`.
struct LedgerBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write a copy of the ledger to a file.",
        discussion: """
            The copy is complete in one file, and only you can read it. A job can run at the same time. The file replaces an \
            existing one only with --force, and only after the copy is complete.
              pingferry-upload ledger backup --force /backup/ledger.sqlite
            """)

    @Argument(help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file())
    var file: String

    @Flag(help: "Replace an existing file.")
    var force = false

    @OptionGroup(title: "Ledger") var ledger: LedgerOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func run() async throws {
        try await reportingErrors {
            var files = CommandFiles()
            try ledger.add(to: &files)
            files.write("the backup", AtomicOutput.replacedPaths(of: file))
            try files.check()
            let view = try LedgerView(path: try ledger.path())
            try view.backUp(to: file, replacing: force)
            try common.printLedger(try LedgerView(path: file), "written", today: ledger.today)
        }
    }
}

/// The command `ledger restore`.
struct LedgerRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Replace the contents of the ledger with those of a copy.",
        discussion: """
            No job may run meanwhile. If jobs have run since the copy was made, what they delivered is not in it. The command \
            reports them, and the next job ends with the exit status 78 unless --accept-older-ledger is given.
              pingferry-upload ledger restore /backup/ledger.sqlite
            """)

    @Argument(help: ArgumentHelp("The copy, which ledger backup has written.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup(title: "Ledger") var ledger: LedgerOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func run() async throws {
        try await reportingErrors {
            var files = CommandFiles()
            files.read([file])
            files.update("--ledger", [try ledger.path()])
            try files.check()
            let copy = try copy()
            if let fault = try copy.fault() { throw LedgerError.damaged(path: file, reason: fault) }
            let restored = try ledger.openLedger(mustExist: false)
            try restored.restore(copy)
            if let missing = try restored.view.missingJobs() {
                LedgerError.older(path: restored.path, missing).report(as: PingferryUpload.name)
            }
            try common.printLedger(restored.view, "restored", today: ledger.today)
        }
    }
}

extension LedgerRestoreCommand {
    private func copy() throws -> LedgerView {
        do {
            return try LedgerView(path: file)
        } catch LedgerError.missing {
            throw CommandError(status: .noInput, path: file, message: "no ledger that could be restored")
        }
    }
}

extension CommonOptions {
    /// Prints a line about a ledger, such as `ledger.sqlite: intact: 40 delivered, …`, unless `--quiet` is given.
    fileprivate func printLedger(_ view: LedgerView, _ state: String, today: Int) throws {
        let overview = try view.overview(today: today, knowing: Systems.table)
        let report = StatusReport(overview: overview, shownClients: [], now: SystemClock.now)
        if json {
            var object = report.json
            object.set("ledger", view.path)
            object.set("jobs", try view.jobNumber())
            try JSONResult.print(object, as: .ledger)
        } else if !quiet {
            try Terminal.print("\(view.path): \(state): \(report.summaryLine)")
        }
    }
}
