import Bundle
import Bytes

/// The uploads of one client, in the order in which they are sent.
public struct ClientQueue: Sendable {
    /// The index of the client in ``PlanNames/clients``.
    public let clientIndex: UInt32
    /// The uploads of the client.
    public let sends: [PlannedUpload]
}

/// The uploads of a plan, by client.
///
/// A queue is created when it is accessed. An upload of a record that is not a list uses 8 bytes of memory, because a
/// plan can have millions of uploads.
public struct ClientQueues: Sendable {
    private struct Entry: Sendable {
        let recordIndex: UInt32
        /// The index in `listUploads`, or `nil` if the record is not a list.
        let listUploadIndex: OptionalUInt32
    }

    private let pool: CandidatePool
    private var entries: [Entry] = []
    private var listUploads: [PlannedUpload] = []
    /// The index of the first entry of each queue, followed by the number of entries.
    private var bounds: [UInt32] = [0]

    init(of pool: CandidatePool) { self.pool = pool }

    /// The number of uploads of all clients.
    public var uploadCount: Int { entries.count }

    /// Appends an upload of the record at `index`.
    ///
    /// `listUpload` is the upload to send if the record is a list, and `nil` if not.
    mutating func append(recordAt index: Int, listUpload: PlannedUpload? = nil) {
        let listUploadIndex = OptionalUInt32(listUpload == nil ? nil : UInt32(listUploads.count))
        if let listUpload { listUploads.append(listUpload) }
        entries.append(Entry(recordIndex: UInt32(index), listUploadIndex: listUploadIndex))
    }

    /// Divides the uploads into queues, in the order in which the clients first appear in the bundles.
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

    /// The number of uploads for each record of the pool.
    var uploadCountsByRecord: [UInt32] {
        var counts = [UInt32](repeating: 0, count: pool.count)
        for entry in entries { counts[Int(entry.recordIndex)] += 1 }
        return counts
    }

    private func clientIndex(of entry: Entry) -> Int { Int(pool.candidates[Int(entry.recordIndex)].clientIndex) }

    private func upload(_ entry: Entry) -> PlannedUpload {
        if let index = entry.listUploadIndex.value { return listUploads[Int(index)] }
        return PlannedUpload(of: pool.candidates[Int(entry.recordIndex)])
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
