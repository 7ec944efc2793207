import Files
import Telemetry

/// A run of store files of one capture, read by one job.
struct ScanUnit: Sendable {
    /// Files of one store, by their places in its order.
    private struct Part: Sendable {
        let store: Int
        let files: Range<Int>
    }

    private let input: Int
    private let capture: CapturedFolder
    private var parts: [Part]
    /// The reading of the first part, where it was begun and did not fit in a batch.
    private var begun: (any StoreScan)?

    /// How many files one job reads: fewer would cost more to hand out than to read.
    private static let filesPerUnit = 128

    /// Splits a capture into units, in order.
    static func split(_ capture: CapturedFolder, input: Int) -> [ScanUnit] {
        var units: [ScanUnit] = []
        var unit = ScanUnit(input: input, capture: capture, parts: [])
        var count = 0
        for (number, found) in capture.stores.enumerated() {
            let store = found.store
            var start = 0
            while start < store.fileCount {
                // Where files tell of each other, one job reads them all.
                let end = store.isReadAtOnce ? store.fileCount : min(store.fileCount, start + filesPerUnit - count)
                unit.parts.append(Part(store: number, files: start..<end))
                count += end - start
                start = end
                guard count >= filesPerUnit else { continue }
                units.append(unit)
                unit = ScanUnit(input: input, capture: capture, parts: [])
                count = 0
            }
        }
        if !unit.parts.isEmpty { units.append(unit) }
        return units
    }

    private init(input: Int, capture: CapturedFolder, parts: [Part]) {
        self.input = input
        self.capture = capture
        self.parts = parts
    }

    /// Reads until the batch is full.
    /// - Returns: the batch, and what is left to be read.
    /// - Throws: `FileError` with operation `spool` if there is no room for what has to be copied to be read.
    consuming func read(_ options: HarvestOptions) throws(FileError) -> (Batch, rest: ScanUnit?) {
        var batch = Batch()
        var output = ScanOutput(capture: capture.label)
        while let part = parts.first, !batch.isFull {
            var scan = begun ?? open(part, options)
            let hasMore = try scan.read(into: &output)
            batch.take(&output, input: input, store: part.store, options)
            begun = hasMore ? scan : nil
            if !hasMore { parts.removeFirst() }
        }
        return (batch, parts.isEmpty ? nil : self)
    }

    private func open(_ part: Part, _ options: HarvestOptions) -> any StoreScan {
        let found = capture.stores[part.store]
        let context = StoreContext(
            capture: capture.label, tree: capture.tree, container: found.container,
            neighbors: capture.stores(in: found.container), options: options.scan)
        return found.store.scan(part.files, in: context)
    }
}
