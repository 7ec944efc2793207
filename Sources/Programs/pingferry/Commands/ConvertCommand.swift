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

            Tables: \(tables). \
            Views in SQLite: \(views).

            --labels tells in NDJSON what events mean: "labels":["Erase button clicked",null] for two events of which the \
            second is not documented. In tables and timelines labels are always there.

            A name that ends in .zst is compressed. A damaged bundle gives up what is left of it with --salvage; a record \
            that neither a checksum nor the manifest proves right is held as unproven.
            """)

    private static let tables = ExportTables(Systems.table).all.map(\.name).joined(separator: ", ")
    private static let views = ExportTables.views.map(\.name).joined(separator: ", ")

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The output: a file, a folder, a pipe, or - for standard output.", valueName: "file"))
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

    @OptionGroup var input: InputOptions
    @OptionGroup(title: "Encrypted backups") var backups: PasswordOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws {
        if common.json, isStandardOutput {
            throw ValidationError("--json and -o \(output) both want the standard output")
        }
        if labels, payloadOnly { throw ValidationError("--labels has no place in the lines of --payload-only") }
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
            switch format {
            case .ndjson: try await writeRecords()
            case .sqlite: try await writeTables(.sqlite)
            case .csv: try await writeTables(.csv)
            case .timesketch: try await writeTables(.timeline(try openOutput()))
            }
        }
    }

    private func openOutput() throws -> CommandOutput {
        try CommandOutput(path: isStandardOutput ? "-" : output, replacing: force)
    }

    /// Opens the inputs.
    /// - Parameter excluded: the output, which is never read.
    private func reading(excluded: Set<FileIdentity>) async throws -> Reading {
        let limit = common.limit
        let opening = InputOpening(
            label: input.label, systems: Systems.table, limit: limit, excluded: excluded, isSalvage: salvage,
            spool: input.spool,
            passwords: try backups.passwords(isQuiet: common.quiet))
        return Reading(
            try await opening.open(input.paths), paths: input.paths, filter: try filters.filter(), common: common,
            limit: limit)
    }

    // MARK: NDJSON

    private func writeRecords() async throws {
        let file = try openOutput()
        let reading = try await reading(excluded: file.identities)
        var records = try RecordsOutput(
            payloadOnly ? .payload : .record, isCompressed: output.hasSuffix(".zst")
        ) { try file.write($0) }
        var labeler = EventLabeler(Systems.table)
        let intake = try await reading.run { entry, line, payload in
            guard labels else { return try records.add(line: line, payload: payload) }
            let record = entry.summary
            let labeled = labeler.labeled(line: line, payload: payload, system: record.system, type: record.type)
            try records.add(line: labeled[...], payload: payload)
        }
        try records.finish()
        try file.commit()
        try report(intake)
    }

    // MARK: Tables

    private func writeTables(_ format: TableExport.Format) async throws {
        let limit = common.limit
        var export = try TableExport(
            format, path: output, replacing: force, systems: Systems.table, limit: limit)
        let reading = try await reading(excluded: export.identities)
        export.add(meta: "tool", "pingferry \(Pingferry.version)")
        export.add(meta: "tables", "\(ExportTables.version)")
        for (number, input) in reading.inputs.enumerated() {
            export.add(meta: "input.\(number + 1)", input.label(path: self.input.paths[number]))
            if case .bundle(let bundle) = input { export.add(meta: "digest.\(number + 1)", bundle.manifest.digest) }
        }
        let intake = try await reading.run(
            keep: { entry, line, payload in export.add(entry.summary, line: line, payload: payload) },
            note: { finding in
                switch finding {
                case .quarantined(let entry): export.add(entry.item)
                case .problem(let problem): export.add(problem)
                }
            }, afterBatch: { try await export.writeFinished() })
        let counts = try await export.finish()
        try report(intake, counts, timeless: export.timeless)
    }

    // MARK: The summary

    private func report(_ intake: Intake, _ rows: [String: Int]? = nil, timeless: Int = 0) throws {
        let summary = Summary(intake)
        let isTimeline = format == .timesketch
        if common.json {
            try summary.printJSON { object in
                object.set("format", string: format.rawValue)
                object.set("output", string: output)
                if isTimeline { object.set("withoutTime", integer: timeless) }
                if let rows, !isTimeline { object.set("rows", object: CanonicalObject(counts: rows)) }
            }
        } else if !isStandardOutput, !common.quiet {
            try Terminal.print("wrote \(output): \(summary.sentence)")
        }
        if timeless > 0 {
            StandardError.write("pingferry: \(Summary.count(timeless, "row")) without a time left out of the timeline")
        }
        try summary.finish()
    }
}

extension CommandOutput: StreamSink {}

extension CaptureInput {
    /// What its records name it.
    fileprivate func label(path: String) -> String {
        switch self {
        case .folder(let capture): capture.label
        case .log(let log): log.label
        case .bundle, .salvage: CapturedFolder.lastPart(of: path)
        }
    }
}
