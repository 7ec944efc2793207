import Bundle
import Bytes
import Hashing
import Telemetry

/// The records of all bundles of a job, reduced to what a plan needs.
public struct CandidatePool: Sendable {
    /// The names to which the indices in the candidates refer.
    public internal(set) var names = PlanNames()
    private(set) var candidates: [Candidate] = []
    /// The traits to which the candidates refer by index.
    private(set) var traits = NumberedValues<CandidateTraits>()
    /// The items of all lists, with their sizes in bytes.
    private(set) var items: [(key: Digest16, size: UInt32)] = []
    /// The withdrawals that the bundles contain.
    private(set) var withdrawals = WithdrawalTable()
    /// The profiles of the records, by index.
    private(set) var profiles = ClientIndex()

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
            holdCodes(of: index, adding: withdrawals).contains { $0 == code }
                && identities?.contains(candidates[index].key.identity) ?? true
        }
    }

    /// Returns the location of the record at `index`.
    public func location(of index: Int) -> RecordLocation { candidates[index].location }

    /// Returns the account whose credential the record at `index` needs, or `nil` if it needs none.
    public func account(of index: Int) -> Account? { traits(of: index).account }

    func traits(of index: Int) -> CandidateTraits { traits[candidates[index].traitsIndex] }

    /// Returns the codes for which the record at `index` is held, without the codes from which it was released.
    func holdCodes(of index: Int, adding withdrawals: AppliedWithdrawals) -> [CapturedText] {
        let codes = traits(of: index).holds
        let further = withdrawals.holds(of: index).reasons.map { CapturedText($0.rawValue) }
        return codes + further.filter { !codes.contains($0) }
    }

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
        candidates.removeSubrange(checkpoint.candidateCount...)
        items.removeSubrange(checkpoint.itemCount...)
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

    /// Makes space for `count` more records.
    mutating func reserveCapacity(_ count: Int) { candidates.reserveCapacity(candidates.count + count) }

    /// Adds the records of the segment at index `segment` in the bundle at index `bundle`, and their withdrawals.
    ///
    /// `clients` contains the index of each record's client.
    mutating func add(_ notes: CandidateNotes, clients: [UInt32], bundle: Int, segment: Int) {
        withdrawals.formUnion(notes.withdrawals)
        let typeIndices = notes.types.values.map { names.types.number(of: $0) }
        let traitsIndices = notes.traits.values.map { traits.number(of: $0) }
        let profileIndices = (0..<notes.profiles.count).map { number in
            let (id, system) = (notes.profiles.id(ofClient: number), notes.profiles.system(ofClient: number))
            return UInt32(profiles.number(of: id, system: system))
        }
        let firstItem = items.count
        items += notes.items
        for (var candidate, client) in zip(notes.candidates, clients) {
            candidate.location.bundleIndex = UInt32(clamping: bundle)
            candidate.location.segmentIndex = UInt32(clamping: segment)
            candidate.clientIndex = client
            candidate.typeIndex = typeIndices[Int(candidate.typeIndex)]
            candidate.traitsIndex = traitsIndices[Int(candidate.traitsIndex)]
            candidate.profileIndex = candidate.profileIndex.map { profileIndices[Int($0)] }
            candidate.itemIndices = candidate.itemIndices.map { $0.lowerBound + firstItem..<$0.upperBound + firstItem }
            candidates.append(candidate)
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

/// The tables of names to which candidates and plans refer by index.
public struct PlanNames: Sendable {
    /// The clients of the records, by index.
    public internal(set) var clients = ClientIndex()
    /// The types of upload, by index.
    public internal(set) var types = NumberedValues<TypeName>()
}

/// A client to which limits apply, or all records of a system that have no client.
public struct ClientName: Sendable {
    /// The system of the client.
    public let system: SystemName
    /// The client id with the letter case in which it was first seen, or `nil` for records without a client.
    public let client: String?

    /// The client id for comparisons, or `nil` for records without a client.
    var id: ClientID? { client.map { ClientID($0) } }
}

extension ClientName: Hashable {
    /// Returns whether both names refer to the same client, ignoring the case of ASCII letters.
    public static func == (left: ClientName, right: ClientName) -> Bool {
        left.system == right.system && left.id == right.id
    }

    /// Hashes the system and the id.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(system)
        hasher.combine(id)
    }
}

extension ClientIndex {
    /// Returns the name of the client with the given `number`.
    public subscript(number: UInt32) -> ClientName {
        ClientName(system: system(ofClient: Int(number)), client: id(ofClient: Int(number)))
    }

    /// Returns the number of a client, or `nil` if it was not added.
    func existingNumber(of name: ClientName) -> Int? { existingNumber(of: name.client, system: name.system) }
}

/// A type of upload.
public struct TypeName: Sendable, Hashable {
    /// The system of the type.
    public let system: SystemName
    /// The name of the type in its system.
    @CapturedText public private(set) var name: String

    func identity(of id: String) -> Digest16 { RecordKey.identity(system: system, type: name, id: id) }
}
