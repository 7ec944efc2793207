import ArgumentParser
import Bundle
import Bytes
import Capture
import Console
import Essentials
import Files
import Systems
import Telemetry

/// The options of all commands that read captures or bundles.
struct CommonOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Print only errors.")
    var quiet = false

    @Flag(help: "Print a summary as JSON to standard output.")
    var json = false

    @Option(
        name: [.customShort("j", allowingJoined: true), .long],
        help: ArgumentHelp("The number of jobs that run at once. (default: one for each core)", valueName: "n"))
    var jobs: Int?

    var jobLimit: JobLimit { JobLimit(jobs: jobs ?? ProcessInfo.processInfo.activeProcessorCount) }

    /// The folder for temporary files, which is `/tmp` if the variable `TMPDIR` is not set or empty.
    static var temporaryFolder: String {
        let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? ""
        return folder.isEmpty ? "/tmp" : folder
    }

    func scanOptions(
        filter: RecordFilter, pseudonymizer: RecordPseudonymizer? = nil, quarantineFileLimit: Int = 64 << 20,
        reportsQueues: Bool = false, listsDroppedCopies: Bool = false, numberedSystems: SystemTable? = nil,
        rereadsQuarantine: Bool = false
    ) -> ScanOptions {
        var options = ScanOptions(
            filter: filter, pseudonymizer: pseudonymizer, quarantineFileLimit: quarantineFileLimit,
            copyFolder: Self.temporaryFolder, reportsQueues: reportsQueues, listsDroppedCopies: listsDroppedCopies,
            numberedSystems: numberedSystems, systems: Systems.table)
        options.rereadsQuarantine = rereadsQuarantine
        return options
    }

    func progress(of reader: CaptureReader) -> ProgressLine {
        ProgressLine("reading", total: reader.byteCount, isQuiet: quiet)
    }

    /// Reads all inputs, passes records to `keep` and other findings to `note`, and shows a progress line.
    func read(
        _ reader: CaptureReader, listing: StoreListing,
        keep: (borrowing ScanOutput.Entry, ArraySlice<UInt8>, ArraySlice<UInt8>) throws -> Void,
        note: (Intake.Finding) -> Void = { _ in }, afterOutput: () async throws -> Void = {}
    ) async throws -> Intake {
        let progress = progress(of: reader)
        defer { progress.clear() }
        var listing = listing
        var intake = Intake(reader.options, keepsDetails: false, systems: Systems.table)
        try await reader.read(
            into: &intake,
            keep: { entry, line, payload in
                listing.count(entry)
                try keep(entry, line, payload)
            },
            note: { finding in
                listing.note(finding)
                note(finding)
            }, progress: { progress.add(bytes: $0, records: $1) }, afterOutput: afterOutput)
        progress.clear()
        listing.print()
        // A part of a chain can be read on purpose, so that this is no error.
        for fault in quiet ? [] : intake.missingParents { StandardError.write("pingferry: \(fault)") }
        return intake
    }

    func validate() throws {
        if let jobs, !(1...256).contains(jobs) { throw ValidationError("--jobs requires a number from 1 to 256") }
    }
}

