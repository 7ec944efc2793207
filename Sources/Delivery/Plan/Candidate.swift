import Bytes
import JSONText
import Telemetry

/// Where a record stands.
public struct RecordLocation: Sendable, Hashable {
    /// The bundle, in the order given, from 0.
    public let bundle: UInt32
    /// The segment in the bundle, from 0.
    public let segment: UInt32
    /// The first byte of its line in the segment.
    public let start: UInt32
    /// The bytes of its line, without the line feed.
    public let count: UInt32
}

/// The knowledge of a record that a plan needs: 88 bytes, whatever the size of the record, and its items.
struct Candidate: Sendable {
    let key: DeliveryKey
    let location: RecordLocation
    /// The time at which the device queued the record, in milliseconds since 1970, or `nil` if it is unknown.
    let time: Int64?
    let client: UInt32
    let type: UInt32
    private let packedAccount: OptionalUInt32
    private let packedHolds: OptionalUInt32
    private let itemCount: OptionalUInt32
    private let firstItem: Int

    /// The key that sorts records by time. Records of unknown time come last.
    var timeOrder: Int64 { time ?? .max }
    /// The indices of the record's items in the pool, or `nil` for a record that is no list.
    var items: Range<Int>? { itemCount.value.map { firstItem..<firstItem + Int($0) } }
    /// The number of the account, or `nil` if the record needs no credential.
    var account: UInt32? { packedAccount.value }
    /// The number of the reasons that hold the record, or `nil` if it is not held.
    var holds: UInt32? { packedHolds.value }

    init(
        key: DeliveryKey, time: Timestamp?, location: RecordLocation, items: Range<Int>?, client: UInt32, type: UInt32,
        account: UInt32?, holds: UInt32?
    ) {
        (self.key, self.location, self.client, self.type) = (key, location, client, type)
        self.time = time?.milliseconds
        firstItem = items?.lowerBound ?? 0
        itemCount = OptionalUInt32(items.map { UInt32($0.count) })
        packedAccount = OptionalUInt32(account)
        packedHolds = OptionalUInt32(holds)
    }
}

/// The knowledge of a record that is collected while its bundle is verified, before names have numbers.
struct CandidateNote: Sendable {
    let key: DeliveryKey
    let id: String?
    let time: Timestamp?
    let range: Range<Int>
    let items: [(key: ItemKey, count: Int)]?
    let client: ClientName
    let type: TypeName
    let account: Account?
    let holds: [String]
}

/// The notes of one segment, and the memory that taking them needs.
struct CandidateNotes: Sendable {
    private(set) var notes: [CandidateNote] = []
    private let systems: SystemTable
    private var document = JSONDocument()

    init(knowing systems: SystemTable) {
        self.systems = systems
    }

    /// Notes a record.
    /// - Parameter range: where its line with the line feed stands in the segment.
    mutating func add(_ record: borrowing Record, _ range: Range<Int>) {
        let uploads = systems[record.system]?.uploads
        let list = ListItems(record, uploads?.list, using: &document)
        var holds = record.held.map(\.code)
        if uploads?.isTargetItsOwn(record) == false { holds.append(Self.foreignTarget) }
        notes.append(
            CandidateNote(
                key: DeliveryKey(record), id: holds.isEmpty ? nil : record.id, time: record.time, range: range,
                items: list?.items.map { ($0.key, $0.range.count) },
                client: ClientName(system: record.system, client: record.client),
                type: TypeName(system: record.system, name: record.type),
                account: uploads?.account(of: record, using: &document), holds: holds))
    }

    /// The code that holds a record whose target names another document.
    static let foreignTarget = "foreign-target"
}

/// All records of the bundles of a job, each reduced to what a plan needs.
public struct CandidatePool: Sendable {
    /// The names that numbers stand for.
    public private(set) var names = PlanNames()
    private(set) var candidates: [Candidate] = []
    /// The items of the records that are lists.
    private(set) var items = PoolItems()

    /// The systems that records are of.
    let systems: SystemTable
    /// The bundles that records stand in, in their order.
    private(set) var bundles: [BundleName] = []

    /// Makes an empty pool.
    public init(knowing systems: SystemTable) {
        self.systems = systems
    }

