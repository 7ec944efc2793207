import Bundle
import Bytes

/// An upload in a plan.
public struct PlannedUpload: Sendable, Hashable {
    /// The key of the upload in the ledger.
    public let key: DeliveryKey
    /// The key of the whole record in the ledger.
    public let recordKey: DeliveryKey
    /// The index of the client in the names of the plan.
    public let clientIndex: UInt32
    /// The index of the type in the names of the plan.
    public let typeIndex: UInt32
    /// The index of the account whose credential is needed, or `nil` if none is needed.
    public let accountIndex: UInt32?
    /// The location of the record.
    public let location: RecordLocation
    /// The events in the upload, or an empty array if the record is not a list.
    public let items: [SentItem]
    /// Whether the upload contains the whole record, unchanged.
    public let isWhole: Bool
    /// Whether settling this upload completes the record.
    public let completesRecord: Bool
    /// Whether another part of the record was refused in an earlier job.
    public let followsRefusal: Bool
}

/// The uploads of one client, in the order in which they are sent.
public struct ClientQueue: Sendable {
    /// The index of the client in the names of the plan.
    public let clientIndex: UInt32
    /// The uploads of the client.
    public let sends: [PlannedUpload]
}

/// A part of a list that is sent as one upload.
struct PlannedPart: Sendable {
    let key: DeliveryKey
    let items: [SentItem]
    let isWhole: Bool
    let completesRecord: Bool
    let followsRefusal: Bool
}

/// The uploads of a plan, by client.
///
/// A queue is created when it is accessed. An upload uses 8 bytes of memory, because a plan can have millions of uploads.
public struct ClientQueues: Sendable {
    private struct Entry: Sendable {
        let recordIndex: UInt32
        /// The index in `parts`, or `nil` if the record is not a list.
        let partIndex: OptionalUInt32
    }

    private let pool: CandidatePool
    private var entries: [Entry] = []
    private var parts: [PlannedPart] = []
    /// The index of the first entry of each queue, and the number of entries.
    private var bounds: [UInt32] = [0]

    init(of pool: CandidatePool) { self.pool = pool }

    /// The number of uploads of all clients.
    public var uploadCount: Int { entries.count }

    /// Appends an upload of the record at `index`, which is a part if the record is a list.
    mutating func append(recordAt index: Int, part: PlannedPart?) {
        let partIndex = OptionalUInt32(part == nil ? nil : UInt32(parts.count))
        if let part { parts.append(part) }
        entries.append(Entry(recordIndex: UInt32(index), partIndex: partIndex))
    }

    /// Divides the uploads into queues, in the order in which the bundles first contain the clients.
    ///
    /// The uploads of a client stay in the order in which they were appended.
    mutating func sortByClient() {
        var counts = [UInt32](repeating: 0, count: pool.names.clients.count)
        for entry in entries { counts[clientIndex(of: entry)] += 1 }
        bounds = [0]
        // The index at which the next entry of each client is stored.
        var places = [UInt32](repeating: 0, count: counts.count)
        for candidate in pool.candidates where counts[Int(candidate.clientIndex)] > 0 {
            let client = Int(candidate.clientIndex)
            places[client] = bounds[bounds.count - 1]
            bounds.append(places[client] + counts[client])
            counts[client] = 0
        }
        entries = [Entry](unsafeUninitializedCapacity: entries.count) { sorted, count in
            for entry in entries {
                let client = clientIndex(of: entry)
                sorted.initializeElement(at: Int(places[client]), to: entry)
                places[client] += 1
            }
            count = entries.count
        }
    }

    /// Removes the uploads for which `isRemoved` returns `true`.
    mutating func removeAll(where isRemoved: (PlannedUpload) -> Bool) {
        entries = entries.filter { !isRemoved(upload($0)) }
        sortByClient()
    }

    /// The number of uploads of each record of the pool.
    var uploadCountsByRecord: [UInt32] {
        var counts = [UInt32](repeating: 0, count: pool.count)
        for entry in entries { counts[Int(entry.recordIndex)] += 1 }
        return counts
    }

    private func clientIndex(of entry: Entry) -> Int { Int(pool.candidates[Int(entry.recordIndex)].clientIndex) }

    private func upload(_ entry: Entry) -> PlannedUpload {
        let candidate = pool.candidates[Int(entry.recordIndex)]
        let part = entry.partIndex.value.map { parts[Int($0)] }
        return PlannedUpload(
            key: part?.key ?? candidate.key, recordKey: candidate.key, clientIndex: candidate.clientIndex,
            typeIndex: candidate.typeIndex, accountIndex: candidate.accountIndex, location: candidate.location,
            items: part?.items ?? [], isWhole: part?.isWhole ?? true, completesRecord: part?.completesRecord ?? true,
            followsRefusal: part?.followsRefusal ?? false)
    }
}

extension ClientQueues: RandomAccessCollection {
    /// The index of the first queue.
    public var startIndex: Int { 0 }
    /// The index after the last queue.
    public var endIndex: Int { bounds.count - 1 }

    /// Returns the queue at `index`.
    public subscript(index: Int) -> ClientQueue {
        let entries = entries[Int(bounds[index])..<Int(bounds[index + 1])]
        return ClientQueue(
            clientIndex: UInt32(clientIndex(of: entries[entries.startIndex])), sends: entries.map(upload))
    }
}
