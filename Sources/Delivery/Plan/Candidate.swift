import Bundle
import Bytes
import Hashing
import JSONText
import Telemetry

/// The data about one record that a plan needs.
///
/// Names are stored as indices, so that a candidate uses 120 bytes of memory: with strings, a plan for 1,300,000 records
/// would use more than 500 MB.
struct Candidate: Sendable {
    let key: RecordKey
    /// The time of the record, in milliseconds since 1970, or `nil` if it is unknown.
    let time: Int64?
    let location: RecordLocation
    let clientIndex: UInt32
    let typeIndex: UInt32
    /// The indices of the record's items in the pool, or `nil` if the record is not a list.
    let items: Range<UInt32>?
    /// The index of the account, or `nil` if the record needs no credential.
    let accountIndex: UInt32?
    /// The index of the hold codes from which the operator has not released the record, or `nil` if there are none.
    let holdsIndex: UInt32?
    /// The index of the rank of the record among its copies, or `nil` if the record was not held when it was captured.
    let rankIndex: UInt32?
    /// The index of the record's capture, or `nil` unless the holds of the record decide about all of its copies.
    let captureIndex: UInt32?
    /// The index of the profile to which the record belongs, or `nil` if it belongs to none.
    let profileIndex: UInt32?
    /// Whether the operator has released the record from the hold code `opted-out`, even if it does not have the hold.
    let isReleasedFromOptOut: Bool

    /// The time by which records are sorted, or the maximum value if the time is unknown.
    var sortTime: Int64 { time ?? .max }

    /// The indices of the record's items in the pool, or `nil` if the record is not a list.
    var itemIndices: Range<Int>? { items.map { Int($0.lowerBound)..<Int($0.upperBound) } }
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
                items: list?.items.map { ($0.key, UInt32(clamping: $0.range.count)) },
                type: TypeName(system: record.system, name: record.type),
                account: uploads?.account(of: record, using: &document), holds: holds,
                capture: holds.isEmpty || !CopyRank(holds).isDecisive ? nil : record.source.capture,
                profile: uploads?.profile(of: record, using: &document)))
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
    let items: [(key: Digest16, size: UInt32)]?
    let type: TypeName
    /// The account whose credential the record needs, or `nil` if it needs none or identifies no account.
    let account: Account?
    let holds: [Hold]
    /// The label of the record's capture, or `nil` unless the holds of the record decide about all of its copies.
    let capture: String?
    /// The id of the profile to which the record belongs, or `nil` if it belongs to none.
    let profile: String?
}
