import Files
import JSONText
import PropertyList
import Synchronization
import Telemetry

/// A reader that converts the event lists of one archive to requests, and omits events that cannot be read.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 9.1 to 9.3, and "Keyed archives: container, object
/// graph, hostile input", D.3.
struct SiftListReader {
    var archive: SiftArchive
    private let sharedAssembler: SharedRequestAssembler
    private let entryWriters: SiftEntryWriters

    /// Creates a reader for the lists of an archive.
    ///
    /// `batchEntries` contains the entries of the batches that were read before.
    init(
        _ archive: SiftArchive, byteCount: Int, batchEntries: consuming SiftBatchEntries = SiftBatchEntries(),
        limit: JobLimit
    ) {
        self.archive = archive
        sharedAssembler = SharedRequestAssembler(
            SiftRequestAssembler(of: archive.archive.document, byteCount: byteCount, batchEntries: consume batchEntries)
        )
        entryWriters = SiftEntryWriters(archive, limit: limit)
    }

    var assembler: SiftRequestAssembler { sharedAssembler.withLock { $0 } }

    /// Moves the batch entries that were not found in a queue out of the reader.
    func takeBatchEntries() -> SiftBatchEntries { sharedAssembler.withLock { $0.takeBatchEntries() } }

    /// Reads a list at the nesting level `depth` into one request, or into several requests if the list is too large.
    ///
    /// Entries are written in parallel batches. They are added to the requests in order, because whether an entry is
    /// accepted depends on the entries before it.
    func read(_ list: KeyedElements, depth: Int, named name: String, source: Source, part: Int)
        throws(PropertyListError)
    {
        try sharedAssembler.withLock { assembler throws(PropertyListError) in
            try assembler.beginList(ofCount: list.count, named: name, source: source, part: part)
        }
        // Batches are added while the next batches are written.
        var position = 0
        var written: [SiftEntryBatch] = []
        while position < list.count || !written.isEmpty {
            let next = entryWriters.write(list, from: position, depth: depth) { [sharedAssembler, written] in
                sharedAssembler.withLock { $0.add(written) }
            }
            if let error = sharedAssembler.withLock({ $0.error }) { throw error }
            entryWriters.recycle(written)
            position += next.reduce(0) { $0 + $1.entries.count }
            written = next
        }
    }

    func addLostList(_ error: PropertyListError, named name: String) {
        sharedAssembler.withLock { $0.addLostList(error, named: name) }
    }

    /// Reads the last accepted event of a queue, and uses its device properties if they are the newest.
    ///
    /// - Returns: The time of the event and the key under which the event is stored. The time is `nil` if it cannot be
    ///   read or if RFC 3339 cannot express it. The key is `nil` if there is no event.
    mutating func readLastEvent() -> (time: Int64?, key: String?) {
        for key in ["lastEvent", "last_event"] {
            guard let stored = try? archive.entry(forKey: key) else { continue }
            guard let event = try? archive.readEvent(stored), let milliseconds = Int64(exactly: event.time),
                Timestamp(milliseconds: milliseconds) != nil
            else { return (nil, key) }
            if (try? archive.deviceProperties(of: event.node)) ?? nil != nil {
                sharedAssembler.withLock { $0.addDevice(event.node, at: milliseconds) }
            }
            return (milliseconds, key)
        }
        return (nil, nil)
    }

    /// The newest device properties in the archive and the time of their event, or `nil` if no event has device
    /// properties.
    var newestProperties: (time: Int64, pairs: KeyedPairs)? {
        mutating get {
            guard let (time, event) = sharedAssembler.withLock({ $0.newestDeviceEvent }),
                let pairs = try? archive.deviceProperties(of: event)
            else { return nil }
            return (time, pairs)
        }
    }
}

/// A pool of writers that write batches of entries in parallel.
private final class SiftEntryWriters: Sendable {
    /// The maximum number of batches that are written at the same time.
    private static let maxConcurrentBatches = 8

    private let limit: JobLimit
    private let spareWriters: ValuePool<SiftEntryWriter, Never>
    /// The recycled batches, whose memory is reused.
    private let spareBatches = ValuePool<SiftEntryBatch, Never> { SiftEntryBatch() }

    init(_ archive: SiftArchive, limit: JobLimit) {
        self.limit = limit
        spareWriters = ValuePool { SiftEntryWriter(archive) }
    }

