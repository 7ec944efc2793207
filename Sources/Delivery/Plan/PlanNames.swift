import Bundle
import Bytes
import Telemetry

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

    func identity(of id: String) -> Digest16 { DeliveryKey.identity(system: system, type: name, id: id) }
}

/// The tables of names to which candidates and plans refer by index.
public struct PlanNames: Sendable {
    /// The clients of the records, by index.
    public internal(set) var clients = ClientIndex()
    /// The types of upload, by index.
    public internal(set) var types = NumberedValues<TypeName>()
    /// The accounts that need a credential, by index.
    public internal(set) var accounts = NumberedValues<Account>()
    /// The distinct sets of hold codes from which records have not been released, by index.
    public internal(set) var holds = NumberedValues<[CapturedText]>()
    /// The distinct ranks of held records among their copies, by index.
    var copyRanks = NumberedValues<CopyRank>()
    /// The labels of captures as UTF-8 bytes, by index.
    var captures = NumberedValues<[UInt8]>()

    /// Returns the rank of a record among its copies.
    func copyRank(of candidate: Candidate) -> CopyRank { candidate.rankIndex.map { copyRanks[$0] } ?? .notHeld }

    /// Returns the hold codes at `index`, or no codes if `index` is `nil`, followed by the codes of `withdrawals`.
    func holdCodes(_ index: UInt32?, adding withdrawals: WithdrawalKinds) -> [String] {
        let codes = index.map { holds[$0].map(\.string) } ?? []
        return codes + withdrawals.reasons.map(\.rawValue).filter { !codes.contains($0) }
    }
}
