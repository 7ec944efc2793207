import ArgumentParser
import Bundle
import Bytes
import Capture
import Console
import Export
import Files
import JSONText
import Systems
import Telemetry

/// The command `convert`, which writes the records of captures as NDJSON, tables, a timeline or rows of live tables.
struct ConvertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Write the records of captures as NDJSON, tables or a timeline.",
        discussion: """
            The name of the output selects the format, unless --to does:
              ndjson      one record per line; any other name
              sqlite      a database with tables: NAME.sqlite, NAME.sqlite3, NAME.db
              csv         a folder with one file per table: NAME.csv, NAME/
              parquet     a folder with one file per table, with typed columns: NAME.parquet
              timesketch  a timeline for Timesketch: NAME.timeline.jsonl
              bigquery    a folder with rows of live tables in BigQuery; only with --to

              pingferry convert -o phone.sqlite phone/
              sqlite3 phone.sqlite 'SELECT * FROM events_per_day'
              pingferry convert -o phone.csv phone/
              (cd phone.csv && duckdb ../phone.duckdb < load.sql)
              pingferry convert -o - --payload-only --type core phone/ | jq .durations

            DuckDB does not distinguish keys that differ only in case, such as those of searches. Name the columns, \
            and read nested values as JSON:
              SELECT "time", payload->'$.searches' FROM read_ndjson('records.ndjson',
              columns = {type: 'VARCHAR', "time": 'TIMESTAMP', payload: 'JSON'})
              WHERE type = 'core';

            Tables: \(tableNames). \
            Views in SQLite: \(viewNames).

            A CSV or Parquet folder contains the script load.sql, with which DuckDB loads the tables with their types, \
            the views, and the meanings of the columns as comments. It also contains datapackage.json, a description of the \
            files for the tools of Frictionless Data. For a database, --datasette-metadata writes the meanings for Datasette:
              pingferry convert -o phone.sqlite --datasette-metadata metadata.json phone/
              datasette phone.sqlite --metadata metadata.json

            Spreadsheet programs evaluate text that begins with =, +, - or @ as a formula, also after a semicolon or a \
            line end within text if they do not split columns at commas. --spreadsheet prevents this by apostrophes, \
            which are then part of the data, and by quotation marks around all text. It also adds a byte order mark, without \
            which programs may not recognize UTF-8, and truncates text to 32,767 characters, the maximum of a cell. Such text \
            ends with a mark, and is counted.

            --labels adds the documented meanings of events to NDJSON, such as "labels":["Erase button clicked",null] \
            for two events, the second of which is not documented. Tables and timelines always contain labels.

            With some SDKs, apps define their own events and metrics. \
            --\(EventDefinitions.optionName) reads their definitions: labels are then the first sentences of descriptions, \
            the table metrics has units and descriptions, and the table metric_definitions has all definitions.
              \(EventDefinitions.command) > app.json
              pingferry convert --\(EventDefinitions.optionName) app.json -o phone.sqlite phone/

            An output whose name ends in .zst is compressed. --salvage reads the intact parts of a damaged bundle. A \
            record that no checksum verifies is held as unproven.

            --segments is for workers that share one bundle: each worker reads only some of its segments. list --json \
            shows the segments with their numbers of records. All parts together contain the records of the whole \
            bundle, in order. The part with the last segment also contains the quarantine and the problems. Row \
            numbers in tables start from 1 in each part.
              pingferry convert --segments 3-4 -o part-2.csv monday.tar.zst

            --to bigquery writes pings as the rows that their ingestion pipeline would write to its live tables, such as \
            telemetry.core_v7, so that one query covers live and captured pings. --schemas names a copy of the branch \
            generated-schemas of the pipeline's schemas, or of its folder schemas. Each \
            table has a file of rows and its schema, and README.txt shows the commands for bq and DuckDB. Held records \
            are omitted without --held. Records that the pipeline would refuse, and records without a schema, are \
            counted; the exit status is then 1. --deliveries reads the times of deliveries from receipts.
              pingferry convert --to bigquery --schemas schemas/ -o rows/ phone/
              pingferry-upload receipt --receipt-records -o week.json monday.tar.zst
              pingferry convert --to bigquery --schemas schemas/ --deliveries week.json -o rows/ monday.tar.zst

            --pseudonymize makes data that is safe to share: ids become pseudonyms, and names, addresses, positions \
            and free text are omitted and counted. Such records are held as pseudonymized and are never uploaded. If \
            several recipients could compare their data, use a different key for each, and --coarsen-times day, \
            because exact times show which records are the same. Records are in the order of their pseudonyms. Rare \
            combinations of kept values, such as those in the table clients, still occur only once.
              pingferry convert --pseudonymize key --coarsen-times day -o a.sqlite phone/
            """)

    private static let tableNames = ExportTables(Systems.table).all.map(\.name).joined(separator: ", ")
    private static let viewNames = ExportTables.views.map(\.name).joined(separator: ", ")

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The output: a file, a folder, a pipe, or - for standard output.", valueName: "file"),
        completion: .file())
    var output: String

    @Option(
        help: ArgumentHelp(
            """
            The format: \(ConvertFormat.allCases.map(\.rawValue).joined(separator: ", ")). (default: selected by the name \
            of the output)
            """, valueName: "format"))
    var to: ConvertFormat?

    @Flag(help: "Write only the payload of each record, in its documented format.")
    var payloadOnly = false

    @Flag(help: "Add a key labels with the documented meaning of each event, or null for an undocumented one.")
    var labels = false

    @Flag(
        help: """
            Write CSV for a spreadsheet: begin with a byte order mark, quote all text, put an apostrophe before each part \
            of it that resembles a formula, and truncate text to 32,767 characters.
            """)
    var spreadsheet = false

    @Option(
        help: ArgumentHelp(
            """
            Also write the meanings of the tables and columns of a database to this file, which datasette reads with \
            --metadata.
            """, valueName: "file"), completion: .file(extensions: ["json"]))
    var datasetteMetadata: String?

    @OptionGroup(title: "Rows of live tables (--to bigquery)") var liveTables: LiveTableOptions

    @Flag(help: "Replace an existing output.")
    var force = false

    @Flag(help: "Read the intact parts of damaged bundles.")
    var salvage = false

    @Option(
        help: ArgumentHelp(
            "Read only these segments of a bundle, counted from 1: 2-5, 2- (to the last one), or 2.",
            valueName: "range"))
    var segments: SegmentRange?

    @OptionGroup var definitions: DefinitionOptions
    @OptionGroup var input: InputOptions
    @OptionGroup(title: "Encrypted backups") var backups: PasswordOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup(title: "Pseudonyms") var pseudonyms: PseudonymOptions
    @OptionGroup var quarantine: QuarantineOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws {
        if common.json, isStandardOutput {
            throw ValidationError("--json and -o \(output) both use standard output")
        }
        if payloadOnly, pseudonyms.pseudonymize != nil {
            throw ValidationError(
                "--payload-only cannot be used with --pseudonymize, because payloads cannot be marked as not uploadable"
            )
        }
        if segments != nil {
            guard input.paths.count == 1 else { throw ValidationError("--segments requires exactly one bundle") }
            if salvage { throw ValidationError("--salvage cannot be used with --segments") }
        }
        if spreadsheet, format != .csv {
            throw ValidationError("--spreadsheet requires CSV, and cannot be used with \(format.rawValue)")
        }
        if !definitions.paths.isEmpty, format == .ndjson, !labels {
            throw ValidationError("--\(EventDefinitions.optionName) requires --labels, tables or a timeline")
        }
        if datasetteMetadata != nil, format != .sqlite {
            throw ValidationError(
                "--datasette-metadata requires SQLite, and cannot be used with \(format.rawValue)")
        }
        if let metadata = datasetteMetadata, metadata == "-" || StandardOutput.isNamed(by: metadata) {
            throw ValidationError("--datasette-metadata must be a file, not \(metadata)")
        }
        try liveTables.validate(for: format, isPseudonymized: pseudonyms.pseudonymize != nil)
        if labels, payloadOnly { throw ValidationError("--labels cannot be used with --payload-only") }
        if to == nil, let suggestion = OutputName.suggestedExtension(for: output) {
            throw ValidationError(
                "\(output): did you mean \(suggestion)? Use --to to select the format for any other name")
        }
        if output.hasSuffix(".zst"), format != .ndjson || ConvertFormat(name: String(output.dropLast(4))) == .timesketch
        {
            throw ValidationError("\(output): only NDJSON can be compressed. Remove .zst from the name")
        }
        guard format != .ndjson else { return }
        if payloadOnly {
            throw ValidationError("--payload-only requires NDJSON, and cannot be used with \(format.rawValue)")
        }
        if isStandardOutput, !format.isStream {
            throw ValidationError(
                "\(format.rawValue) must be written to a \(format.isFolder ? "folder" : "file"), not to \(output)")
        }
    }

    private var format: ConvertFormat { to ?? ConvertFormat(name: output) }

    private var isStandardOutput: Bool { output == "-" || StandardOutput.isNamed(by: output) }

    func run() async throws {
        try await reportingErrors {
            try checkFiles()
            let pseudonymizer = try pseudonyms.pseudonymizer()
            let systems = try definitions.systems()
            OutputLocation.warnIfInsideCapture(output, inputs: input.paths, isQuiet: common.quiet)
            switch format {
            case .ndjson: try await writeRecords(systems, pseudonymizer)
            case .sqlite: try await writeTables(.sqlite, systems, pseudonymizer)
            case .csv: try await writeTables(spreadsheet ? .csvForSpreadsheets : .csv, systems, pseudonymizer)
            case .parquet:
                try await writeTables(
                    .parquet(creator: "pingferry version \(ProgramVersion.number)"), systems, pseudonymizer)
            case .timesketch:
                try await writeTables(
                    .timeline(try openOutput(), spoolFolder: CommonOptions.temporaryFolder), systems, pseudonymizer)
            case .bigquery: try await writeLiveTables()
            }
        }
    }

    private func checkFiles() throws {
        var files = CommandFiles()
        files.read(
            input.allPaths + backups.passwordFile + definitions.paths
                + [pseudonyms.pseudonymize].compactMap(\.self))
        files.read(liveTables.paths)
        let companions = format == .sqlite ? DatabaseCompanions(of: output).paths : []
        files.read(OutputLocation.filesOfCaptures(among: [output] + companions, inputs: input.paths))
        if !isStandardOutput {
            let replaced =
                format.isFolder ? AtomicFolder.replacedPaths(of: output) : AtomicOutput.replacedPaths(of: output)
            files.write("--output", replaced + companions)
        }
        if let datasetteMetadata {
            files.read(OutputLocation.filesOfCaptures(among: [datasetteMetadata], inputs: input.paths))
            files.write("--datasette-metadata", AtomicOutput.replacedPaths(of: datasetteMetadata))
        }
        try files.check()
    }

    private func openOutput() throws -> CommandOutput {
        try CommandOutput(path: isStandardOutput ? "-" : output, replacing: force)
    }

    /// Opens the inputs, except for the files in `excluded`, which are outputs of this command.
    private func reader(
        excluded: Set<FileIdentity>, _ pseudonymizer: RecordPseudonymizer?, reportsQueues: Bool = false,
        listsDroppedCopies: Bool = false
    ) async throws -> CaptureReader {
        let limit = common.jobLimit
        let opening = try input.opener(
            limit, backups, isQuiet: common.quiet, excluded: excluded, salvages: salvage)
        let selection = try segments.map { try openSegments($0, opening) }
        let inputs =
            if let selection { [CaptureInput.bundle(selection.bundle)] } else { try await opening.open(input.paths) }
        return CaptureReader(
            inputs, paths: input.paths,
            options: common.scanOptions(
                filter: try filters.filter(), pseudonymizer: pseudonymizer, reportsQueues: reportsQueues,
                listsDroppedCopies: listsDroppedCopies, rereadsQuarantine: quarantine.rereadQuarantine),
            segments: selection?.indices, limit: limit)
    }

    /// Opens the bundle, and returns it with the indices of the selected segments.
    private func openSegments(
        _ segments: SegmentRange, _ opening: InputOpener
    ) throws -> (bundle: BundleReader, indices: Range<Int>) {
        guard let bundle = try opening.openSegments(of: input.paths[0]) else {
            throw ValidationError("--segments requires a bundle, but \(input.paths[0]) is not a bundle")
        }
        let count = bundle.manifest.segments.count
        guard let indices = segments.indices(ofSegments: count) else {
            throw ValidationError(
                "--segments \(segments) exceeds the bundle: \(bundle.path) has \(count.counted("segment"))")
        }
        return (bundle, indices)
    }

    // MARK: NDJSON

    private func writeRecords(_ systems: SystemTable, _ pseudonymizer: RecordPseudonymizer?) async throws {
        let file = try openOutput()
        let reader = try await reader(excluded: file.identities, pseudonymizer)
        var records = try RecordsOutput(
            payloadOnly ? .payload : .record, isCompressed: output.hasSuffix(".zst")
        ) { try file.write($0) }
        var labeler = labels ? EventLabeler(systems) : nil
        let intake = try await common.read(reader, listing: input.storeListing(of: reader)) { entry, line, payload in
            guard let labeled = labeler?.labeled(line: line, payload: payload, of: entry.summary) else {
                return try records.add(line: line, payload: payload)
            }
            try records.add(line: labeled[...], payload: payload)
        }
        try records.finish()
        try file.commit()
        try report(Summary(intake, of: reader.options))
    }

    // MARK: Tables

    private func writeTables(
        _ format: TableExport.Format, _ systems: SystemTable, _ pseudonymizer: RecordPseudonymizer?
    ) async throws {
        let limit = common.jobLimit
        let companions = self.format == .sqlite ? DatabaseCompanions(of: output) : nil
        if !force { try companions?.requireAbsence() }
        var export = try TableExport(
            format, path: output, replacing: force, systems: systems,
            coverage: segments == nil ? .complete : .segments, limit: limit)
        let metadata = try datasetteMetadata.map { try CommandOutput(path: $0, replacing: force) }
        // With pseudonyms, stores are omitted, because their names and facts would reveal the origin of the data.
        let listsStores = pseudonymizer == nil && self.format != .timesketch
        let reader = try await reader(
            excluded: export.identities.union(metadata?.identities ?? []), pseudonymizer, reportsQueues: listsStores,
            listsDroppedCopies: self.format != .timesketch && pseudonymizer == nil)
        var stores = listsStores ? ScanReport(reader.inputs, paths: input.paths, at: nil) : nil
        addOptions(of: reader.options, to: &export)
        // With pseudonyms, names and digests are omitted because they would reveal the origin of the data.
        for (number, input) in reader.inputs.enumerated() where pseudonymizer == nil {
            export.add(meta: "input.\(number + 1)", input.label(path: self.input.paths[number]))
            guard case .bundle(let bundle) = input else { continue }
            export.add(meta: "digest.\(number + 1)", bundle.manifest.digest)
            Self.addInputs(of: bundle.manifest.inputs, number: "\(number + 1)", to: &export)
        }
        let intake = try await common.read(
            reader, listing: input.storeListing(of: reader),
            keep: { entry, line, payload in
                stores?.count(entry)
                export.add(entry.summary, line: line, payload: payload)
            },
            note: { finding in
                stores?.note(finding)
                switch finding {
                case .quarantined(let item, _): if pseudonymizer == nil { export.add(item) }
                case .problem(let problem): if pseudonymizer == nil { export.add(problem) }
                case .app: break
                }
            }, afterOutput: { try await export.writeFinishedRows() })
        stores?.finish(intake)
        if let stores { try export.add(stores.exportedStores) }
        try intake.forEachDroppedCopy { try export.add($0, keptNumber: $1) }
        export.add(meta: "duplicates", "\(intake.duplicateCount)")
        let counts = try await export.finish()
        try companions?.remove()
        if let metadata {
            // Datasette names a database like its file, without the extension.
            let name = Path.lastName(of: output)
            let stem = name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
            try metadata.write(DatasetteMetadata.bytes(forDatabaseNamed: stem, systems: Systems.table).span)
            try metadata.commit()
        }
        try report(
            Summary(intake, of: reader.options), counts, rowsWithoutTime: export.untimedRowCount,
            truncatedCellCount: export.truncatedCellCount)
    }

    /// Adds the version of the program and the options that affect the rows to the table `meta`.
    private func addOptions(of options: ScanOptions, to export: inout TableExport) {
        export.add(meta: "tool", "pingferry \(ProgramVersion.number)")
        export.add(meta: "tables", "\(ExportTables.schemaVersion)")
        if let segments { export.add(meta: "segments", segments.description) }
        if salvage { export.add(meta: "salvage", "yes") }
        if spreadsheet { export.add(meta: "spreadsheet", "yes") }
        var filters = BundleFilters(options.filter)
        if let pseudonymizer = options.pseudonymizer {
            export.add(meta: "pseudonym_key", pseudonymizer.keyID)
            if let unit = pseudonymizer.timeUnit { export.add(meta: "times", unit.rawValue) }
            filters = filters?.withoutClientIDs
        }
        if let filters { export.add(meta: "filters", String(decoding: filters.json.bytes, as: UTF8.self)) }
    }

    /// Adds the labels and the known hashes of the inputs of a bundle to the table `meta`.
    ///
    /// `number` is the number of the bundle, such as `2`, or `2.1` for a bundle that was an input of another one.
    private static func addInputs(of bundle: BundleInputs, number: String, to export: inout TableExport) {
        for (index, input) in bundle.entries.enumerated() {
            let number = "\(number).\(index + 1)"
            if let label = input.label { export.add(meta: "input.\(number)", label) }
            if let digest = input.digest { export.add(meta: "digest.\(number)", digest.hex) }
            if let hash = input.sha256 { export.add(meta: "sha256.\(number)", hash.hex) }
            if let inputs = input.inputs { addInputs(of: inputs, number: number, to: &export) }
        }
    }

    // MARK: Live tables

    private func writeLiveTables() async throws {
        var export = try liveTables.export(to: output, replacing: force, limit: common.jobLimit)
        let reader = try await reader(excluded: export.identities, nil)
        let intake = try await common.read(
            reader, listing: input.storeListing(of: reader),
            keep: { entry, line, payload in export.add(entry.summary, line: line, payload: payload) },
            afterOutput: { try await export.writeFinishedRows() })
        let counts = try await export.finish()
        try report(Summary(intake, of: reader.options), counts.rows, liveTables: counts)
        if liveTables.isIncomplete(counts) { throw ExitCode(ExitStatus.incomplete.rawValue) }
    }

    // MARK: The summary

    private func report(
        _ summary: Summary, _ rows: [CapturedText: Int]? = nil, rowsWithoutTime: Int = 0, truncatedCellCount: Int = 0,
        liveTables: LiveTableCounts? = nil
    ) throws {
        let isTimeline = format == .timesketch
        if common.json {
            try summary.printJSON(as: .convert) { object in
                object.set("to", format.rawValue)
                object.set("output", output)
                if let segments { object.set("segments", segments.description) }
                if isTimeline { object.set("withoutTime", rowsWithoutTime) }
                if spreadsheet { object.set("truncatedCells", truncatedCellCount) }
                if let rows, !isTimeline { object.set("rows", rows) }
                liveTables?.add(to: &object)
            }
        } else if !isStandardOutput, !common.quiet {
            let rows = liveTables.map { ", \($0.sentence)" } ?? ""
            try Terminal.print("wrote \(output): \(summary.sentence)\(rows)")
        }
        if let liveTables, !common.quiet { liveTables.printDetails() }
        if !isStandardOutput, !common.quiet, format == .ndjson, let warning = OutputName.warning(for: output) {
            StandardError.write("pingferry: \(warning)")
            StandardError.write("hint: use the extension .ndjson or .ndjson.zst")
        }
        if rowsWithoutTime > 0 {
            StandardError.write(
                "pingferry: \(rowsWithoutTime.counted("row")) without a time omitted from the timeline")
        }
        if truncatedCellCount > 0 {
            StandardError.write(
                "pingferry: \(truncatedCellCount.counted("cell")) truncated to \(TableExport.maximumCellLength) characters"
            )
            StandardError.write("hint: without --spreadsheet, CSV contains the whole text")
        }
        try summary.finish(isQuiet: common.quiet)
    }
}