    /// Writes the elements of a list from `position` to consecutive batches, and meanwhile calls `concurrentWork`.
    ///
    /// - Returns: The batches up to the first incomplete batch. They contain at least one entry unless `position` is
    ///   the end of the list.
    func write(
        _ list: KeyedElements, from position: Int, depth: Int, concurrentWork: @Sendable () -> Void
    ) -> [SiftEntryBatch] {
        let starts = Array(
            stride(from: position, to: list.count, by: SiftEntryWriter.maximumEntryCount).prefix(
                Self.maxConcurrentBatches))
        let results = Mutex([SiftEntryBatch?](repeating: nil, count: starts.count))
        limit.concurrentPerform(starts.count + 1) { number in
            guard number < starts.count else { return concurrentWork() }
            var batch = self.spareBatches.take()
            self.spareWriters.withPooledValue { $0.write(list, from: starts[number], depth: depth, into: &batch) }
            results.withLock { $0[number] = batch }
        }
        // Batches after an incomplete batch are dropped, because elements before them are missing.
        let batches = results.withLock { $0.compactMap(\.self) }
        let full = batches.prefix { $0.entries.count == SiftEntryWriter.maximumEntryCount }
        return Array(batches.prefix(full.count + 1))
    }

    /// Recycles batches, so that their memory is reused.
    func recycle(_ batches: [SiftEntryBatch]) {
        for batch in batches { spareBatches.recycle(batch) }
    }
}

/// A writer of the elements of lists as entries of requests.
private struct SiftEntryWriter: Sendable {
    /// The maximum number of elements in a batch.
    static let maximumEntryCount = 64
    /// The size of the text, in bytes, at which a batch is full.
    private static let batchSizeLimit = 1 << 19
    /// The approximate maximum size of an entry, in bytes.
    private static let entrySizeLimit = 16 << 20

    private var archive: SiftArchive
    private var eventWriter: SiftEventWriter

    init(_ archive: SiftArchive) {
        self.archive = archive
        let root = archive.archive.document.root
        eventWriter = SiftEventWriter(valueWriter: SiftValueWriter(SiftEventBounds(root, outerDepth: 0)))
    }

    /// Writes the elements of `list` from `position` until the batch is full.
    ///
    /// `depth` is the nesting level of the list in the archive.
    mutating func write(_ list: KeyedElements, from position: Int, depth: Int, into batch: inout SiftEntryBatch) {
        batch.removeAll()
        let end = min(position + Self.maximumEntryCount, list.count)
        batch.entries.reserveCapacity(end - position)
        for position in position..<end where batch.text.count < Self.batchSizeLimit {
            write(list, at: position, depth: depth, into: &batch)
        }
    }

    private mutating func write(_ list: KeyedElements, at position: Int, depth: Int, into batch: inout SiftEntryBatch) {
        let start = batch.text.count
        let outcome: Result<SiftEntryBatch.Event, PropertyListError>
        eventWriter.valueWriter.beginEvent(at: position, outputByteLimit: start + Self.entrySizeLimit)
        do throws(PropertyListError) {
            let stored = try archive.archive.element(at: position, of: list)
            eventWriter.valueWriter.bounds = SiftEventBounds(stored, outerDepth: depth)
            outcome = .success(try eventWriter.write(stored, of: &archive, to: &batch.text))
        } catch {
            outcome = .failure(error)
        }
        batch.entries.append(
            SiftEntryBatch.Entry(
                range: start..<batch.text.count, outcome: outcome, notes: eventWriter.valueWriter.notes,
                valueCount: eventWriter.valueWriter.bounds.valueCount,
                longKeyByteCount: eventWriter.valueWriter.longKeyByteCount))
    }
}

/// The entries of consecutive events, which are added to requests in order.
struct SiftEntryBatch: Sendable {
    /// The result of writing one element of a list, which is an entry or an error.
    struct Entry: Sendable {
        /// The range in ``SiftEntryBatch/text`` of the entry, or of an incomplete entry after an error.
        let range: Range<Int>
        let outcome: Result<Event, PropertyListError>
        let notes: SiftNotes
        /// The number of values in the element, including nested values.
        let valueCount: Int
        /// The total size, in bytes, of the keys that are too long for the key table.
        let longKeyByteCount: Int
    }

    /// The information about an event that is needed in addition to its entry.
    struct Event: Sendable {
        let node: PropertyListNode
        /// The time in milliseconds since 1970, modulo 2^64.
        let time: UInt64
        /// The string that contains the installation id, or `nil` if the event has none.
        let clientNode: PropertyListNode?
        let hasDeviceProperties: Bool
    }

    var text = TextBuffer()
    var entries: [Entry] = []

    /// Removes all entries, but keeps their memory for reuse.
    mutating func removeAll() {
        text.removeAll()
        entries.removeAll(keepingCapacity: true)
    }
}
