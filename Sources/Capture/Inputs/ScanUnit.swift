import Bundle
import Files
import Telemetry

/// The consecutive store files of a capture that are assigned to one job.
struct ScanUnit: Sendable {
    /// A range of the files of one store.
    private struct Part: Sendable {
        let storeNumber: Int
        let fileRange: Range<Int>
    }

    private let capture: CapturedFolder
    private var parts: [Part]
    /// The interrupted scan of the first part, or `nil` if that part was not started.
    private var interruptedScan: (any StoreScan)?

    /// The maximum number of files that one job reads, unless one job must read all files of a store.
    ///
    /// The number balances the cost of a job against the memory for its results.
    private static let filesPerUnit = 64

    /// Returns the units of a capture, in order, as a lazy sequence.
    ///
    /// If `files` is not `nil`, it contains the ranges of the files that are read, by the indices of their stores.
    static func split(_ capture: CapturedFolder, only files: [Int: Range<Int>]? = nil) -> some Sequence<ScanUnit> {
        sequence(state: (store: 0, file: 0)) { position in
            let unit = ScanUnit(of: capture, only: files, from: &position)
            return unit.parts.isEmpty ? nil : unit
        }
    }

    /// Creates a unit from the files at `position`, and advances the position to the next unit.
    private init(
        of capture: CapturedFolder, only files: [Int: Range<Int>]?, from position: inout (store: Int, file: Int)
    ) {
        self.capture = capture
        parts = []
        var remaining = Self.filesPerUnit
        while remaining > 0, position.store < capture.stores.count {
            let store = capture.stores[position.store].store
            let wanted = if let files { files[position.store] ?? 0..<0 } else { 0..<store.fileCount }
            position.file = max(position.file, wanted.lowerBound)
            // Files that refer to each other are read by one job.
            let end = store.isReadByOneJob ? wanted.upperBound : min(wanted.upperBound, position.file + remaining)
            if position.file < end { parts.append(Part(storeNumber: position.store, fileRange: position.file..<end)) }
            remaining -= end - position.file
            position = end < wanted.upperBound ? (position.store, end) : (position.store + 1, 0)
        }
    }

    /// Reads until the output is full, and returns the rest of the unit, or `nil` if nothing is left.
    ///
    /// - Throws: `FileError` with operation `spool` if there is no space for a copy of a store or for quarantined bytes,
    ///   and `CancellationError`.
    consuming func read(_ options: ScanOptions, into output: inout ScanOutput) throws -> ScanUnit? {
        while let part = parts.first, !output.isFull {
            output.store = part.storeNumber
            output.usageData = capture.usageDataSwitches(ofStore: part.storeNumber)
            do {
                var scan = try interruptedScan ?? open(part, options)
                interruptedScan = try output.fill { try scan.read(into: &$0) } ? scan : nil
            } catch let error as FileError where error.operation != .spool {
                let path = capture.stores[part.storeNumber].path
                output.report(Problem("unreadable", error.description), path: path)
                interruptedScan = nil
            }
            if interruptedScan == nil { parts.removeFirst() }
        }
        return parts.isEmpty ? nil : self
    }

    private func open(_ part: Part, _ options: ScanOptions) throws(FileError) -> any StoreScan {
        let found = capture.stores[part.storeNumber]
        let context = StoreContext(
            capture: capture.label, tree: capture.tree, container: found.container,
            neighbors: found.neighbors, options: options)
        return try found.store.scan(part.fileRange, in: context)
    }
}

// MARK: - Bundles

extension BundleReader {
    /// Reads the records of a segment, copying their lines unchanged unless they are pseudonymized.
    ///
    /// - Throws: ``BundleError`` if the segment cannot be read, and `PseudonymError`.
    func read(
        _ segment: Manifest.Segment, input: Int, _ options: ScanOptions
    ) throws -> ScanOutput {
        var output = ScanOutput(capture: path, input: input, writingWith: options)
        let isUnchanged = options.pseudonymizer == nil
        let contents = try forEachRecord(of: segment) { record, line, written in
            if isUnchanged {
                output.add(record, at: line, written)
            } else {
                try output.add(copy record)
            }
        }
        if isUnchanged { output.adopt(lines: contents) }
        output.bytesRead = contents.count
        return output
    }
}