extension CommandOutput: StreamSink {}

extension CaptureInput {
    /// Returns the label of the input in the metadata of the output.
    fileprivate func label(path: String) -> String {
        switch self {
        case .folder(let capture): capture.label
        case .log(let log): log.label
        case .bundle, .salvage: Path.lastName(of: path)
        }
    }
}

/// A format that `convert` writes.
enum ConvertFormat: String, ExpressibleByArgument, CaseIterable {
    case ndjson, sqlite, csv, parquet, timesketch, bigquery

    /// Creates the format that the file extension of `name` selects, or NDJSON for any other extension.
    init(name: String) {
        let extensions: [(ConvertFormat, [String])] = [
            (.sqlite, [".sqlite", ".sqlite3", ".db"]), (.parquet, [".parquet", ".parquet/"]), (.csv, [".csv", "/"]),
            (.timesketch, [".timeline.jsonl"]),
        ]
        self = extensions.first { $0.1.contains { name.hasSuffix($0) } }?.0 ?? .ndjson
    }

    /// Whether the format can be written to a pipe.
    var isStream: Bool { self == .ndjson || self == .timesketch }

    /// Whether the output is a folder.
    var isFolder: Bool { self == .csv || self == .parquet || self == .bigquery }
}

/// A range of segments numbered from 1, such as `2-5`, `2`, or `2-` for all segments from the second.
struct SegmentRange: ExpressibleByArgument, Equatable, CustomStringConvertible {
    let first: Int
    /// The number of the last segment, or `nil` for the end of the bundle.
    let last: Int?

