import ArgumentParser
import Bundle
import Bytes
import Capture
import Console
import Files
import JSONText
import Systems
import Telemetry

/// The command `list`, which shows the contents of bundles from their manifests and details.
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show the contents of bundles.",
        discussion: """
            Shows inputs, members, counts, clients, held records with their reasons, withdrawals by which no record \
            of a client may be uploaded, quarantined items and problems. \
            Reads the manifest and the details, but not the records; verify reads the records too. Shows the first \
            1000 lines of each list; --json shows all.
              pingferry list monday.tar.zst

            --ids lists the records instead, one per line with tab-separated columns: id, system, type, client, time, \
            and the reasons why the record is held. Missing values are shown as -. With several bundles, the last \
            column is the bundle. The ids can be passed to pingferry-upload retry, release and forget. With --json the \
            object has a key records. With several bundles, each has an object on a separate line.
              pingferry list --ids monday.tar.zst | grep too-few-events | cut -f 1

            A record that is held has one or more of these codes:
            \(holdCodes)
            """)

    /// The hold codes and their meanings, in two columns.
    private static let holdCodes: String = {
        let codes = Systems.table.holdCodes
        let width = codes.map(\.code.count).max() ?? 0
        return codes.map { code in
            let padding = String(repeating: " ", count: width - code.code.count)
            return "  \(code.code)\(padding)  \(code.meaning)"
        }.joined(separator: "\n")
    }()

    @Argument(help: ArgumentHelp("Bundles; - is standard input.", valueName: "bundle"), completion: .file())
    var bundles: [String]

    @Flag(help: "List the records with their ids and the reasons why they are held.")
    var ids = false

    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws { try InputOptions.checkStandardInput(in: bundles) }

    func run() async throws { try await reportingErrors(for: bundles, printsJSON: common.json, list) }

    private func list(_ path: String, isFirst: Bool) throws {
        let reader = try InputOpener.openBundle(path, systems: Systems.table, copyFolder: CommonOptions.temporaryFolder)
        let name = InputOpener.name(of: path)
        try InputOpener.withInputErrors(of: name) {
            let records = RecordListing(reader: reader)
            if ids, !common.json {
                guard !common.quiet else { return }
                return try records.printLines(bundleName: bundles.count > 1 ? name : nil)
            }
            let contents = try BundleContents(reader)
            if common.json {
                try contents.printJSON(path: path, ids ? records : nil)
            } else if !common.quiet {
                if !isFirst { try Terminal.print("") }
                if bundles.count > 1 { try Terminal.print("\(name):") }
                try contents.printTables()
            }
        }
    }
}

/// The manifest and the details of a bundle for display.
///
/// Only the details that the tables show are kept in memory.
private struct BundleContents {
    private let reader: BundleReader
    private let manifest: Manifest
    private let clients: CappedList<ClientSummary>
    private let quarantined: CappedList<QuarantineEntry>
    private let problems: CappedList<LocatedProblem>
    private let withdrawals: CappedList<Withdrawal>

    /// Reads all details, so that an error in them is reported before anything is printed.
    init(_ reader: BundleReader) throws(BundleError) {
        self.reader = reader
        manifest = reader.manifest
        clients = try Self.firstEntries(BundleLayout.clients, of: reader)
        quarantined = try Self.firstEntries(BundleLayout.quarantine, of: reader)
        problems = try Self.firstEntries(BundleLayout.problems, of: reader)
        withdrawals = try Self.firstEntries(BundleLayout.withdrawals, of: reader)
    }

    private static func firstEntries<Entry: BundleDetail>(
        _ list: String, of reader: BundleReader
    ) throws(BundleError) -> CappedList<Entry> {
        var entries = CappedList<Entry>()
        var cursor = DetailCursor<Entry>(list, of: reader)
        while let entry = try cursor.next() { entries.add(entry, reason: "") }
        return entries
    }

