import JSONText
import Telemetry

/// Where a record stands.
public struct RecordPlace: Sendable, Hashable {
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
    /// When the device queued it, in milliseconds; the end of time where that is unknown, so that it comes last.
    let time: Int64
    let place: RecordPlace
    let client: UInt32
    let type: UInt32
    /// The number of its account, plus one; 0 where no credential is needed.
    private let accountPlusOne: UInt32
    /// The number of what holds it, plus one; 0 where nothing does.
    private let holdsPlusOne: UInt32
    /// Where its items begin among all items; -1 for a record that is no list.
    private let firstItem: Int
    private let itemCount: Int32

    static let unknownTime = Int64.max

    /// Its items among all items; nil for a record that is no list.
    var items: Range<Int>? { firstItem < 0 ? nil : firstItem..<firstItem + Int(itemCount) }
    var account: UInt32? { accountPlusOne == 0 ? nil : accountPlusOne - 1 }
    var holds: UInt32? { holdsPlusOne == 0 ? nil : holdsPlusOne - 1 }

    init(
        key: DeliveryKey, time: Int64, place: RecordPlace, items: Range<Int>?, client: UInt32, type: UInt32,
        account: UInt32?, holds: UInt32?
    ) {
        (self.key, self.time, self.place, self.client, self.type) = (key, time, place, client, type)
        firstItem = items?.lowerBound ?? -1
        itemCount = Int32(clamping: items?.count ?? 0)
        accountPlusOne = account.map { $0 + 1 } ?? 0
        holdsPlusOne = holds.map { $0 + 1 } ?? 0
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
    private(set) var itemKeys: [ItemKey] = []
    private(set) var itemCounts: [UInt32] = []

    /// The systems that records are of.
    let systems: SystemTable

    /// Makes an empty pool.
    public init(knowing systems: SystemTable) {
        self.systems = systems
    }

    /// How many records there are.
    public var count: Int { candidates.count }

    /// Where a record stands, by its number in the order of the bundles.
    public func place(of index: Int) -> RecordPlace { candidates[index].place }

    /// The codes for which a record, by its number, is held and that are not released, in order.
    public func holds(of index: Int) -> [String] { candidates[index].holds.map { names.holds[$0] } ?? [] }

    /// Whose credential a record needs, by its number; nil if it needs none.
    public func account(of index: Int) -> Account? { candidates[index].account.map { names.accounts[$0] } }

    /// Adds what was noted of a segment.
    /// - Parameter isReleased: whether the operator accepted that a record, by its id, is held for a reason.
    mutating func add(
        _ notes: CandidateNotes, bundle: Int, segment: Int, isReleased: (_ id: String, _ code: String) -> Bool
    ) {
        for note in notes.notes {
            let holds = note.holds.filter { code in
                !Holding.isReleasable(code, knowing: systems) || !isReleased(note.id ?? "", code)
            }
            var items: Range<Int>?
            if let noted = note.items {
                items = itemKeys.count..<itemKeys.count + noted.count
                for item in noted {
                    itemKeys.append(item.key)
                    itemCounts.append(UInt32(clamping: item.count))
                }
            }
            candidates.append(
                Candidate(
                    key: note.key, time: note.time?.milliseconds ?? Candidate.unknownTime,
                    place: RecordPlace(
                        bundle: UInt32(clamping: bundle), segment: UInt32(clamping: segment),
                        start: UInt32(clamping: note.range.lowerBound), count: UInt32(clamping: note.range.count - 1)),
                    items: items, client: names.clients.number(of: note.client),
                    type: names.types.number(of: note.type),
                    account: note.account.map { names.accounts.number(of: $0) },
                    holds: holds.isEmpty ? nil : names.holds.number(of: holds)))
        }
    }
}

/// Which reasons for holding a record an operator may accept.
public enum Holding {
    /// Reasons that nobody can accept. Pending events may still be sent by the phone itself, what has no target has nowhere
    /// to go, what nothing proves right may be something that no phone ever said, and what has pseudonyms no phone said.
    private static let final: Set<String> = [
        Hold.pendingEvents.code, Hold.noTarget.code, Hold.unproven.code, Hold.pseudonymized.code,
    ]

    /// Whether an operator may accept the reason: not one of these, nor one that a system calls final.
    public static func isReleasable(_ code: String, knowing systems: SystemTable) -> Bool {
        !final.contains(code) && !systems.all.contains { $0.uploads.finalHolds.contains(code) }
    }
}