    init?(argument: String) {
        let parts = argument.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = Self.number(parts[0]) else { return nil }
        self.first = first
        switch parts.count {
        case 1: last = first
        case 2 where parts[1].isEmpty: last = nil
        default:
            guard let last = Self.number(parts[1]), last >= first else { return nil }
            self.last = last
        }
    }

    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit), let number = Int(text), number > 0
        else { return nil }
        return number
    }

    var description: String { last == first ? "\(first)" : "\(first)-\(last.map(String.init) ?? "")" }

    /// Returns the range as indices into a bundle with `count` segments, or `nil` if the bundle has too few segments.
    func indices(ofSegments count: Int) -> Range<Int>? {
        let last = last ?? count
        return first <= count && last <= count ? first - 1..<last : nil
    }
}

/// A check whether the name of an output suggests a format other than the format that `convert` writes.
private enum OutputName {
    /// The names of formats other than NDJSON, by file extension.
    private static let otherFormats = [
        "bz2": "bzip2", "csv": "CSV", "db": "SQLite", "duckdb": "DuckDB", "gz": "gzip", "html": "HTML",
        "json": "one JSON value", "parq": "Parquet", "parquet": "Parquet", "sqlite": "SQLite", "sqlite3": "SQLite",
        "tar": "tar", "tsv": "TSV", "xlsx": "Excel", "xml": "XML", "xz": "xz", "zip": "zip",
    ]

