import ArgumentParser
import Capture
import Console
import Export
import Files
import JSONText
import Parallel
import Systems
import Telemetry

/// `convert`: captures to records as NDJSON.
struct ConvertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Write the records of captures as NDJSON.",
        discussion: """
            One record a line, in the documented format, for DuckDB, pandas or jq:
              pingferry convert -o records.ndjson phone/
              pingferry convert -o - --payload-only --type core phone/ | jq .durations

            DuckDB takes keys for the same that differ in case only, as those of searches do. Name the columns, and read what is \
            deeper as JSON:
              SELECT "time", payload->'$.searches' FROM read_ndjson('records.ndjson',
              columns = {type: 'VARCHAR', "time": 'TIMESTAMP', payload: 'JSON'})
              WHERE type = 'core';

            --labels tells what events mean: "labels":["Erase button clicked",null] for two events of which the second is \
            not documented.

            A name that ends in .zst is compressed. A damaged bundle gives up what is left of it with --salvage; a record \
            that neither a checksum nor the manifest proves right is held as unproven.

            --pseudonymize makes data that can be given away: ids become pseudonyms, names, addresses, positions and free \
            text are left out and counted. Such records are held as pseudonymized and are never uploaded.
            """)

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The output: a file, a pipe, or - for standard output.", valueName: "file"))
    var output: String

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
    @OptionGroup(title: "Pseudonyms") var pseudonyms: PseudonymOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws {
        if common.json, isStandardOutput {
            throw ValidationError("--json and -o \(output) both want the standard output")
        }
        if payloadOnly, pseudonyms.pseudonymize != nil {
            throw ValidationError("--payload-only has no place for the mark that keeps pseudonyms from being uploaded")
        }
        if labels, payloadOnly { throw ValidationError("--labels has no place in the lines of --payload-only") }
    }

    private var isStandardOutput: Bool { output == "-" || StandardOutput.isNamed(by: output) }

    func run() async throws {
        try await reporting {
            let pseudonymizer = try pseudonyms.pseudonymizer()
            let file = try CommandOutput(path: isStandardOutput ? "-" : output, replacing: force)
            let limit = common.limit
            let opening = InputOpening(
                labels: input.label, systems: Systems.table, limit: limit, excluded: file.identities,
                isSalvage: salvage,
                spool: input.spool,
                passwords: try backups.passwords(isQuiet: common.quiet))
            let reading = Reading(
                try await opening.open(input.paths), paths: input.paths, filter: try filters.filter(), common: common,
                limit: limit, pseudonymizer: pseudonymizer)
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
            try report(Summary(intake, of: reading.filter, pseudonymizedWith: pseudonymizer?.keyID))
        }
    }

    private func report(_ summary: Summary) throws {
        if common.json {
            try summary.printJSON { $0.set("output", string: output) }
        } else if !isStandardOutput, !common.quiet {
            try Terminal.print("wrote \(output): \(summary.sentence)")
        }
        if !isStandardOutput, !common.quiet, let warning = OutputName.warning(for: output) {
            StandardError.write("pingferry: \(warning)")
        }
        try summary.finish(isQuiet: common.quiet)
    }
}
