import Bundle
import Bytes
import Files
import Telemetry

/// A reader of quarantined items, which a corrected parser may understand.
///
/// Each item is read as a file at its path in a capture without other files, by the readers of its kind of store.
///
/// Source: "Quarantined items", section "Reading it again".
struct QuarantineReader {
    private let bundle: BundleReader
    private let input: Int
    private let options: ScanOptions
    private let systems: SystemTable

    /// Creates a reader of the items in `bundle`, which is the input at the index `input`.
    init(_ bundle: BundleReader, input: Int, _ options: ScanOptions) {
        self.bundle = bundle
        self.input = input
        self.options = options
        systems = bundle.systems
    }

    /// Returns the records in an item, and what of it remains in quarantine, or `nil` if the item remains unchanged.
    ///
    /// It remains if it contains no record, or if all its bytes are rejected again. In the latter case, the bundle
    /// contains what can be read of it.
    ///
    /// - Throws: ``BundleError`` if its bytes cannot be read, `FileError` with the operation `spool`, and `PseudonymError`.
    func read(_ item: QuarantineEntry) async throws -> [ScanOutput]? {
        guard item.isStored, let path = try? MemberPath(Array(item.path.utf8)) else { return nil }
        let name = BundleLayout.quarantineMemberName(sha256: item.sha256)
        var decoder = FrameDecoder()
        let bytes = try bundle.contents(of: name, with: &decoder)
        let capture = try await CapturedFolder(
            file: path, bytes, path: bundle.path, label: item.capture, systems: systems, limit: options.limit)
        let stores = capture.stores.indices.filter { capture.stores[$0].store.kind == item.store }
        let files = stores.map { ($0, 0..<capture.stores[$0].store.fileCount) }
        let outputs = try scan(capture, Dictionary(uniqueKeysWithValues: files))
        let remains = outputs.contains { $0.quarantined.contains { $0.sha256 == item.sha256 } }
        guard !remains, outputs.contains(where: { !$0.entries.isEmpty }) else { return nil }
        var found = try outputs.map { try adopted($0, from: item) }
        found[0].rereadItemCount = 1
        return found
    }

    /// Returns what the readers of the given files find, without filters and pseudonyms.
    private func scan(_ capture: CapturedFolder, _ files: [Int: Range<Int>]) throws -> [ScanOutput] {
        var plain = ScanOptions(
            quarantineFileLimit: options.quarantineFileLimit, copyFolder: options.copyFolder, limit: options.limit)
        plain.quarantine = options.quarantine
        var outputs: [ScanOutput] = []
        for unit in ScanUnit.split(capture, only: files) {
            var rest: ScanUnit? = unit
            while let next = rest {
                var output = ScanOutput(capture: capture.label, input: input, writingWith: plain)
                rest = try next.read(plain, into: &output)
                outputs.append(output)
            }
        }
        return outputs
    }

    /// Returns the records, rejects and problems of `found` as contents of the bundle.
    private func adopted(_ found: ScanOutput, from item: QuarantineEntry) throws -> ScanOutput {
        var output = ScanOutput(capture: bundle.path, input: input, writingWith: options)
        output.isReread = true
        var lines = RecordLines(found.entries.flatMap { found.lines[$0.line] }, knowing: systems)
        let code = item.reject.reason.prefix { $0 != " " }
        while var (record, _) = try lines.next() {
            record.notes.append("reread \(item.sha256) \(code)")
            try output.add(record)
        }
        for reject in found.quarantined { output.quarantine(reject) }
        for problem in found.problems { output.report(problem) }
        for withdrawal in found.withdrawals { output.report(withdrawal) }
        return output
    }
}
