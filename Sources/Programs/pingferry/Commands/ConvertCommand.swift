import ArgumentParser
import Bundle
import Capture
import Console
import Export
import Files
import JSONText
import Parallel
import Systems
import Telemetry

/// `convert`: captures to records as NDJSON, to tables or to a timeline.
struct ConvertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Write the records of captures as NDJSON, tables or a timeline.",
        discussion: """
            The name of the output says as what, or --to:
              ndjson      one record a line, in the documented format; any other name
              sqlite      a database with tables: NAME.sqlite, NAME.sqlite3, NAME.db
              csv         a folder with a file for each table: NAME.csv, NAME/
              timesketch  a timeline for Timesketch: NAME.timeline.jsonl

              pingferry convert -o phone.sqlite phone/
              sqlite3 phone.sqlite 'SELECT * FROM events_per_day'
              pingferry convert -o - --payload-only --type core phone/ | jq .durations

            DuckDB takes keys for the same that differ in case only, as those of searches do. Name the columns, and read what is \
            deeper as JSON:
              SELECT "time", payload->'$.searches' FROM read_ndjson('records.ndjson',
              columns = {type: 'VARCHAR', "time": 'TIMESTAMP', payload: 'JSON'})
              WHERE type = 'core';

            Tables: \(tables). \
            Views in SQLite: \(views).

            --labels tells in NDJSON what events mean: "labels":["Erase button clicked",null] for two events of which the \
            second is not documented. In tables and timelines labels are always there.

            A name that ends in .zst is compressed. A damaged bundle gives up what is left of it with --salvage; a record \
            that neither a checksum nor the manifest proves right is held as unproven.

            --segments is for workers that share one bundle: each reads some of its segments alone, of which list --json tells \
            how many there are, and with how many records. All parts together are the records of the whole, in order; \
            quarantine and problems come with the part that has the last segment, and tables count from 1 in each part.
              pingferry convert --segments 3-4 -o part-2.csv monday.tar.zst

            --pseudonymize makes data that can be given away: ids become pseudonyms, names, addresses, positions and free \
            text are left out and counted. Such records are held as pseudonymized and are never uploaded.
            """)

    private static let tables = ExportTables(Systems.table).all.map(\.name).joined(separator: ", ")
    private static let views = ExportTables.views.map(\.name).joined(separator: ", ")

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The output: a file, a folder, a pipe, or - for standard output.", valueName: "file"),
        completion: .file())
    var output: String

    @Option(
        help: ArgumentHelp(
            "As what: \(ConvertFormat.allCases.map(\.rawValue).joined(separator: ", ")). (default: by the output's name)",
            valueName: "format"))
    var to: ConvertFormat?

    @Flag(help: "Write just the documented format of each record.")
    var payloadOnly = false

    @Flag(help: "Add a key labels: what each event is documented to mean, null for one that is not.")
    var labels = false

    @Flag(help: "Replace an output that exists.")
    var force = false

    @Flag(help: "Read what is left of damaged bundles.")
    var salvage = false

    @Option(
        help: ArgumentHelp(
            "Read these segments of a bundle alone, counted from 1: 2-5, 2- (to the last one), or 2.",
            valueName: "range"))
    var segments: SegmentRange?

    @OptionGroup var input: InputOptions
    @OptionGroup(title: "Encrypted backups") var backups: PasswordOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup(title: "Pseudonyms") var pseudonyms: PseudonymOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws {
        if common.json, isStandardOutput {
            throw ValidationError("--json and -o \(output) both want the standard output")
        }
        if payloadOnly, pseudonyms.pseudonymize != nil {
            throw ValidationError("--payload-only has no place for the mark that keeps pseudonyms from being uploaded")
        }
        if segments != nil {
            guard input.paths.count == 1 else { throw ValidationError("--segments takes one bundle and nothing else") }
            if salvage { throw ValidationError("--salvage reads a bundle from its beginning, not by --segments") }
        }
        if labels, payloadOnly { throw ValidationError("--labels has no place in the lines of --payload-only") }
        if to == nil, let suggestion = OutputName.suggestedExtension(for: output) {
            throw ValidationError("\(output): did you mean \(suggestion)? --to names the format for any other name")
        }
        guard format != .ndjson else { return }
        if payloadOnly { throw ValidationError("--payload-only is for NDJSON, not for \(format.rawValue)") }
        if isStandardOutput, !format.isStream {
            throw ValidationError(
                "\(format.rawValue) goes to a \(format == .csv ? "folder" : "file"), not to \(output)")
        }
    }

    private var format: ConvertFormat { to ?? ConvertFormat(name: output) }

    private var isStandardOutput: Bool { output == "-" || StandardOutput.isNamed(by: output) }

    func run() async throws {
        try await reporting {
            let pseudonymizer = try pseudonyms.pseudonymizer()
            OutputLocation.warnIfInsideCapture(output, inputs: input.paths, isQuiet: common.quiet)
            switch format {
            case .ndjson: try await writeRecords(pseudonymizer)
            case .sqlite: try await writeTables(.sqlite, pseudonymizer)
            case .csv: try await writeTables(.csv, pseudonymizer)
            case .timesketch: try await writeTables(.timeline(try openOutput()), pseudonymizer)
            }
        }
    }

    private func openOutput() throws -> CommandOutput {
        try CommandOutput(path: isStandardOutput ? "-" : output, replacing: force)
    }

    /// Opens the inputs.
    /// - Parameter excluded: the output, which is never read.
    private func reader(
        excluded: Set<FileIdentity>, _ pseudonymizer: RecordPseudonymizer?
    ) async throws -> CaptureReader {
        let limit = common.limit
        let opening = InputOpening(
            labels: input.label, systems: Systems.table, limit: limit, excluded: excluded, isSalvage: salvage,
            spool: input.spool,
            passwords: try backups.passwords(isQuiet: common.quiet))
        let selection = try segments.map { try select($0, opening) }
        let inputs =
            if let selection { [CaptureInput.bundle(selection.bundle)] } else { try await opening.open(input.paths) }
        return CaptureReader(
            inputs, paths: input.paths,
            options: common.scanOptions(filter: try filters.filter(), pseudonymizer: pseudonymizer),
            segments: selection?.indices, limit: limit)
    }

    /// The bundle, and the indices of the segments that are asked for.
    private func select(
        _ segments: SegmentRange, _ opening: InputOpening
    ) throws -> (bundle: BundleReader, indices: Range<Int>) {
        guard let bundle = try opening.openSegments(of: input.paths[0]) else {
            throw ValidationError("--segments takes a bundle, and \(input.paths[0]) is none")
        }
        let count = bundle.manifest.segments.count
        guard let indices = segments.indices(ofSegments: count) else {
            throw ValidationError(
                "--segments \(segments) is more than there are: \(bundle.path) has \(Summary.count(count, "segment"))")
        }
        return (bundle, indices)
    }

    // MARK: NDJSON

    private func writeRecords(_ pseudonymizer: RecordPseudonymizer?) async throws {
        let file = try openOutput()
        let reader = try await reader(excluded: file.identities, pseudonymizer)
        var records = try RecordsOutput(
            payloadOnly ? .payload : .record, isCompressed: output.hasSuffix(".zst")
        ) { try file.write($0) }
        var labeler = EventLabeler(Systems.table)
        let intake = try await common.read(reader) { entry, line, payload in
            guard labels else { return try records.add(line: line, payload: payload) }
            let record = entry.summary
            let labeled = labeler.labeled(line: line, payload: payload, system: record.system, type: record.type)
            try records.add(line: labeled[...], payload: payload)
        }
        try records.finish()
        try file.commit()
        try report(Summary(intake, of: reader.options))
    }

    // MARK: Tables

    private func writeTables(_ format: TableExport.Format, _ pseudonymizer: RecordPseudonymizer?) async throws {
        let limit = common.limit
        let companions = self.format == .sqlite ? DatabaseCompanions(of: output) : nil
        if !force { try companions?.requireAbsence() }
        var export = try TableExport(
            format, path: output, replacing: force, systems: Systems.table, limit: limit)
        let reader = try await reader(excluded: export.identities, pseudonymizer)
        export.add(meta: "tool", "pingferry \(ProgramVersion.number)")
        export.add(meta: "tables", "\(ExportTables.version)")
        if let segments { export.add(meta: "segments", segments.description) }
        // Where there are pseudonyms, names and digests would tell whose captures these are.
        for (number, input) in reader.inputs.enumerated() where pseudonymizer == nil {
            export.add(meta: "input.\(number + 1)", input.label(path: self.input.paths[number]))
            if case .bundle(let bundle) = input { export.add(meta: "digest.\(number + 1)", bundle.manifest.digest) }
        }
        let intake = try await common.read(
            reader,
            keep: { entry, line, payload in export.add(entry.summary, line: line, payload: payload) },
            note: { finding in
                switch finding {
                case .quarantined(let item, _): if pseudonymizer == nil { export.add(item) }
                case .problem(let problem): if pseudonymizer == nil { export.add(problem) }
                case .app: break
                }
            }, afterOutput: { try await export.writeFinished() })
        let counts = try await export.finish()
        try companions?.remove()
        try report(
            Summary(intake, of: reader.options), counts,
            timeless: export.timeless)
    }

    // MARK: The summary

    private func report(_ summary: Summary, _ rows: [String: Int]? = nil, timeless: Int = 0) throws {
        let isTimeline = format == .timesketch
        if common.json {
            try summary.printJSON { object in
                object.set("format", string: format.rawValue)
                object.set("output", string: output)
                if let segments { object.set("segments", string: segments.description) }
                if isTimeline { object.set("withoutTime", integer: timeless) }
                if let rows, !isTimeline { object.set("rows", object: CanonicalObject(counts: rows)) }
            }
        } else if !isStandardOutput, !common.quiet {
            try Terminal.print("wrote \(output): \(summary.sentence)")
        }
        if !isStandardOutput, !common.quiet, format == .ndjson, let warning = OutputName.warning(for: output) {
            StandardError.write("pingferry: \(warning)")
        }
        if timeless > 0 {
            StandardError.write("pingferry: \(Summary.count(timeless, "row")) without a time left out of the timeline")
        }
        try summary.finish(isQuiet: common.quiet)
    }
}

extension CommandOutput: StreamSink {}

extension CaptureInput {
    /// What its records name it.
    fileprivate func label(path: String) -> String {
        switch self {
        case .folder(let capture): capture.label
        case .log(let log): log.label
        case .bundle, .salvage: Path.lastName(of: path)
        }
    }
}
