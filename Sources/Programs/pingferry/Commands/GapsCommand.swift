import ArgumentParser
import Bundle
import Capture
import Console
import Export
import Files
import Systems
import Telemetry

/// The command `gaps`, which reports missing and repeated sequence numbers.
struct GapsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gaps",
        abstract: "Report missing and repeated sequence numbers.",
        discussion: """
            Clients of \(numberedSystems) number their uploads. For each client, system and type, gaps shows which \
            numbers are missing between those present, between which times, and which numbers several different \
            records have. A missing number is an upload that was lost, or that the device sent itself.
              pingferry gaps monday.tar.zst tuesday.tar.zst phone-7/

            If the number falls back to the start while time goes on, the sequence restarts, for example because the \
            app was installed again. Each run of numbers between restarts is examined separately.

            --expect compares the numbers with those that a server has: FILE is NDJSON, or CSV with a header, with the \
            columns system, client, type and seq. The result is which numbers the input adds, which neither has, and \
            which only the server has. Runs are not distinguished, because the list has no times.
              pingferry gaps --expect server.csv monday.tar.zst

            The filters select the records that are examined, so --uploadable makes the numbers of held records \
            missing. Shows the \(GapListing.rowLimit) most notable lines of each list; --json shows all.

            The exit status is 0 whether or not numbers are missing.
            """)

    private static let numberedSystems = Systems.table.all.filter { $0.sequence != nil }.map(\.name.description)
        .joined(separator: ", ")

    @Option(
        help: ArgumentHelp(
            "Compare with the sequence numbers in a list, such as those that a server has received.",
            valueName: "file"), completion: .file())
    var expect: String?

    @Flag(help: "Read the intact parts of damaged bundles.")
    var salvage = false

    @OptionGroup var input: InputOptions
    @OptionGroup(title: "Encrypted backups") var backups: PasswordOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws {
        guard expect != nil else { return }
        for (option, isUsed) in [
            ("--since", filters.since != nil), ("--until", filters.until != nil), ("--uploadable", filters.uploadable),
        ] where isUsed {
            throw ValidationError("\(option) cannot be used with --expect, because the list contains only numbers")
        }
    }

    func run() async throws {
        try await reportingErrors {
            let filter = try filters.filter()
            var clients = ClientIndex()
            var sequences = SequenceIndex(Systems.table)
            var list: ListCounts?
            if let expect { list = try Self.read(expect, matching: filter, into: &sequences, &clients) }
            let limit = common.jobLimit
            let opening = InputOpener(
                labels: input.label, systems: Systems.table, limit: limit, excluded: [],
                salvagesDamagedBundles: salvage, spool: input.spool,
                passwords: try backups.passwords(isQuiet: common.quiet))
            let reader = CaptureReader(
                try await opening.open(input.paths), paths: input.paths,
                options: common.scanOptions(filter: filter, numberedSystems: Systems.table), limit: limit)
            let intake = try await common.read(
                reader,
                keep: { entry, _, _ in
                    let record = entry.summary
                    let client = clients.number(of: record.client, system: record.system)
                    sequences.add(entry.sequenceNumber ?? .unnumbered, of: record, client: client)
                })
            let listing = GapListing(sequences, clients, list)
            let summary = Summary(intake, of: reader.options)
            if common.json {
                try summary.printJSON(streaming: "sequences", listing.forEachObject, listing.addTotals)
            } else if !common.quiet {
                try listing.printTables()
            }
            try summary.finish(isQuiet: common.quiet)
        }
    }

    /// The path of an expected list, and the number of its rows.
    struct ListCounts {
        let path: String
        var rowCount = 0
        /// The number of rows that the filter rejects.
        var rejectedCount = 0
    }

    private static let chunkSize = 1 << 20

    /// Adds the numbers in the expected list at `path` to `sequences`, except for rows that `filter` rejects.
    private static func read(
        _ path: String, matching filter: RecordFilter, into sequences: inout SequenceIndex, _ clients: inout ClientIndex
    ) throws -> ListCounts {
        var counts = ListCounts(path: path)
        sequences.compareWithExpectedNumbers()
        let file = ByteSource(try InputFile(path: path))
        var list = ExpectedList(Systems.table)
        func add(_ row: ExpectedList.Row) {
            counts.rowCount += 1
            guard filter.systems.isEmpty || filter.systems.contains(row.system),
                filter.types.isEmpty || filter.types.contains(row.type),
                filter.clients.isEmpty || filter.clients.contains(ClientID(row.client))
            else { return counts.rejectedCount += 1 }
            let client = clients.number(of: row.client, system: row.system)
            sequences.add(expected: row.number, client: client, type: row.type)
        }
        do {
            var offset = 0
            while offset < file.count {
                let bytes = try file.bytes(at: offset, count: min(chunkSize, file.count - offset))
                guard !bytes.isEmpty else { break }
                try list.read(bytes.span, add)
                offset += bytes.count
            }
            try list.finish(add)
            guard try file.isUnchanged(), offset == file.count else {
                throw CommandError(
                    status: .inputOutput, message: "\(path): changed while it was read", remedy: "run the command again"
                )
            }
        } catch let error as ExpectedListError {
            throw CommandError(
                status: .badData, message: "\(path): \(error)",
                remedy: """
                    pass NDJSON, or CSV with a header, with the columns system, client, type and seq; the numbered \
                    systems are \(numberedSystems)
                    """)
        }
        return counts
    }
}
