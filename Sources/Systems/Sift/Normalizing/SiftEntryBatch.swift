import JSONText
import PropertyList
import Synchronization
import Telemetry

/// Entries of a list request that were written together, to be settled one after another.
struct SiftEntryBatch: Sendable {
    /// The result of writing an element of the list.
    struct Entry: Sendable {
        /// Where its text is, or what was written of it until it was lost.
        let range: Range<Int>
        let outcome: Result<Event, PropertyListError>
        /// The notes that were taken while it was written.
        let notes: SiftNotes
        /// How many values it has, and how many bytes were looked at besides those that were written.
        let values: Int
        let keyBytes: Int
    }

    /// The facts that an event tells besides its entry.
    struct Event: Sendable {
        let node: PropertyListNode
        /// Milliseconds since 1970, modulo 2^64.
        let time: UInt64
        /// Where the text of the installation id is.
        let client: PropertyListNode?
        let hasDeviceProperties: Bool
    }

    var text = TextBuffer()
    var entries: [Entry] = []

    /// Forgets everything, keeps the memory.
    mutating func removeAll() {
        text.removeAll()
        entries.removeAll(keepingCapacity: true)
    }
}

/// Writes elements of lists as entries; several of these can work on one archive at the same time.
struct SiftEntryWriter: Sendable {
    /// The most elements that are written together, and how many bytes they come to before no more are begun.
    static let batchCount = 64
    private static let batchBytes = 1 << 19
    /// Bytes of the entry of one event.
    private static let entryBytes = 16 << 20

    private var archive: SiftArchive
    private var events: SiftEventWriter

    init(_ archive: SiftArchive) {
        self.archive = archive
        let root = archive.archive.document.root
        events = SiftEventWriter(values: SiftValueWriter(SiftEventBounds(root, outerDepth: 0)))
    }

    /// Writes elements from a position on: fewer than a batch takes if they are long.
    /// - Parameter depth: the level of the list in its archive, the root being 1.
    mutating func write(
        _ list: KeyedElements, from position: Int, depth: Int, into batch: inout SiftEntryBatch
    ) {
        batch.removeAll()
        let end = min(position + Self.batchCount, list.count)
        batch.entries.reserveCapacity(end - position)
        for position in position..<end where batch.text.count < Self.batchBytes {
            write(list, at: position, depth: depth, into: &batch)
        }
    }

    private mutating func write(_ list: KeyedElements, at position: Int, depth: Int, into batch: inout SiftEntryBatch) {
        let start = batch.text.count
        let outcome: Result<SiftEntryBatch.Event, PropertyListError>
        events.values.begin(event: position, outputLimit: start + Self.entryBytes)
        do throws(PropertyListError) {
            let stored = try archive.archive.element(at: position, of: list)
            events.values.bounds = SiftEventBounds(stored, outerDepth: depth)
            outcome = .success(try events.write(stored, of: &archive, to: &batch.text))
        } catch {
            outcome = .failure(error)
        }
        batch.entries.append(
            SiftEntryBatch.Entry(
                range: start..<batch.text.count, outcome: outcome, notes: events.values.notes,
                values: events.values.bounds.values, keyBytes: events.values.keyBytes))
    }
}

/// Writers of entries that work at the same time.
final class SiftEntryWriters: Sendable {
    /// How many batches are written before they are settled.
    private static let batches = 8

    private let archive: SiftArchive
    private let spread: Spread
    private let spares = Mutex<[SiftEntryWriter]>([])
    /// The batches that were settled, for their memory.
    private let settled = Mutex<[SiftEntryBatch]>([])

    init(_ archive: SiftArchive, spread: @escaping Spread) {
        self.archive = archive
        self.spread = spread
    }

    /// Writes the next batches of a list, those behind its end excepted.
    /// - Parameter settle: is called once, meanwhile.
    /// - Returns: batches that follow one another, with at least one entry if there are any left.
    func write(
        _ list: KeyedElements, from position: Int, depth: Int, settle: @Sendable () -> Void
    ) -> [SiftEntryBatch] {
        let starts = Array(stride(from: position, to: list.count, by: SiftEntryWriter.batchCount).prefix(Self.batches))
        let results = Mutex([SiftEntryBatch?](repeating: nil, count: starts.count))
        spread(starts.count + 1) { number in
            guard number < starts.count else { return settle() }
            var writer = self.spares.withLock { $0.popLast() } ?? SiftEntryWriter(self.archive)
            var batch = self.settled.withLock { $0.popLast() } ?? SiftEntryBatch()
            writer.write(list, from: starts[number], depth: depth, into: &batch)
            self.spares.withLock { $0.append(writer) }
            results.withLock { $0[number] = batch }
        }
        // Behind a batch that ended early, nothing follows.
        let batches = results.withLock { $0.compactMap(\.self) }
        let full = batches.prefix { $0.entries.count == SiftEntryWriter.batchCount }
        return Array(batches.prefix(full.count + 1))
    }

    /// Takes batches back that were settled.
    func recycle(_ batches: [SiftEntryBatch]) { settled.withLock { $0 += batches } }
}
