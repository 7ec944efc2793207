/// Which records of a system go before the others of their client, by their types, and which of them end what the client has
/// left.
///
/// A client that asks for the deletion of its data must be heard first, and what it queued before must not follow. No record
/// can know that of itself, so it is a rule of the plan and no hold.
public struct Precedence: Sendable, Equatable {
    /// The types of records that go before all others, whatever their time. They count against the limits like any other.
    public let first: Set<String>
    /// The types by which a client asks that its data be deleted. Once a ledger or a bundle has one, other records of
    /// the client are not sent any more.
    public let deletionRequests: Set<String>

    /// All records go by their time.
    public static let none = Precedence(first: [], deletionRequests: [])

    /// Names the types; a request for deletion always goes first.
    public init(first: Set<String>, deletionRequests: Set<String>) {
        self.first = first.union(deletionRequests)
        self.deletionRequests = deletionRequests
    }
}
