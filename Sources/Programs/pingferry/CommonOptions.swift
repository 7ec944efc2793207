import ArgumentParser
import Capture
import Console
import FoundationEssentials
import Parallel
import Systems
import Telemetry

/// The options of every command.
struct CommonOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Say nothing but what went wrong.")
    var quiet = false

    @Flag(help: "Print a summary for machines on standard output.")
    var json = false

    @Option(
        name: [.customShort("j", allowingJoined: true), .long],
        help: ArgumentHelp("How many jobs run at once. (default: one for each core)", valueName: "n"))
    var jobs: Int?

    var limit: JobLimit { JobLimit(jobs: jobs ?? ProcessInfo.processInfo.activeProcessorCount) }

    /// Where files without names are made.
    static var temporaryFolder: String { ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp" }

    /// Returns the options for reading captures with this command.
    func scanOptions(
        filter: RecordFilter, pseudonymizer: RecordPseudonymizer? = nil, quarantineFileLimit: Int = 64 << 20,
        reportsQueues: Bool = false
    ) -> ScanOptions {
        var generator = SystemRandomNumberGenerator()
        return ScanOptions(
            secret: RunSecret(using: &generator), filter: filter, pseudonymizer: pseudonymizer,
            quarantineFileLimit: quarantineFileLimit, copyFolder: Self.temporaryFolder, reportsQueues: reportsQueues)
    }

    /// Returns a progress line for reading inputs.
    func progress(of reader: CaptureReader) -> ProgressLine {
        ProgressLine("reading", total: reader.byteCount, isQuiet: quiet)
    }

    /// Reads all inputs, with a progress line.
    ///
    /// - Parameters:
    ///   - keep: Called for each record that is kept, with its line and the part of the line that is its payload.
    ///   - note: Called for each other finding.
    ///   - afterOutput: Called after each step of the reading, in which many records or none may have been kept.
    /// - Throws: `InputError`, and the errors of `keep` and `afterOutput`.
    func read(
        _ reader: CaptureReader,
        keep: (borrowing ScanOutput.Entry, ArraySlice<UInt8>, ArraySlice<UInt8>) throws -> Void,
        note: (Intake.Finding) -> Void = { _ in }, afterOutput: () async throws -> Void = {}
    ) async throws -> Intake {
        let progress = progress(of: reader)
        defer { progress.clear() }
        var intake = Intake(reader.options, keepsDetails: false, systems: Systems.table)
        try await reader.read(
            into: &intake, keep: keep, note: note, progress: { progress.add(bytes: $0, records: $1) },
            afterOutput: afterOutput)
        return intake
    }

    func validate() throws {
        if let jobs, !(1...256).contains(jobs) { throw ValidationError("--jobs takes a number from 1 to 256") }
    }
}

/// The inputs of the commands that read captures.
struct InputOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            """
            Captures: folders pulled from a device, backups of it, archives of either (zip, tar, 7z, cpio), HAR files, \
            NDJSON files, single store files, or bundles; - is standard input.
            """, valueName: "path"), completion: .file())
    var paths: [String]

    @Option(
        help: ArgumentHelp(
            """
            What records name the capture; given once for each path, in their order. Otherwise the last part of its path, \
            or as much of the path as tells it from the others.
            """, valueName: "name"))
    var label: [String] = []

    @Option(
        help: ArgumentHelp(
            "The most MiB of archives and of manifests of backups that are held on disk, in TMPDIR, while they are read.",
            valueName: "mib"))
    var spoolLimit = 16384

    /// Where members of archives are held. It takes no room before the first of them.
    var spool: Spool {
        Spool(folder: CommonOptions.temporaryFolder, limit: spoolLimit << 20)
    }

    func validate() throws {
        try Self.checkStandardInput(in: paths)
        try checkLabels()
        guard (0...(1 << 30)).contains(spoolLimit) else {
            throw ValidationError("--spool-limit takes a number of MiB, at most \(1 << 30)")
        }
    }

    private func checkLabels() throws {
        guard label.isEmpty || label.count == paths.count else {
            let (labels, paths) = (Summary.count(label.count, "label"), Summary.count(paths.count, "path"))
            throw ValidationError(
                "\(labels) for \(paths): give --label once for each path, in their order, or not at all")
        }
        var seen: Set<String> = []
        for name in label where !seen.insert(name).inserted {
            throw ValidationError("--label \(name) is given twice: labels tell the inputs apart")
        }
    }

    /// Refuses paths of which two are the standard input: there is nothing left for the second.
    static func checkStandardInput(in paths: [String]) throws {
        guard paths.count(where: { $0 == "-" }) <= 1 else {
            throw ValidationError("standard input can be given once only")
        }
    }
}

/// Which records are wanted.
struct FilterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Only records of this system: \(Systems.table.nameList). (repeatable)", valueName: "name"),
        completion: .list(Systems.table.names.map(\.description)))
    var system: [String] = []

    @Option(help: ArgumentHelp("Only records of this type, such as focus-event. (repeatable)", valueName: "type"))
    var type: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Only records queued at this time or later: an RFC 3339 time, or a date, which begins at midnight UTC. Records \
            without a time are left out and counted.
            """, valueName: "time"))
    var since: String?

    @Option(
        help: ArgumentHelp(
            "Only records queued before this time; records without a time are left out and counted.", valueName: "time")
    )
    var until: String?

    @Option(help: ArgumentHelp("Only this client's records, in either letter case. (repeatable)", valueName: "id"))
    var client: [String] = []

    @Flag(help: "Only records that may be uploaded as they stand.")
    var uploadable = false

    /// The filter that these options describe.
    func filter() throws -> RecordFilter {
        var filter = RecordFilter()
        filter.systems = Set(
            try system.map { name in
                guard let system = Systems.table.name(name) else {
                    throw ValidationError("--system takes one of \(Systems.table.nameList)")
                }
                return system
            })
        filter.types = Set(type)
        filter.since = try Self.time(since, "--since")
        filter.until = try Self.time(until, "--until")
        filter.clients = Set(client.map { $0.lowercased() })
        filter.uploadableOnly = uploadable
        return filter
    }

    /// The instant that an option names.
    static func time(_ text: String?, _ option: String) throws -> Timestamp? {
        guard let text else { return nil }
        guard let time = Timestamp(rfc3339: text) else {
            throw ValidationError("\(option) takes a date such as 2018-05-24 or a time such as 2018-05-24T12:00:00Z")
        }
        return time
    }

    func validate() throws { _ = try filter() }
}