    /// Whether uploads of a system need credentials.
    public func needsCredential(of system: SystemName) -> Bool { systems[system]?.uploads.credentials != nil }

    /// How many records there are.
    public var count: Int { candidates.count }

    /// The records, by number, that are held for a code that is not released.
    /// - Parameter ids: only those of these ids; nil for all.
    public func indices(heldFor code: String, ids: [String]?) -> [Int] {
        let wanted = ids.map { ids in Set(names.types.values.flatMap { type in ids.map { type.identity(of: $0) } }) }
        return candidates.indices.filter { index in
            holds(of: index).contains(code) && wanted?.contains(candidates[index].key.identity) ?? true
        }
    }

    /// Where a record stands, by its number in the order of the bundles.
    public func location(of index: Int) -> RecordLocation { candidates[index].location }

    /// The codes for which a record, by its number, is held and that are not released, in order.
    public func holds(of index: Int) -> [String] { candidates[index].holds.map { names.holds[$0] } ?? [] }

    /// Whose credential a record needs, by its number; nil if it needs none.
    public func account(of index: Int) -> Account? { candidates[index].account.map { names.accounts[$0] } }

    /// What more there is to say of why a record is not sent: the number of what holds it, or of its account.
    func detail(of index: Int, _ disposition: Disposition) -> UInt32? {
        switch disposition {
        case .held: candidates[index].holds
        case .missingCredential: candidates[index].account
        default: nil
        }
    }

    /// Where the pool ends now.
    var end: End { End(bundles: bundles.count, candidates: candidates.count, items: items.count) }

    /// The place where a pool ended before more was added.
    struct End {
        let bundles: Int
        let candidates: Int
        let items: Int
    }

    /// Takes out what was added after it ended at a place. Names that were met keep their numbers.
    mutating func removeAll(after end: End) {
        bundles.removeSubrange(end.bundles...)
        candidates.removeSubrange(end.candidates...)
        items.removeAll(from: end.items)
    }

    /// Names the next bundle, of which segments are added then.
    mutating func addBundle(_ bundle: BundleName) { bundles.append(bundle) }

    /// Adds what was noted of a segment.
    /// - Parameter isReleased: whether the operator accepted that a record, by its id, is held for a reason.
    mutating func add(
        _ notes: CandidateNotes, bundle: Int, segment: Int, isReleased: (_ id: String, _ code: String) -> Bool
    ) {
        for note in notes.notes {
            let holds = note.holds.filter { code in
                !HoldCodes.isReleasable(code, knowing: systems) || !isReleased(note.id ?? "", code)
            }
            let firstItem = items.count
            let itemRange = note.items.map { firstItem..<firstItem + $0.count }
            for item in note.items ?? [] { items.append(item.key, size: item.count) }
            candidates.append(
                Candidate(
                    key: note.key, time: note.time,
                    location: RecordLocation(
                        bundle: UInt32(clamping: bundle), segment: UInt32(clamping: segment),
                        start: UInt32(clamping: note.range.lowerBound), count: UInt32(clamping: note.range.count - 1)),
                    items: itemRange, client: names.clients.number(of: note.client),
                    type: names.types.number(of: note.type),
                    account: note.account.map { names.accounts.number(of: $0) },
                    holds: holds.isEmpty ? nil : names.holds.number(of: holds)))
        }
    }
}

/// A bundle as an operator knows it.
public struct BundleName: Sendable, Hashable {
    /// The path by which it was given.
    public let path: String
    /// Its digest, which stays the same whatever the file is called.
    public let digest: String
}

/// Which reasons for holding a record an operator may accept.
public enum HoldCodes {
    /// The codes that an operator may accept, in order.
    public static func releasable(knowing systems: SystemTable) -> [String] {
        systems.holdCodes.filter { !$0.isFinal }.map(\.code)
    }

    /// Whether an operator may accept the reason: one that is known, and not final. What is not known comes from a newer
    /// version, which may have called it final.
    public static func isReleasable(_ code: String, knowing systems: SystemTable) -> Bool {
        systems.holdCodes.contains { $0.code == code && !$0.isFinal }
    }
}
