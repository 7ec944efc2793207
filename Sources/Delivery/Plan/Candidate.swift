import Bundle
import Bytes
import Hashing
import JSONText
import Telemetry

/// The data about one record that a plan needs.
struct Candidate: Sendable {
    let key: RecordKey
    /// The time of the record, in milliseconds since 1970, or `nil` if it is unknown.
    let time: Int64?
    let location: RecordLocation
    /// The indices of the record's items in the pool, or `nil` if the record is not a list.
    let itemIndices: Range<Int>?
    let clientIndex: UInt32
    let typeIndex: UInt32
    /// The index of the account, or `nil` if the record needs no credential.
    let accountIndex: UInt32?
    /// The index of the hold codes from which the operator has not released the record, or `nil` if there are none.
    let holdsIndex: UInt32?
    /// The index of the rank of the record among its copies, or `nil` if the record was not held when it was captured.
    let rankIndex: UInt32?
    /// Whether the operator has released the record from the hold code `opted-out`, even if it does not have the hold.
    let isReleasedFromOptOut: Bool

    /// The time by which records are sorted, or the maximum value if the time is unknown.
    var sortTime: Int64 { time ?? .max }
}

/// The location of a record in the bundles of a job.
public struct RecordLocation: Sendable, Hashable {
    /// The index of the bundle.
    public let bundleIndex: UInt32
    /// The index of the segment in the bundle.
    public let segmentIndex: UInt32
    /// The byte offset of the record's line in the segment.
    public let lineStart: UInt32
    /// The number of bytes in the line, without the line feed.
    public let lineLength: UInt32
}

/// The notes about the records of a segment.
///
/// The memory for parsing is reused for each record.
struct CandidateNotes: Sendable {
    private(set) var notes: [CandidateNote] = []
    /// The withdrawals that records request, and those because of which records are held.
    private(set) var withdrawals = WithdrawalTable()
    private let systems: SystemTable
    private var document = JSONDocument()

    init(knowing systems: SystemTable) { self.systems = systems }

    /// Adds a note about a record whose line, including the line feed, is at `range` of the segment.
    mutating func add(_ record: borrowing Record, _ key: RecordKey, _ range: Range<Int>) {
        let uploads = systems[record.system]?.uploads
        let list = ListItems(record, uploads?.list, using: &document)
        var holds = record.held
        if uploads?.targetNamesRecord(record) == false { holds.append(Hold(Self.foreignTargetCode)) }
        if let uploads, uploads.precedence.first.contains(record.type) {
            for withdrawal in uploads.withdrawals(by: record, using: &document) {
                withdrawals.insert(withdrawal, isDerived: false)
            }
        }
        addWithdrawals(causing: holds, of: record)
        notes.append(
            CandidateNote(
                key: key, id: record.id, time: record.time, range: range,
                items: list?.items.map { ($0.key, $0.range.count) },
                type: TypeName(system: record.system, name: record.type),
                account: uploads?.account(of: record, using: &document), holds: holds,
                capture: holds.isEmpty || !CopyRank(holds).isDecisive ? nil : record.source.capture,
                profile: uploads?.withdrawals?.profile(record, &document)))
    }

    /// Notes that the client of a record withdrew its data, if the record is held for that reason.
    private mutating func addWithdrawals(causing holds: [Hold], of record: borrowing Record) {
        guard !holds.isEmpty, let client = record.client else { return }
        for reason in [Withdrawal.Reason.forgotten, .optedOut]
        where holds.contains(where: { $0.code == reason.rawValue }) {
            withdrawals.insert(
                Withdrawal(
                    reason, of: Withdrawal.Subject(record.system, .client, id: client),
                    capture: record.source.capture, path: record.source.path), isDerived: true)
        }
    }

    /// The hold code for a record whose target path does not match the id and type of the record.
    private static let foreignTargetCode = "foreign-target"
}

/// The data about one record that is collected while its bundle is verified.
///
/// It contains names, which are later replaced by indices.
struct CandidateNote: Sendable {
    let key: RecordKey
    let id: String
    let time: Timestamp?
    let range: Range<Int>
    /// The keys of the events and their sizes in bytes, or `nil` if the record is not a list.
    let items: [(key: Digest16, count: Int)]?
    let type: TypeName
    /// The account whose credential the record needs, or `nil` if it needs none or identifies no account.
    let account: Account?
    let holds: [Hold]
    /// The label of the record's capture, or `nil` unless the holds of the record decide about all of its copies.
    let capture: String?
    /// The id of the profile to which the record belongs, or `nil` if it belongs to none.
    let profile: String?
}

// MARK: - Storage

/// A list of candidates that uses 64 bytes of memory for each, because a job can have millions of them.
struct CandidateList: Sendable {
    private struct Entry: Sendable {
        let key: RecordKey
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

/// The items of all lists in a pool.
///
/// Keys and sizes are stored in separate arrays, because padding in an array of structs would add four bytes to each of
/// millions of items.
struct PoolItems: Sendable {
    private(set) var keys: [Digest16] = []
    private var sizes: [UInt32] = []

    var count: Int { keys.count }

    /// Returns the size of the item at `index`, in bytes.
    func size(at index: Int) -> Int { Int(sizes[index]) }

    mutating func append(_ key: Digest16, size: Int) {
        keys.append(key)
        sizes.append(UInt32(clamping: size))
    }

    mutating func removeAll(from start: Int) {
        keys.removeSubrange(start...)
        sizes.removeSubrange(start...)
    }
}

/// A map from some of the indices of a pool to numbers, which uses 8 bytes of memory for each entry.
struct SparseNumbers: Sendable {
    /// The entries, in ascending order of their indices.
    private(set) var entries: [(index: UInt32, number: UInt32)] = []

    init() {}

    /// Creates a map from entries with distinct indices.
    init(sorting entries: [(index: UInt32, number: UInt32)]) { self.entries = entries.sorted { $0.index < $1.index } }

    /// Appends an entry whose index is greater than all others.
    mutating func append(_ number: UInt32, at index: Int) { entries.append((UInt32(index), number)) }

    mutating func removeAll(from index: Int) { entries.removeSubrange(position(of: index)...) }

    subscript(index: Int) -> UInt32? {
        let position = position(of: index)
        return position < entries.count && entries[position].index == index ? entries[position].number : nil
    }

    /// Returns the position of the first entry whose index is at least `index`.
    private func position(of index: Int) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].index < index { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