    func printTables() throws {
        try Terminal.print("format version \(BundleLayout.version), written by pingferry \(manifest.toolVersion)")
        for line in manifest.lines() { try Terminal.print(line) }
        let totals = manifest.totals
        try Terminal.print(Summary.records(in: totals))
        if manifest.duplicateCount > 0 {
            try Terminal.print("\(manifest.duplicateCount.counted("duplicate")) omitted")
        }
        let inputRows = InputRows(manifest.inputs)
        try TextTable(header: ["input", "kind", "sha256 or digest"], rows: inputRows.rows)
            .print(titled: "inputs", of: inputRows.count)
        if inputRows.omittedCount > 0 {
            try Terminal.print("  and \(inputRows.omittedCount) more that the manifest does not list")
        }
        try TextTable(header: ["member", "bytes", "compressed", "records"], rows: memberRows)
            .print(titled: "members", of: reader.members.count)
        try TextTable(header: ["type", "records"], rows: Self.rows(totals.types)).print(titled: "types")
        try TextTable(header: ["reason", "records"], rows: Self.rows(totals.holds)).print(titled: "held")
        try TextTable(
            header: ["client", "system", "app", "records", "uploadable", "first", "last"], rows: clientRows
        ).print(titled: "clients", of: clients.count)
        try TextTable(
            header: ["code", "of", "path"],
            rows: withdrawals.elements.map { [$0.reason.rawValue, "\($0.subject)", "\($0.capture): \($0.path)"] }
        ).print(titled: "withdrawals", of: withdrawals.count)
        try TextTable(
            header: ["path", "bytes", "reason"],
            rows: quarantined.elements.map {
                ["\($0.capture): \($0.path)", "\($0.size)", $0.reject.reason + ($0.isStored ? "" : " (listed only)")]
            }
        ).print(titled: "quarantine", of: quarantined.count)
        try TextTable(
            header: ["path", "problem"],
            rows: problems.elements.map { ["\($0.capture): \($0.path)", "\($0.problem.code): \($0.problem.text)"] }
        ).print(titled: "problems", of: problems.count)
    }

    private static func rows(_ counts: [CapturedText: Int]) -> [[String]] {
        counts.sorted { $0.key < $1.key }.map { [$0.key.string, "\($0.value)"] }
    }

    private var memberRows: [[String]] {
        let counts = Dictionary(
            uniqueKeysWithValues: manifest.segments.map { (CapturedText($0.path), "\($0.records)") })
        return reader.members.prefix(CappedList<ClientSummary>.defaultLimit).map {
            [$0.name, "\($0.size)", "\($0.compressedSize)", counts[$0.name] ?? ""]
        }
    }

    private var clientRows: [[String]] {
        clients.elements.map { client in
            [
                client.client ?? "(none)", client.system, client.apps.sortedStrings.joined(separator: ","),
                "\(client.recordCount)", "\(client.uploadableCount)", client.firstTime?.description ?? "",
                client.lastTime?.description ?? "",
            ]
        }
    }

    /// Prints the contents, and `records` unless it is `nil`, as one JSON object.
    ///
    /// The elements of arrays are read while they are printed.
    func printJSON(path: String, _ records: RecordListing?) throws {
        var object: CanonicalObject = [
            "duplicates": manifest.duplicateCount, "inputs": manifest.inputs.entries.map(\.json),
            "inputsOmitted": manifest.inputs.omittedCount, "path": path, "pseudonymized": manifest.pseudonymKeyID,
            "tool": manifest.toolVersion,
            "bundleVersion": BundleLayout.version,
        ]
        object.set(contentsOf: manifest)
        object.set(ancestryOf: manifest)
        var arrays: [(key: JSONKey, elements: CanonicalObject.Elements)] = [
            ("clients", elements(ClientSummary.self, BundleLayout.clients, \.json)), ("members", forEachMember),
            ("problems", elements(LocatedProblem.self, BundleLayout.problems, \.json)),
            ("quarantined", elements(QuarantineEntry.self, BundleLayout.quarantine, \.jsonWithCode)),
            ("segments", forEachSegment),
            ("withdrawals", elements(Withdrawal.self, BundleLayout.withdrawals, \.json)),
        ]
        if let records { arrays.append(("records", records.forEachObject)) }
        try JSONResult.print(object, arrays: arrays, as: .list)
    }

