import Bundle
import Bytes
import JSONText
import Telemetry

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

/// The data about one record that a plan needs.
struct Candidate: Sendable {
    let key: DeliveryKey
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

/// The data about one record that is collected while its bundle is verified.
///
/// It contains names, which are later replaced by indices.
struct CandidateNote: Sendable {
    let key: DeliveryKey
    let id: String
    let time: Timestamp?
    let range: Range<Int>
    /// The keys of the events and their sizes in bytes, or `nil` if the record is not a list.
    let items: [(key: ItemKey, count: Int)]?
    let type: TypeName
    /// The account whose credential the record needs, or `nil` if it needs none or identifies no account.
    let account: Account?
    let holds: [Hold]
    /// The label of the record's capture, or `nil` unless the holds of the record decide about all of its copies.
    let capture: String?
    /// The id of the profile to which the record belongs, or `nil` if it belongs to none.
    let profile: String?
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
    mutating func add(_ record: borrowing Record, _ range: Range<Int>) {
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
                key: DeliveryKey(record), id: record.id, time: record.time, range: range,
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
    static let foreignTargetCode = "foreign-target"
}

/// The records of all bundles of a job, reduced to what a plan needs.
public struct CandidatePool: Sendable {
    /// The names to which the indices in the candidates refer.
    public internal(set) var names = PlanNames()
    private(set) var candidates = CandidateList()
    private(set) var items = PoolItems()
    /// The withdrawals that the bundles contain.
    private(set) var withdrawals = WithdrawalTable()
    /// The profiles of the records.
    private(set) var profiles = ClientIndex()
    /// The number in ``profiles`` of each record that belongs to a profile.
    private(set) var profileNumbers = SparseNumbers()
    /// The number in ``PlanNames/captures`` of each record whose holds decide about all of its copies.
    private(set) var captureNumbers = SparseNumbers()

    let systems: SystemTable
    /// The bundles of the records, in the order in which they were given.
    private(set) var bundles: [BundleName] = []
    /// The position of each bundle in the order in which its records are sent, or an empty array for the given order.
    private var bundlePositions: [UInt32] = []

    /// Creates an empty pool.
    public init(knowing systems: SystemTable) { self.systems = systems }

    /// Returns whether uploads of a system need credentials.
    public func needsCredential(of system: SystemName) -> Bool { systems[system]?.uploads.credentials != nil }

    /// The number of records in the pool.
    public var count: Int { candidates.count }

    /// Returns the indices of the records that are held for `code` and have one of `ids`, or any id if `ids` is `nil`.
    ///
    /// A withdrawal in one bundle holds the records of its client in all bundles.
    public func indices(heldFor code: String, ids: [String]?) -> [Int] {
        let identities = ids.map { ids in Set(names.types.values.flatMap { type in ids.map { type.identity(of: $0) } })
        }
        let withdrawals = AppliedWithdrawals(to: self, LedgerState())
        return candidates.indices.filter { index in
            names.holdCodes(candidates[index].holdsIndex, adding: withdrawals.holds(of: index))
                .contains { CapturedText($0) == code }
                && identities?.contains(candidates[index].key.identity) ?? true
        }
    }

    /// Returns the location of the record at `index`.
    public func location(of index: Int) -> RecordLocation { candidates[index].location }

    /// Returns the account whose credential the record at `index` needs, or `nil` if it needs none.
    public func account(of index: Int) -> Account? { candidates[index].accountIndex.map { names.accounts[$0] } }

    var checkpoint: Checkpoint {
        Checkpoint(
            bundleCount: bundles.count, candidateCount: candidates.count, itemCount: items.count,
            withdrawals: withdrawals)
    }

    /// The sizes and the withdrawals of a pool at one moment, which are used to remove everything that was added later.
    struct Checkpoint {
        let bundleCount: Int
        let candidateCount: Int
        let itemCount: Int
        let withdrawals: WithdrawalTable
    }

    /// Removes everything that was added after `checkpoint`, except for names.
    mutating func removeAll(after checkpoint: Checkpoint) {
        bundles.removeSubrange(checkpoint.bundleCount...)
        candidates.removeAll(from: checkpoint.candidateCount)
        items.removeAll(from: checkpoint.itemCount)
        profileNumbers.removeAll(from: checkpoint.candidateCount)
        captureNumbers.removeAll(from: checkpoint.candidateCount)
        withdrawals = checkpoint.withdrawals
    }

