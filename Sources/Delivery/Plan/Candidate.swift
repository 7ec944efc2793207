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
    /// The index of the record's hold codes, or `nil` if the record is not held.
    let holdsIndex: UInt32?

    /// The time by which records are sorted, or the maximum value if the time is unknown.
    var sortTime: Int64 { time ?? .max }
}

/// The data about one record that is collected while its bundle is verified.
///
/// It contains names, which are later replaced by indices.
struct CandidateNote: Sendable {
    let key: DeliveryKey
    /// The id of the record, or `nil` if the record is not held.
    let id: String?
    let time: Timestamp?
    let range: Range<Int>
    /// The keys of the events and their sizes in bytes, or `nil` if the record is not a list.
    let items: [(key: ItemKey, count: Int)]?
    let type: TypeName
    /// The account whose credential the record needs, or `nil` if it needs none or identifies no account.
    let account: Account?
    let holds: [String]
}

/// The notes about the records of a segment.
///
/// The memory for parsing is reused for each record.
struct CandidateNotes: Sendable {
    private(set) var notes: [CandidateNote] = []
    private let systems: SystemTable
    private var document = JSONDocument()

    init(knowing systems: SystemTable) { self.systems = systems }

    /// Adds a note about a record whose line, including the line feed, is at `range` of the segment.
    mutating func add(_ record: borrowing Record, _ range: Range<Int>) {
        let uploads = systems[record.system]?.uploads
        let list = ListItems(record, uploads?.list, using: &document)
        var holds = record.held.map(\.code)
        if uploads?.targetNamesRecord(record) == false { holds.append(Self.foreignTargetCode) }
        notes.append(
            CandidateNote(
                key: DeliveryKey(record), id: holds.isEmpty ? nil : record.id, time: record.time, range: range,
                items: list?.items.map { ($0.key, $0.range.count) },
                type: TypeName(system: record.system, name: record.type),
                account: uploads?.account(of: record, using: &document), holds: holds))
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

    let systems: SystemTable
    /// The bundles of the records, in the order in which they were given.
    private(set) var bundles: [BundleName] = []

    /// Creates an empty pool.
    public init(knowing systems: SystemTable) { self.systems = systems }

    /// Returns whether uploads of a system need credentials.
    public func needsCredential(of system: SystemName) -> Bool { systems[system]?.uploads.credentials != nil }

    /// The number of records in the pool.
    public var count: Int { candidates.count }

    /// Returns the indices of the records that are held for `code` and have one of `ids`, or any id if `ids` is `nil`.
    public func indices(heldFor code: String, ids: [String]?) -> [Int] {
        let identities = ids.map { ids in Set(names.types.values.flatMap { type in ids.map { type.identity(of: $0) } })
        }
        return candidates.indices.filter { index in
            holds(of: index).contains(code) && identities?.contains(candidates[index].key.identity) ?? true
        }
    }

    /// Returns the location of the record at `index`.
    public func location(of index: Int) -> RecordLocation { candidates[index].location }

    /// Returns the hold codes for which the record at `index` is held and has not been released.
    public func holds(of index: Int) -> [String] { candidates[index].holdsIndex.map { names.holds[$0] } ?? [] }

    /// Returns the account whose credential the record at `index` needs, or `nil` if it needs none.
    public func account(of index: Int) -> Account? { candidates[index].accountIndex.map { names.accounts[$0] } }

    /// Returns the index of the hold codes or account that explains `disposition`, or `nil` if no detail explains it.
    func detailIndex(of index: Int, _ disposition: Disposition) -> UInt32? {
        switch disposition {
        case .held: candidates[index].holdsIndex
        case .missingCredential: candidates[index].accountIndex
        default: nil
        }
    }

    var checkpoint: Checkpoint {
        Checkpoint(bundleCount: bundles.count, candidateCount: candidates.count, itemCount: items.count)
    }

    /// The sizes of a pool at one moment, which are used to remove everything that was added later.
    struct Checkpoint {
        let bundleCount: Int
        let candidateCount: Int
        let itemCount: Int
    }

    /// Removes everything that was added after `checkpoint`, except for names.
    mutating func removeAll(after checkpoint: Checkpoint) {
        bundles.removeSubrange(checkpoint.bundleCount...)
        candidates.removeAll(from: checkpoint.candidateCount)
        items.removeAll(from: checkpoint.itemCount)
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

    /// Adds the records of the segment at index `segment` in the bundle at index `bundle`.
    ///
    /// `clients` contains the index of each record's client. Hold codes from which the operator has released a record
    /// are omitted.
    mutating func add(
        _ notes: CandidateNotes, clients: [UInt32], bundle: Int, segment: Int,
        isReleased: (_ id: String, _ code: String) -> Bool
    ) {
        for (note, client) in zip(notes.notes, clients) {
            let holds = note.holds.filter { code in
                !HoldCodes.isReleasable(code, knowing: systems) || !isReleased(note.id ?? "", code)
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
                    holdsIndex: holds.isEmpty ? nil : names.holds.number(of: holds)))
        }
    }
}

/// The path and digest of a bundle.
public struct BundleName: Sendable, Hashable {
    /// The path that the operator specified.
    public let path: String
    /// The digest of the contents, which does not depend on the file name.
    public let digest: String
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
        systems.holdCodes.contains { $0.code == code && !$0.isFinal }
    }
}
