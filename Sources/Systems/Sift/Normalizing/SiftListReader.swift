import JSONText
import PropertyList
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
        parallelFor: @escaping ParallelFor
    ) {
        self.archive = archive
        sharedAssembler = SharedRequestAssembler(
            SiftRequestAssembler(of: archive.archive.document, byteCount: byteCount, batchEntries: consume batchEntries)
        )
        entryWriters = SiftEntryWriters(archive, parallelFor: parallelFor)
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
