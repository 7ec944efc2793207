import ArgumentParser
import Bundle
import Bytes
import Console
import Delivery
import Essentials
import Files
import Systems
import Telemetry

/// The options of all commands except `receipt`.
struct CommonOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Print nothing on success, and otherwise one line instead of tables.")
    var quiet = false

    @Flag(help: "Print the result as JSON.")
    var json = false

    /// Throws an error if `bundles` contains `-`, because bundles are read repeatedly and standard input only once.
    static func rejectStandardInput(in bundles: [String]) throws {
        guard !bundles.contains("-") else {
            throw ValidationError(
                "bundles cannot be read from standard input, because they are read repeatedly; specify a file")
        }
    }

    /// Verifies the bundles at `paths`, and shows the progress on the terminal unless `isQuiet` is `true`.
    static func verifyBundles(
        at paths: [String], signedBy signers: AllowedSigners? = nil, keepsGoing: Bool = false, isQuiet: Bool,
        isReleased: @escaping @Sendable (_ id: String, _ code: String) -> Bool
    ) async throws -> VerifiedBundles {
        let progress = ProgressLine("verifying", isQuiet: isQuiet)
        defer {
            progress.clear()
            // The plan consists of large blocks, which cannot reuse the memory that the verification has freed.
            SystemResources.releaseFreeMemory()
        }
        return try await VerifiedBundles(
            paths, knowing: Systems.table, signedBy: signers,
            limit: JobLimit(jobs: ProcessInfo.processInfo.activeProcessorCount), keepsGoing: keepsGoing,
            isReleased: isReleased
        ) { progress.add(bytes: $0) }
    }
}

/// The options for the path of the ledger and the time zone of its days.
struct LedgerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The ledger file. (default: pingferry/ledger.sqlite in $XDG_STATE_HOME or ~/.local/state)",
            valueName: "file"),
        completion: .file())
    var ledger: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file with options of send, one on each line: name, or name = value. Other commands use ledger and timezone.",
            valueName: "file"), completion: .file())
    var config: [String] = []

    @Option(help: ArgumentHelp("The time zone of the daily limit, such as Europe/Berlin.", valueName: "name"))
    var timezone = "UTC"

    var dayRule: DayRule { SystemTimezone.dayRule(forZone: timezone) ?? .utc }

    /// The current day.
    var today: Int { dayRule.day(of: SystemClock.now) }

    func validate() throws {
        // A file called --ledger=x would otherwise select another ledger if a shell expands a pattern to its name.
        guard config.count < 2 else { throw ValidationError("--config is given more than once") }
        guard ledger.count < 2 else {
            throw ValidationError("--ledger is given more than once; write ./*.tar.zst if this is the name of a file")
        }
        guard SystemTimezone.dayRule(forZone: timezone) != nil else {
            throw ValidationError(
                "--timezone must be UTC or a name in this machine's tzdata, such as Europe/Berlin, not \(timezone)")
        }
    }

    /// Returns the path from the option `--ledger`, or the default path in the user's folder for state files.
    func path() throws -> String {
        if let ledger = ledger.first { return ledger }
        return try CommandFiles.statePath(
            of: "ledger.sqlite", "--ledger", environment: ProcessInfo.processInfo.environment)
    }

    /// Adds the ledger, its lock file, and the files that SQLite creates beside it to the files of a command.
    func add(to files: inout CommandFiles) throws {
        files.read(config)
        let given = try path()
        let path = RealPath.of(given) ?? given
        // Opening a file that is not a ledger changes nothing. The files beside it are replaced without a check.
        files.read([path])
        files.update("--ledger", [".lock", "-journal", "-shm", "-wal"].map { path + $0 })
        files.update("--ledger", AtomicOutput.replacedPaths(of: JobCounter.path(ofLedger: path)))
    }

    func openLedger(mustExist: Bool, isRehearsal: Bool = false) throws -> Ledger {
        try Ledger(path: try path(), now: SystemClock.now, mustExist: mustExist, isRehearsal: isRehearsal)
    }
}

/// The options that limit the number of uploads.
struct LimitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The maximum number of uploads a day, or unlimited.", valueName: "n"))
    var dailyLimit = CountLimit(maximumCount: DocumentedLimits.dailyUploads)

    @Option(help: ArgumentHelp("The maximum number of uploads of one type in a job, or unlimited.", valueName: "n"))
    var perTypeLimit = CountLimit(maximumCount: DocumentedLimits.uploadsOfTypeInJob)

    @Option(
        help: ArgumentHelp("Whether the limits apply to each client or to the whole job.", valueName: "scope"))
    var limitScope = UploadLimits.Scope.client

    @Option(
        help: ArgumentHelp("Do not send records that are older than this, such as 30d, 12h or 90m.", valueName: "age"))
    var maxAge: Age?

    func rules(dayRule: DayRule) -> PlanRules {
        PlanRules(
            limits: UploadLimits(daily: dailyLimit.maximumCount, perType: perTypeLimit.maximumCount, scope: limitScope),
            maximumAge: maxAge?.milliseconds, days: dayRule)
    }
}

extension UploadLimits.Scope: ExpressibleByArgument {}

/// The value of an option that limits a number: a maximum, or `unlimited`.
struct CountLimit: ExpressibleByArgument, CustomStringConvertible {
    /// The maximum, or `nil` if the number is unlimited.
    let maximumCount: Int?

    init(maximumCount: Int?) { self.maximumCount = maximumCount }

    init?(argument: String) {
        if argument == "unlimited" {
            maximumCount = nil
        } else {
            guard let number = Int(argument), number >= 0 else { return nil }
            maximumCount = number
        }
    }

    var description: String { maximumCount.map(String.init) ?? "unlimited" }
    var defaultValueDescription: String { description }
}

/// A period of time, written as a number of days, hours or minutes followed by `d`, `h` or `m`.
struct Age: ExpressibleByArgument {
    let milliseconds: Int64

    init?(argument: String) {
        let units: [Character: Int64] = ["d": 86_400_000, "h": 3_600_000, "m": 60_000]
        guard let unit = argument.last.flatMap({ units[$0] }), let number = Int64(argument.dropLast()), number >= 0
        else { return nil }
        let (product, isTooLong) = number.multipliedReportingOverflow(by: unit)
        guard !isTooLong else { return nil }
        milliseconds = product
    }
}

/// A daily time window, written as `22:00-06:00`, which can include midnight.
struct TimeWindow: ExpressibleByArgument, CustomStringConvertible {
    let description: String
    /// The start and the end in seconds since midnight.
    private let start: Int
    private let end: Int

    init?(argument: String) {
        let times = argument.split(separator: "-", omittingEmptySubsequences: false).map { Self.seconds($0) }
        guard times.count == 2, let start = times[0], let end = times[1], start != end else { return nil }
        (self.start, self.end, description) = (start, end, argument)
    }

    private static func seconds(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy(\.isDigit) }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
        else { return nil }
        return (hour * 60 + minute) * 60
    }

    /// Returns the time from a second of the day to the end of the window, or `nil` if it is outside of the window.
    func secondsLeft(at second: Int) -> Int? {
        let day = 86_400
        let (length, elapsed) = ((end - start + day) % day, (second - start + day) % day)
        return elapsed < length ? length - elapsed : nil
    }
}
