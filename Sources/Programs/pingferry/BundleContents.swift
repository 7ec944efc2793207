import Bundle
import Bytes
import Capture
import Console
import JSONText
import Telemetry

/// The manifest and the details of a bundle for display.
///
/// Only the details that the tables show are kept in memory.
struct BundleContents {
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
        var cursor = try DetailCursor<Entry>(list, of: reader)
        while let entry = try cursor.next() { entries.add(entry, reason: "") }
        return entries
    }

    func printTables() throws {
        try Terminal.print("format version \(BundleLayout.version), written by pingferry \(manifest.toolVersion)")
        try Terminal.print("digest \(manifest.digest)")
        for line in manifest.ancestryLines { try Terminal.print(line) }
        if let key = manifest.pseudonymKeyID { try Terminal.print("pseudonymized with the key \(key)") }
        for line in manifest.filterLines { try Terminal.print(line) }
        let totals = manifest.totals
        try Terminal.print("\(Summary.count(totals.records, "record"))\(Summary.details(of: totals))")
        if manifest.duplicateCount > 0 {
            try Terminal.print("\(Summary.count(manifest.duplicateCount, "duplicate")) omitted")
        }
        let inputRows = InputRows(manifest.inputs)
        try printSection(
            "inputs", ["input", "kind", "sha256 or digest"], inputRows.rows, hiddenCount: inputRows.hiddenCount)
        if inputRows.omittedCount > 0 {
            try Terminal.print("  and \(inputRows.omittedCount) more that the manifest does not list")
        }
        let rows = memberRows
        try printSection(
            "members", ["member", "bytes", "compressed", "records"], rows,
            hiddenCount: reader.members.count - rows.count)
        try printSection(
            "types", ["type", "records"],
            totals.types.sorted { $0.key < $1.key }.map { [$0.key.string, "\($0.value)"] })
        try printSection(
            "held", ["reason", "records"],
            totals.holds.sorted { $0.key < $1.key }.map { [$0.key.string, "\($0.value)"] })
        try printSection(
            "clients", ["client", "system", "app", "records", "uploadable", "first", "last"], clientRows,
            hiddenCount: clients.omittedCount)
        try printSection(
            "withdrawals", ["code", "of", "path"],
            withdrawals.elements.map { [$0.reason.rawValue, "\($0.subject)", "\($0.capture): \($0.path)"] },
            hiddenCount: withdrawals.omittedCount)
        try printSection(
            "quarantine", ["path", "bytes", "reason"],
            quarantined.elements.map {
                ["\($0.capture): \($0.path)", "\($0.size)", $0.reject.reason + ($0.isStored ? "" : " (listed only)")]
            }, hiddenCount: quarantined.omittedCount)
        try printSection(
            "problems", ["path", "problem"],
            problems.elements.map { ["\($0.capture): \($0.path)", "\($0.problem.code): \($0.problem.text)"] },
            hiddenCount: problems.omittedCount)
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

    private func printSection(_ title: String, _ header: [String], _ rows: [[String]], hiddenCount: Int = 0) throws {
        guard !rows.isEmpty else { return }
        try Terminal.print("")
        try Terminal.print("\(title):")
        for line in TextTable(header: header, rows: rows).lines { try Terminal.print("  " + line) }
        if hiddenCount > 0 { try Terminal.print("  and \(hiddenCount) more; --json lists all") }
    }

    /// Prints the contents, and `records` unless it is `nil`, as one JSON object.
    ///
    /// The elements of arrays are read while they are printed.
    func printJSON(path: String, _ records: RecordListing?) throws {
        var object = CanonicalObject()
        object.set("digest", string: manifest.digest)
        object.set("duplicates", integer: manifest.duplicateCount)
        object.set(filtersOf: manifest)
        object.set("inputsOmitted", integer: manifest.inputs.omittedCount)
        object.set("path", string: path)
        object.set("pseudonymized", string: manifest.pseudonymKeyID)
        object.set(ancestryOf: manifest)
        object.set("tool", string: manifest.toolVersion)
        object.set("totals", object: manifest.totals.json)
        object.set("version", integer: BundleLayout.version)
        object.set("inputs", elements: manifest.inputs.entries.map(\.json.bytes))
        var arrays: [(key: JSONKey, elements: CanonicalObject.Elements)] = [
            ("clients", elements(ClientSummary.self, BundleLayout.clients, \.json)), ("members", forEachMember),
            ("problems", elements(LocatedProblem.self, BundleLayout.problems, \.json)),
            ("quarantined", elements(QuarantineEntry.self, BundleLayout.quarantine, \.jsonWithCode)),
            ("segments", forEachSegment),
            ("withdrawals", elements(Withdrawal.self, BundleLayout.withdrawals, \.json)),
        ]
        if let records { arrays.append(("records", records.forEachObject)) }
        try JSONObjectPrinter.print(object, arrays: arrays)
    }

    private func forEachMember(_ body: (CanonicalObject) throws -> Void) throws {
        for member in reader.members {
            var object = CanonicalObject()
            object.set("bytes", integer: member.size)
            object.set("compressed", integer: member.compressedSize)
            object.set("path", string: member.name)
            try body(object)
        }
    }

    private func forEachSegment(_ body: (CanonicalObject) throws -> Void) throws {
        for segment in manifest.segments {
            var object = CanonicalObject()
            object.set("bytes", integer: segment.bytes)
            object.set("path", string: segment.path)
            object.set("records", integer: segment.records)
            try body(object)
        }
    }

    private func elements<Entry: BundleDetail>(
        _ type: Entry.Type, _ list: String, _ json: @escaping (Entry) -> CanonicalObject
    ) -> CanonicalObject.Elements {
        { add in
            var cursor = try DetailCursor<Entry>(list, of: reader)
            while let entry = try cursor.next() { try add(json(entry)) }
        }
    }
}