    /// The file extensions that select a format or compression.
    private static let knownExtensions = ["sqlite", "sqlite3", "db", "csv", "parquet", "ndjson", "jsonl", "zst"]

    /// Returns the known extension, such as `.csv`, that is probably meant if the extension of `path` is misspelled.
    ///
    /// Returns `nil` if `path` has no extension, or if its extension is known, belongs to another format, or is not
    /// similar to a known extension.
    static func suggestedExtension(for path: String) -> String? {
        let name = path.lowercased()
        guard let dot = name.lastIndex(of: "."), !name[dot...].contains("/") else { return nil }
        let fileExtension = String(name[name.index(after: dot)...])
        guard !knownExtensions.contains(fileExtension), otherFormats[fileExtension] == nil else { return nil }
        return SimilarWords.matches(for: fileExtension, among: knownExtensions).first.map { ".\($0)" }
    }

    /// Returns a warning if the NDJSON output at `path` has the extension of another format, or `nil` if it does not.
    static func warning(for path: String) -> String? {
        var name = path.lowercased()
        let isCompressed = name.hasSuffix(".zst")
        if isCompressed { name.removeLast(".zst".count) }
        guard let dot = name.lastIndex(of: "."), let suggested = otherFormats[String(name[name.index(after: dot)...])]
        else {
            return nil
        }
        let written = "\(isCompressed ? "compressed " : "")NDJSON, one record per line"
        return "\(path): contains \(written), not \(suggested) as its name suggests"
    }
}

extension ScanReport {
    /// The findings of the report, which must be finished, as rows of the table of stores.
    var exportedStores: some Sequence<ExportedStore> {
        let apps = containerApps
        return rows.lazy.map { ExportedStore($0, app: apps.app(of: $0)) }
    }
}

extension ExportedStore {
    fileprivate init(_ row: ScanRow, app: App?) {
        self.init(capture: row.capture, path: row.path, kind: row.kind)
        hasContainer = row.kind != ScanRow.bundleKind
        system = row.system
        self.app = app
        totals = row.totals
        quarantineCount = row.quarantineCount
        problemCount = row.problemCount
        pendingEventCounts = row.details.pendingEvents
        facts = row.details.facts
        usageData = row.usageData?.state
        queue = row.details.queue
    }
}
