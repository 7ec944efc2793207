import Bundle
import Bytes

/// A list of candidates that uses 64 bytes of memory for each, because a job can have millions of them.
struct CandidateList: Sendable {
    private struct Entry: Sendable {
        let key: DeliveryKey
        /// The time of the record, or the maximum value if it is unknown.
        let sortTime: Int64
        /// The number of the segment in `segments`.
        let segmentNumber: UInt32
        let lineStart: UInt32
        let lineLength: UInt32
        let clientIndex: UInt32
        /// The number of the combination of type, account, holds and releases in `kinds`.
        let kindNumber: UInt32
        /// The index in `lists`, or `nil` if the record is not a list.
        let listIndex: OptionalUInt32
    }

    private struct Segment: Hashable {
        let bundleIndex: UInt32
        let segmentIndex: UInt32
    }

    private struct Kind: Hashable {
        let typeIndex: UInt32
        let accountIndex: UInt32?
        let holdsIndex: UInt32?
        let rankIndex: UInt32?
        let isReleasedFromOptOut: Bool
    }

    /// The memory that a candidate uses, in bytes.
    static var entrySize: Int { MemoryLayout<Entry>.stride }

    private var entries = ChunkedArray<Entry>()
    private var segments = NumberedValues<Segment>()
    private var kinds = NumberedValues<Kind>()
    /// The indices of the items of each list.
    private var lists: [Range<Int>] = []

    mutating func append(_ candidate: Candidate) {
        let location = candidate.location
        let kind = Kind(
            typeIndex: candidate.typeIndex, accountIndex: candidate.accountIndex, holdsIndex: candidate.holdsIndex,
            rankIndex: candidate.rankIndex, isReleasedFromOptOut: candidate.isReleasedFromOptOut)
        if let items = candidate.itemIndices { lists.append(items) }
        entries.append(
            Entry(
                key: candidate.key, sortTime: candidate.sortTime,
                segmentNumber: segments.number(
                    of: Segment(bundleIndex: location.bundleIndex, segmentIndex: location.segmentIndex)),
                lineStart: location.lineStart, lineLength: location.lineLength, clientIndex: candidate.clientIndex,
                kindNumber: kinds.number(of: kind),
                listIndex: OptionalUInt32(candidate.itemIndices == nil ? nil : UInt32(lists.count - 1))))
    }

    mutating func removeAll(from start: Int) { entries.removeAll(from: start) }
}

extension CandidateList: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { entries.count }

    subscript(index: Int) -> Candidate {
        let entry = entries[index]
        let (segment, kind) = (segments[entry.segmentNumber], kinds[entry.kindNumber])
        return Candidate(
            key: entry.key, time: entry.sortTime == .max ? nil : entry.sortTime,
            location: RecordLocation(
                bundleIndex: segment.bundleIndex, segmentIndex: segment.segmentIndex, lineStart: entry.lineStart,
                lineLength: entry.lineLength),
            itemIndices: entry.listIndex.value.map { lists[Int($0)] }, clientIndex: entry.clientIndex,
            typeIndex: kind.typeIndex, accountIndex: kind.accountIndex, holdsIndex: kind.holdsIndex,
            rankIndex: kind.rankIndex, isReleasedFromOptOut: kind.isReleasedFromOptOut)
    }
}
