import Bundle
import Bytes
import Hashing
import JSONText
import Telemetry

/// A record of a job's bundles, reduced to what its plan and its upload need.
///
/// Names are stored as indices, and unknown values as the maximum values of their types, so that a candidate uses 80 bytes
/// of memory: a plan for 1,300,000 records must use less than 500 MB.
struct Candidate: Sendable, Hashable {
    let key: RecordKey
    /// The location of the record, whose bundle and segment are set when the record is added to a pool.
    var location: RecordLocation
    /// The time by which records are sorted: milliseconds since 1970, or the maximum value if the time is unknown.
    let sortTime: Int64
    /// The index of the client in ``PlanNames/clients``.
    var clientIndex: UInt32 = 0
    /// The index of the type in ``PlanNames/types``.
    var typeIndex: UInt32
    /// The index of the traits in ``CandidatePool/traits``.
    var traitsIndex: UInt32
    private var storedProfileIndex = UInt32.max
    private var storedItems = UInt32.max ..< .max

    /// The time of the record, in milliseconds since 1970, or `nil` if it is unknown.
    var time: Int64? { sortTime == .max ? nil : sortTime }

    /// The index of the profile to which the record belongs, or `nil` if it belongs to none.
    var profileIndex: UInt32? {
        get { storedProfileIndex == .max ? nil : storedProfileIndex }
        set { storedProfileIndex = newValue ?? .max }
    }

    /// The indices of the record's items in the pool, or `nil` if the record is not a list.
    var itemIndices: Range<Int>? {
        get { storedItems.lowerBound == .max ? nil : Int(storedItems.lowerBound)..<Int(storedItems.upperBound) }
        set {
            let indices = newValue ?? Int(UInt32.max)..<Int(UInt32.max)
            storedItems = UInt32(clamping: indices.lowerBound)..<UInt32(clamping: indices.upperBound)
        }
    }

    init(
        key: RecordKey, location: RecordLocation, time: Timestamp?, typeIndex: UInt32, traitsIndex: UInt32,
        profileIndex: Int?, itemIndices: Range<Int>?
    ) {
        (self.key, self.location, self.typeIndex, self.traitsIndex) = (key, location, typeIndex, traitsIndex)
        sortTime = time?.milliseconds ?? .max
        self.profileIndex = profileIndex.map { UInt32($0) }
        self.itemIndices = itemIndices
    }
}

/// The location of a record in the bundles of a job.
public struct RecordLocation: Sendable, Hashable {
    /// The index of the bundle.
    public internal(set) var bundleIndex: UInt32 = 0
    /// The index of the segment in the bundle.
    public internal(set) var segmentIndex: UInt32 = 0
    /// The byte offset of the record's line in the segment.
    public let lineStart: UInt32
    /// The number of bytes in the line, without the line feed.
    public let lineLength: UInt32
}

/// The properties of a record that most records share with others.
struct CandidateTraits: Sendable, Hashable {
    /// The account whose credential the record needs, or `nil` if it needs none or identifies no account.
    let account: Account?
    /// The hold codes from which the operator has not released the record.
    let holds: [CapturedText]
    /// The rank of the record among its copies, on which a release has no effect.
    let copyRank: CopyRank
    /// The label of the record's capture, or `nil` unless the holds of the record decide about all of its copies.
    let capture: CapturedText?
    /// Whether the operator has released the record from the hold code `opted-out`, even if it does not have the hold.
    let isReleasedFromOptOut: Bool
}

/// The candidates of a segment, which are collected while its bundle is verified.
///
/// Their indices refer to the tables of the segment. The memory for parsing is reused for each record.
struct CandidateNotes: Sendable {
    private(set) var candidates: [Candidate] = []
    private(set) var types = NumberedValues<TypeName>()
    private(set) var traits = NumberedValues<CandidateTraits>()
    private(set) var profiles = ClientIndex()
    /// The keys of the items of all lists, and their sizes in bytes.
    private(set) var items: [(key: Digest16, size: UInt32)] = []
    /// The withdrawals that records request, and those because of which records are held.
    private(set) var withdrawals = WithdrawalTable()
    private let systems: SystemTable
    private let isReleased: @Sendable (_ id: String, _ code: String) -> Bool
    private var document = JSONDocument()

    /// Creates empty notes, where `isReleased` returns whether the operator has released a record from a hold code.
    init(knowing systems: SystemTable, isReleased: @escaping @Sendable (_ id: String, _ code: String) -> Bool) {
        self.systems = systems
        self.isReleased = isReleased
    }

    /// Adds a record whose line, including the line feed, is at `range` of the segment.
    mutating func add(_ record: borrowing Record, _ key: RecordKey, _ range: Range<Int>) {
        let uploads = systems[record.system]?.uploads
        var holds = record.held
        if uploads?.targetNamesRecord(record) == false { holds.append(Hold(Self.foreignTargetCode)) }
        if let uploads, uploads.precedence.first.contains(record.type) {
            for withdrawal in uploads.withdrawals(by: record, using: &document) {
                withdrawals.insert(withdrawal, isDerived: false)
            }
        }
        addWithdrawals(causing: holds, of: record)
        let list = ListItems(record, uploads?.list, using: &document)
        let firstItem = items.count
        items += list?.items.map { ($0.key, UInt32(clamping: $0.range.count)) } ?? []
        let rank = holds.isEmpty ? .notHeld : CopyRank(holds)
        let traits = CandidateTraits(
            account: uploads?.account(of: record, using: &document), holds: remainingCodes(of: holds, id: record.id),
            copyRank: rank, capture: rank.isDecisive ? CapturedText(record.source.capture) : nil,
            isReleasedFromOptOut: isReleased(record.id, Hold.optedOut.code))
        let profile = uploads?.profile(of: record, using: &document)
        candidates.append(
            Candidate(
                key: key,
                location: RecordLocation(
                    lineStart: UInt32(clamping: range.lowerBound), lineLength: UInt32(clamping: range.count - 1)),
                time: record.time, typeIndex: types.number(of: TypeName(system: record.system, name: record.type)),
                traitsIndex: self.traits.number(of: traits),
                profileIndex: profile.map { profiles.number(of: $0, system: record.system) },
                itemIndices: list == nil ? nil : firstItem..<items.count))
    }

    /// Returns the codes of `holds` from which the operator has not released the record with the given id.
    private func remainingCodes(of holds: [Hold], id: String) -> [CapturedText] {
        holds.map(\.code).filter { !HoldCodes.isReleasable($0, knowing: systems) || !isReleased(id, $0) }
            .map { CapturedText($0) }
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