    /// Calls `body` with the clients of the pool, to which `body` can add clients, and with the pool.
    ///
    /// During the call, the pool itself has no clients, because a second reference to them would cause a copy.
    mutating func withClients(_ body: (inout ClientIndex, inout CandidatePool) async throws -> Void) async rethrows {
        var clients = exchange(&names.clients, with: ClientIndex())
        defer { names.clients = clients }
        try await body(&clients, &self)
    }

    /// Adds a bundle without its records.
    mutating func addBundle(_ bundle: BundleName) { bundles.append(bundle) }

    /// Sets the order of records with equal times to the order of their bundles in `order`, which contains each index.
    mutating func setBundleOrder(_ order: [Int]) {
        bundlePositions = Array(repeating: 0, count: order.count)
        for (position, index) in order.enumerated() { bundlePositions[index] = UInt32(clamping: position) }
    }

    /// Returns the position of the bundle at `index` in the order in which records are sent.
    func position(ofBundle index: UInt32) -> UInt32 {
        bundlePositions.indices.contains(Int(index)) ? bundlePositions[Int(index)] : index
    }

    /// Adds a withdrawal from the list of a bundle.
    mutating func add(_ withdrawal: Withdrawal) { withdrawals.insert(withdrawal, isDerived: false) }

    /// Adds the records of the segment at index `segment` in the bundle at index `bundle`, and their withdrawals.
    ///
    /// `clients` contains the index of each record's client. Hold codes from which the operator has released a record
    /// only affect which of several copies is used.
    mutating func add(
        _ notes: CandidateNotes, clients: [UInt32], bundle: Int, segment: Int,
        isReleased: (_ id: String, _ code: String) -> Bool
    ) {
        withdrawals.formUnion(notes.withdrawals)
        for (note, client) in zip(notes.notes, clients) {
            let holds = note.holds.map(\.code).filter { code in
                !HoldCodes.isReleasable(code, knowing: systems) || !isReleased(note.id, code)
            }
            if let profile = note.profile {
                let number = profiles.number(of: profile, system: note.type.system)
                profileNumbers.append(UInt32(number), at: candidates.count)
            }
            if let capture = note.capture {
                captureNumbers.append(names.captures.number(of: Array(capture.utf8)), at: candidates.count)
            }
            let firstItem = items.count
            let itemRange = note.items.map { firstItem..<firstItem + $0.count }
            for item in note.items ?? [] { items.append(item.key, size: item.count) }
            candidates.append(
                Candidate(
                    key: note.key, time: note.time?.milliseconds,
                    location: RecordLocation(
                        bundleIndex: UInt32(clamping: bundle), segmentIndex: UInt32(clamping: segment),
                        lineStart: UInt32(clamping: note.range.lowerBound),
                        lineLength: UInt32(clamping: note.range.count - 1)),
                    itemIndices: itemRange, clientIndex: client, typeIndex: names.types.number(of: note.type),
                    accountIndex: note.account.map { names.accounts.number(of: $0) },
                    holdsIndex: holds.isEmpty ? nil : names.holds.number(of: holds.map { CapturedText($0) }),
                    rankIndex: note.holds.isEmpty ? nil : names.copyRanks.number(of: CopyRank(note.holds)),
                    isReleasedFromOptOut: isReleased(note.id, Hold.optedOut.code)))
        }
    }
}

/// The path and digest of a bundle.
public struct BundleName: Sendable, Hashable {
    /// The path that the operator specified.
    @CapturedText public private(set) var path: String
    /// The digest of the contents, which does not depend on the file name.
    @CapturedText public private(set) var digest: String
}

/// The hold codes that an operator may release.
public enum HoldCodes {
    /// Returns the codes that an operator may release, in alphabetical order.
    public static func releasable(knowing systems: SystemTable) -> [String] {
        systems.holdCodes.filter { !$0.isFinal }.map(\.code)
    }

    /// Returns whether an operator may release records that are held for `code`.
    public static func isReleasable(_ code: String, knowing systems: SystemTable) -> Bool {
        // An unknown code was introduced by a newer version, which may not allow its release.
        systems.holdCodes.contains { CapturedText($0.code) == code && !$0.isFinal }
    }
}
