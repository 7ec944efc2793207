import JSONText
import PropertyList
import Telemetry

/// Reads the lists of events of one archive into requests; an event that cannot be read never costs the others.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 9.1 to 9.3, and "Keyed archives: container, object graph,
/// hostile input", D.3.
struct SiftListReader {
    var archive: SiftArchive
    private let settlement: SharedSettlement
    private let writers: SiftEntryWriters

    /// Begins with an archive of which nothing was read.
    /// - Parameters:
    ///   - batchEntries: the entries of the batches, as far as they are known; see ``takeBatchEntries()``.
    ///   - spread: runs the writing of entries.
    init(
        _ archive: SiftArchive, byteCount: Int, batchEntries: consuming SiftBatchEntries = SiftBatchEntries(),
        spread: @escaping Spread
    ) {
        self.archive = archive
        settlement = SharedSettlement(
            SiftSettlement(of: archive.archive.document, byteCount: byteCount, batchEntries: consume batchEntries))
        writers = SiftEntryWriters(archive, spread: spread)
    }

    var settled: SiftSettlement { settlement.withLock { $0 } }

    /// Gives the entries of the batches back: those of the uploader were added, and those that a queue had too are gone.
    func takeBatchEntries() -> SiftBatchEntries { settlement.withLock { $0.takeBatchEntries() } }

    /// Reads a list into a request, or several if it is too large for one.
    ///
    /// Entries are written in batches, several at a time. They are settled one after another, for whether one is taken
    /// depends on those before it; that is done while the next ones are written.
    ///
    /// - Parameters:
    ///   - depth: the level of the list in its archive, the root being 1.
    ///   - name: how reports call the list.
    ///   - source: where the events of the list are found.
    /// - Throws: `budget-exceeded` if the whole archive is to be refused.
    func read(_ list: KeyedElements, depth: Int, named name: String, source: Source, part: Int)
        throws(PropertyListError)
    {
        try settlement.withLock { settlement throws(PropertyListError) in
            try settlement.begin(list.count, named: name, source: source, part: part)
        }
        var position = 0
        var written: [SiftEntryBatch] = []
        while position < list.count || !written.isEmpty {
            let next = writers.write(list, from: position, depth: depth) { [settlement, written] in
                settlement.withLock { $0.settle(written) }
            }
            if let error = settlement.withLock({ $0.error }) { throw error }
            writers.recycle(written)
            position += next.reduce(0) { $0 + $1.entries.count }
            written = next
        }
    }

    func loseList(_ error: PropertyListError, named name: String) {
        settlement.withLock { $0.loseList(error, named: name) }
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
            if (try? archive.deviceProperties(of: event.node)) ?? nil != nil {
                settlement.withLock { $0.see(deviceAt: milliseconds, event.node) }
            }
            return (milliseconds, key)
        }
        return (nil, nil)
    }

    /// The newest device properties, and the time of their event.
    var newestProperties: (time: Int64, pairs: KeyedPairs)? {
        mutating get {
            guard let (time, event) = settlement.withLock({ $0.newestDevice }),
                let pairs = try? archive.deviceProperties(of: event)
            else { return nil }
            return (time, pairs)
        }
    }
}
