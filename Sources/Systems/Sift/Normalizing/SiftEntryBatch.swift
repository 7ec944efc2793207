import JSONText
import Parallel
import PropertyList
import Synchronization
import Telemetry

/// Entries of a list request that were written together, to be settled one after another.
struct SiftEntryBatch: Sendable {
    /// What became of an element of the list: an entry, or a loss.
    struct Entry: Sendable {
        /// The place of its text. A lost element has the text that was written until it was lost.
        let range: Range<Int>
        let outcome: Result<Event, PropertyListError>
        let notes: SiftNotes
        /// How many values it has, and how many bytes were read for it and not written.
        let values: Int
        let keyBytes: Int
    }

    /// What else an event tells, apart from its entry.
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

    /// Makes room for other entries, in the same memory.
    mutating func removeAll() {
        text.removeAll()
        entries.removeAll(keepingCapacity: true)
    }
}

/// Writes elements of lists as entries; several of these can work on one archive at the same time.
struct SiftEntryWriter: Sendable {
    /// The most elements that a batch takes. It takes no more, either, once their text has this many bytes.
    static let batchCount = 64
    private static let batchBytes = 1 << 19
    /// About how many bytes the entry of one event has.
    private static let entryBytes = 16 << 20

    private var archive: SiftArchive
    private var events: SiftEventWriter

    init(_ archive: SiftArchive) {
        self.archive = archive
        let root = archive.archive.document.root
        events = SiftEventWriter(values: SiftValueWriter(SiftEventBounds(root, outerDepth: 0)))
    }

    /// Writes the elements from a position on, until the batch is full.
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

/// Writers of entries, each at work on a batch of its own at the same time.
final class SiftEntryWriters: Sendable {
    /// How many batches are written before they are settled.
    private static let batches = 8

    private let spread: Spread
    private let spareWriters: SparePool<SiftEntryWriter, Never>
    /// The batches that were settled. Their memory is used again.
    private let spareBatches = SparePool<SiftEntryBatch, Never> { SiftEntryBatch() }

    init(_ archive: SiftArchive, spread: @escaping Spread) {
        self.spread = spread
        spareWriters = SparePool { SiftEntryWriter(archive) }
    }

    /// Writes the next batches of a list, as far as the list goes.
    /// - Parameter settle: work that is done once, at the same time.
    /// - Returns: batches that follow one another, with at least one entry if there are any left.
    func write(
        _ list: KeyedElements, from position: Int, depth: Int, settle: @Sendable () -> Void
    ) -> [SiftEntryBatch] {
        let starts = Array(stride(from: position, to: list.count, by: SiftEntryWriter.batchCount).prefix(Self.batches))
        let results = Mutex([SiftEntryBatch?](repeating: nil, count: starts.count))
        spread(starts.count + 1) { number in
            guard number < starts.count else { return settle() }
            var batch = self.spareBatches.take()
            self.spareWriters.withSpare { $0.write(list, from: starts[number], depth: depth, into: &batch) }
            results.withLock { $0[number] = batch }
        }
        // Behind a batch that ended early, nothing follows.
        let batches = results.withLock { $0.compactMap(\.self) }
        let full = batches.prefix { $0.entries.count == SiftEntryWriter.batchCount }
        return Array(batches.prefix(full.count + 1))
    }

    /// Accepts batches that were settled, so that their memory is used again.
    func recycle(_ batches: [SiftEntryBatch]) {
        for batch in batches { spareBatches.giveBack(batch) }
    }
}
