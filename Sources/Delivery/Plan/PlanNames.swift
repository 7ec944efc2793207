import Bundle
import Telemetry

/// A client as limits count it: told apart by system, without letter case. Records without a client share one a system.
public struct ClientName: Sendable {
    /// The system that knows the client.
    public let system: SystemName
    /// The client's id in the letters in which it was met first; nil for records without one.
    public let client: String?

    /// The id as it is compared.
    var lowercasedID: String? { client?.lowercased() }
}

extension ClientName: Hashable {
    /// Whether both are one client for the limits.
    public static func == (left: ClientName, right: ClientName) -> Bool {
        guard left.system == right.system else { return false }
        guard let first = left.client, let second = right.client else {
            return left.client == nil && right.client == nil
        }
        return first.utf8.elementsEqual(second.utf8) || first.lowercased() == second.lowercased()
    }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(system)
        hasher.combine(lowercasedID)
    }
}

/// A type of upload.
public struct TypeName: Sendable, Hashable {
    /// The system.
    public let system: SystemName
    /// The system's own name of it.
    public let name: String

    /// Returns the identity of the record of this type that has an id.
    func identity(of id: String) -> Digest16 { DeliveryKey.identity(system: system, type: name, id: id) }
}

/// The names of the candidates of a plan, which refer to them by number.
public struct PlanNames: Sendable {
    /// Clients.
    public internal(set) var clients = NumberedValues<ClientName>()
    /// Types of upload.
    public internal(set) var types = NumberedValues<TypeName>()
    /// Accounts that need a credential.
    public internal(set) var accounts = NumberedValues<Account>()
    /// What holds records: the codes that are not released, in order.
    public internal(set) var holds = NumberedValues<[String]>()
}