/// The inputs of the commands that read captures.
struct InputOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            """
            Captures: folders copied from a device, backups of a device, archives of these (zip, tar, 7z, cpio), HAR \
            files, sessions of Charles or Fiddler, NDJSON files, single store files, or bundles; - is standard input.
            """, valueName: "path"), completion: .file())
    var paths: [String]

    @Option(
        help: ArgumentHelp(
            """
            The name of the capture in records, given once for each path in the same order. (default: the last \
            component of the path, with as many parent folders as are needed to make it unique)
            """, valueName: "name"))
    var label: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            The maximum size, in MiB, of temporary copies of archive members and backup manifests in TMPDIR, and of the \
            tables that a report counts.
            """, valueName: "mib"))
    var spoolLimit = InputLimits.spoolSize >> 20

    @Flag(
        name: .shortAndLong,
        help: "Print a line for each input and each store to standard error, but none with --pseudonymize.")
    var verbose = false

    /// Returns the listing that `--verbose` requests.
    func storeListing(of reader: CaptureReader) -> StoreListing {
        // With pseudonyms, nothing is printed from which the origin of the data could be seen.
        StoreListing(reader, isPrinted: verbose && reader.options.pseudonymizer == nil)
    }

    /// The paths of the inputs, including the volumes and signatures of bundles and the journals of databases.
    var allPaths: [String] { paths.filter { $0 != "-" }.flatMap(Self.allPaths) }

    private static func allPaths(ofInputAt path: String) -> [String] {
        BundleFile.allPaths(ofBundleAt: path) + DatabaseCompanions(of: path).existingPaths
    }

    /// The temporary storage for archive members, which uses no disk space until the first member is stored.
    private var spool: Spool { Spool(folder: CommonOptions.temporaryFolder, byteLimit: spoolLimit << 20) }

    /// Returns an opener of the inputs, except for the files in `excluded`, which are outputs of the command.
    func opener(
        _ limit: JobLimit, _ backups: PasswordOptions, isQuiet: Bool, excluded: Set<FileIdentity> = [],
        salvages: Bool = false, hashes: InputHashes? = nil, listsInventory: Bool = false
    ) throws -> InputOpener {
        InputOpener(
            labels: label, systems: Systems.table, limit: limit, excluded: excluded,
            salvagesDamagedBundles: salvages, spool: spool, passwords: try backups.passwords(isQuiet: isQuiet),
            hashes: hashes, listsInventory: listsInventory)
    }

    func validate() throws {
        try Self.checkStandardInput(in: paths)
        try checkLabels()
        guard (0...(1 << 30)).contains(spoolLimit) else {
            throw ValidationError("--spool-limit requires a number of MiB from 0 to \(1 << 30)")
        }
    }

    private func checkLabels() throws {
        guard label.isEmpty || label.count == paths.count else {
            let (labels, paths) = (label.count.counted("label"), paths.count.counted("path"))
            throw ValidationError(
                "\(labels) for \(paths): use --label once for each path in the same order, or not at all")
        }
        var seen: Set<CapturedText> = []
        for name in label where !seen.insert(name) {
            throw ValidationError("--label \(name) is repeated: labels must be unique")
        }
    }

    /// Throws a usage error if more than one of `paths` is `-`, which stands for standard input.
    static func checkStandardInput(in paths: [String]) throws {
        guard paths.count(where: { $0 == "-" }) <= 1 else {
            throw ValidationError("standard input can be used only once")
        }
    }
}

/// The option of commands that can read the quarantine of bundles again.
struct QuarantineOptions: ParsableArguments {
    @Flag(
        help: """
            Read the quarantined items of bundles again. What is understood now becomes records, the rest stays in \
            quarantine.
            """)
    var rereadQuarantine = false
}

/// The options that select records.
struct FilterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Select records of this system: \(Systems.table.nameList). (repeatable)", valueName: "name"),
        completion: .list(Systems.table.names.map(\.description)))
    var system: [String] = []

    @Option(help: ArgumentHelp("Select records of this type, such as focus-event. (repeatable)", valueName: "type"))
    var type: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Select records queued at this time or later: an RFC 3339 time, or a date, which means midnight UTC. \
            Records without a time are omitted and counted.
            """, valueName: "time"))
    var since: String?

    @Option(
        help: ArgumentHelp(
            "Select records queued before this time. Records without a time are omitted and counted.", valueName: "time"
        )
    )
    var until: String?

    @Option(help: ArgumentHelp("Select records of this client, regardless of case. (repeatable)", valueName: "id"))
    var client: [String] = []

    @Flag(help: "Select records that can be uploaded.")
    var uploadable = false

    func filter() throws -> RecordFilter {
        var filter = RecordFilter()
        filter.systems = Set(
            try system.map { name in
                guard let system = Systems.table.name(name) else {
                    throw ValidationError("--system requires one of \(Systems.table.nameList)")
                }
                return system
            })
        filter.types = Set(type.map { CapturedText($0) })
        filter.since = try Self.time(since, "--since")
        filter.until = try Self.time(until, "--until")
        filter.clients = Set(client.map { ClientID($0) })
        filter.uploadableOnly = uploadable
        return filter
    }

    /// Parses `text`, the value of `option`, as a time, or returns `nil` if `text` is `nil`.
    static func time(_ text: String?, _ option: String) throws -> Timestamp? {
        guard let text else { return nil }
        guard let time = Timestamp(rfc3339: text) else {
            throw ValidationError("\(option) requires a date such as 2018-05-24 or a time such as 2018-05-24T12:00:00Z")
        }
        return time
    }

    func validate() throws { _ = try filter() }
}
