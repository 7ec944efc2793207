import JSONText
import PropertyList
import Synchronization

/// Reads the lists of events of one archive into requests; an event that cannot be read never costs the others.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 9.1 to 9.3, and "Keyed archives: container, object graph,
/// hostile input", D.3.
struct SiftListReader {
    var archive: SiftArchive
    /// What became of the events.
    private(set) var settlement: SiftSettlement
    private let writers: SiftEntryWriters

    /// - Parameter spread: runs the writing of entries.
    init(_ archive: SiftArchive, byteCount: Int, spread: @escaping Spread) {
        self.archive = archive
        settlement = SiftSettlement(of: archive.archive.document, byteCount: byteCount)
        writers = SiftEntryWriters(archive, spread: spread)
    }

    /// Reads a list into a request, or several if it is too large for one.
    ///
    /// Entries are written in batches, several at a time, and settled one after another, for whether one is taken depends
    /// on those before it; meanwhile the next ones are written.
    ///
    /// - Parameters:
    ///   - depth: the level of the list in its archive, the root being 1.
    ///   - name: how reports call the list.
    ///   - source: where the events of the list are found.
    ///   - entries: the entries of the batches: those of a batch are put in, those of a queue are looked up.
    /// - Throws: `budget-exceeded` if the whole archive is to be refused.
    mutating func read(
        _ list: KeyedElements, depth: Int, named name: String, source: Source, file: Int,
        entries: inout SiftBatchEntries
    ) throws(PropertyListError) {
        try settlement.begin(list.count, named: name, source: source, file: file, entries: &entries)
        defer { settlement.end(entries: &entries) }
        // Moved there and back, for a copy would cost all that was settled so far.
        var work = SiftSettlement(of: archive.archive.document, byteCount: 0)
        swap(&work, &settlement)
        let settling = Mutex(consume work)
        defer { settling.withLock { swap(&$0, &settlement) } }
        var position = 0
        var written: [SiftEntryBatch] = []
        while position < list.count || !written.isEmpty {
            let next = writers.write(list, from: position, depth: depth) { [written] in
                settling.withLock { $0.settle(written) }
            }
            writers.recycle(written)
            position += next.reduce(0) { $0 + $1.entries.count }
            written = next
            if let error = settling.withLock({ $0.error }) { throw error }
        }
    }

    /// Counts a list that is none.
    mutating func loseList(_ error: PropertyListError, named name: String) {
        settlement.loseList(error, named: name)
    }

    /// Looks at the last event that the queue accepted, which is not pending: its time, and its device properties if
    /// they are the newest. One that cannot be read is of no consequence.
    /// - Returns: the time, if it is within the range of RFC 3339, and the key of the entry, if there is one.
    mutating func readLastEvent() -> (time: Int64?, key: String?) {
        for key in ["lastEvent", "last_event"] {
            guard let stored = try? archive.entry(key) else { continue }
            guard let event = try? archive.event(stored), let milliseconds = Int64(exactly: event.time),
                Timestamp(milliseconds: milliseconds) != nil
            else { return (nil, key) }
            if milliseconds > settlement.newestDevice?.time ?? -1,
                (try? archive.deviceProperties(of: event.node)) ?? nil != nil
            {
                settlement.newestDevice = (milliseconds, event.node)
            }
            return (milliseconds, key)
        }
        return (nil, nil)
    }

    /// The newest device properties, and the time of their event.
    var newestProperties: (time: Int64, pairs: KeyedPairs)? {
        mutating get {
            guard let (time, event) = settlement.newestDevice, let pairs = try? archive.deviceProperties(of: event)
            else { return nil }
            return (time, pairs)
        }
    }
}
