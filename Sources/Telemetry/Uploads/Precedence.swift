/// The order of the uploads of a client, by the types of the records.
///
/// A request for the deletion of a client's data must be sent first, and records that were queued before it must not
/// follow. A single record does not determine this, so it is a rule of the upload plan and not a hold.
public struct Precedence: Sendable, Equatable {
    /// The types of records that are sent before all others, but count against the limits like them.
    public let first: Set<String>
    /// The types of requests for the deletion of a client's data.
    ///
    /// Once a ledger or a bundle contains such a request, other records of the client are no longer sent.
    public let deletionRequests: Set<String>

    /// Records are sent in the order of their time.
    public static let none = Precedence(first: [], deletionRequests: [])

    /// Creates an order in which requests for deletion are always sent first.
    public init(first: Set<String>, deletionRequests: Set<String>) {
        self.first = first.union(deletionRequests)
        self.deletionRequests = deletionRequests
    }
}
