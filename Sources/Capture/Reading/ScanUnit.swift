import Files
import Telemetry

/// A run of store files of one capture that one job reads.
struct ScanUnit: Sendable {
    /// Files of one store, by their indices in the store.
    private struct Part: Sendable {
        let store: Int
        let files: Range<Int>
    }

    private let capture: CapturedFolder
    private var parts: [Part]
    /// The interrupted scan of the first part, or `nil` if the part was not started.
    private var begun: (any StoreScan)?

    /// The number of files that one job reads.
    ///
    /// The value balances the cost of a job against the memory for its results.
    private static let filesPerUnit = 64

    /// Splits a capture into units, in order.
    ///
    /// Units are created lazily.
    static func split(_ capture: CapturedFolder) -> some Sequence<ScanUnit> {
        sequence(state: (store: 0, file: 0)) { place in
            let unit = ScanUnit(of: capture, from: &place)
            return unit.parts.isEmpty ? nil : unit
        }
    }

    /// Creates a unit from the next files, starting at `place`, which is advanced past the last one.
    private init(of capture: CapturedFolder, from place: inout (store: Int, file: Int)) {
        self.capture = capture
        parts = []
        var room = Self.filesPerUnit
        while room > 0, place.store < capture.stores.count {
            let store = capture.stores[place.store].store
            // Files that refer to each other are read by one job.
            let end = store.isReadAtOnce ? store.fileCount : min(store.fileCount, place.file + room)
            if place.file < end { parts.append(Part(store: place.store, files: place.file..<end)) }
            room -= end - place.file
            place = end < store.fileCount ? (place.store, end) : (place.store + 1, 0)
        }
    }

    /// Reads until the output is full.
    ///
    /// - Returns: The rest of the unit, or `nil` if everything was read.
    /// - Throws: `FileError` with operation `spool` if there is no space for a copy that is needed.
    consuming func read(_ options: ScanOptions, into output: inout ScanOutput) throws(FileError) -> ScanUnit? {
        while let part = parts.first, !output.isFull {
            var scan = begun ?? open(part, options)
            output.store = part.store
            let hasMore = try scan.read(into: &output)
            begun = hasMore ? scan : nil
            if !hasMore { parts.removeFirst() }
        }
        return parts.isEmpty ? nil : self
    }

    private func open(_ part: Part, _ options: ScanOptions) -> any StoreScan {
        let found = capture.stores[part.store]
        let context = StoreContext(
            capture: capture.label, tree: capture.tree, container: found.container,
            neighbors: capture.stores.neighbors(of: found), options: options)
        return found.store.scan(part.files, in: context)
    }
}