    private func forEachMember(_ body: (CanonicalObject) throws -> Void) throws {
        for member in reader.members {
            try body(["bytes": member.size, "compressed": member.compressedSize, "path": member.name])
        }
    }

    private func forEachSegment(_ body: (CanonicalObject) throws -> Void) throws {
        for segment in manifest.segments {
            try body(["bytes": segment.bytes, "path": segment.path, "records": segment.records])
        }
    }

    private func elements<Entry: BundleDetail>(
        _ type: Entry.Type, _ list: String, _ json: @escaping (Entry) -> CanonicalObject
    ) -> CanonicalObject.Elements {
        { add in
            var cursor = DetailCursor<Entry>(list, of: reader)
            while let entry = try cursor.next() { try add(json(entry)) }
        }
    }
}

/// The inputs of a bundle as rows of a table, with indented rows for the inputs of input bundles.
private struct InputRows {
    /// The shown rows, each with the label, kind and hash of an input.
    private(set) var rows: [[String]] = []
    /// The number of inputs that are listed in the manifest.
    private(set) var count = 0
    /// The number of inputs on all levels that are counted but not listed in the manifest.
    private(set) var omittedCount = 0

    init(_ inputs: BundleInputs) { add(inputs, level: 0) }

    /// Adds rows for `inputs` and for all levels below, which are few because deeply nested manifests are rejected.
    private mutating func add(_ inputs: BundleInputs, level: Int) {
        // The sum is capped, because each count can be as large as `Int.max`.
        omittedCount = min(omittedCount, Int.max - inputs.omittedCount) + inputs.omittedCount
        for input in inputs.entries {
            let hash = (input.sha256 ?? input.digest)?.hex ?? ""
            let row = [String(repeating: "  ", count: level) + (input.label ?? "(unknown)"), input.kind.rawValue, hash]
            if rows.count < CappedList<[String]>.defaultLimit { rows.append(row) }
            count += 1
            if let below = input.inputs { add(below, level: level + 1) }
        }
    }
}

/// A listing of the records of a bundle with their ids and holds, read one segment at a time.
private struct RecordListing {
    let reader: BundleReader

    /// Calls `body` with a JSON object for each record, in order.
    func forEachObject(_ body: (CanonicalObject) throws -> Void) throws { try forEach(Self.object, body) }

    /// Calls `body` with the result of `show` for each record, after the whole segment of the record has been checked.
    private func forEach<Shown>(_ show: (borrowing Record) -> Shown, _ body: (Shown) throws -> Void) throws {
        for segment in reader.manifest.segments {
            var shown: [Shown] = []
            _ = try reader.forEachRecord(of: segment) { record, _, _ in shown.append(show(record)) }
            for element in shown { try body(element) }
        }
    }

    private static func object(of record: borrowing Record) -> CanonicalObject {
        var object = CanonicalObject(naming: record)
        object.set("held", record.held.map(\.jsonWithCode))
        object.set("source", "\(record.source.capture): \(record.source.path)")
        return object
    }

    private static func cells(of record: borrowing Record) -> [String] {
        var reasons = record.held.map(\.text).joined(separator: "; ")
        // Of several copies, this one was kept because of its holds.
        if CopyRank(record.held).isDecisive { reasons += " (\(record.source.capture): \(record.source.path))" }
        return [
            record.id, record.system.description, record.type, record.client ?? "-", record.time?.description ?? "-",
            reasons.isEmpty ? "-" : reasons,
        ]
    }

    /// Prints a line of tab-separated columns for each record, with `name` as the last column unless it is `nil`.
    func printLines(bundleName name: String?) throws {
        var lines: [String] = []
        func flush() throws(FileError) {
            guard !lines.isEmpty else { return }
            try Terminal.print(lines: lines.joined(separator: "\n"))
            lines.removeAll(keepingCapacity: true)
        }
        try forEach(Self.cells) { cells in
            // Each cell is escaped separately, so that a tab or a line feed in an id does not begin a new cell.
            lines.append((cells + [name].compactMap(\.self)).map(\.printable).joined(separator: "\t"))
            if lines.count >= Self.linesPerWrite { try flush() }
        }
        try flush()
    }

    private static let linesPerWrite = 1024
}
