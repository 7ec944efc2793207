import Bytes

/// The order in which the records of a client are uploaded, by type.
///
/// A request to delete a client's data must be sent first, and no earlier record of the client may follow it. This is a
/// rule for the upload plan and not a hold, because it concerns several records.
public struct Precedence: Sendable, Equatable {
    /// The types of records that are sent before all others.
    ///
    /// They count against the same limits as other records.
    public let first: Set<CapturedText>
    /// The types of records that request the deletion of a client's data.
    ///
    /// If the ledger or a bundle contains such a request, only the types in ``first`` are still sent for the client.
    public let deletionRequests: Set<CapturedText>

    /// An order without priorities, in which records are sent by time.
    public static let none = Precedence(first: [], deletionRequests: [])

    /// Creates an order in which requests for deletion are always sent first.
    public init(first: [String], deletionRequests: [String]) {
        self.first = Set((first + deletionRequests).map { CapturedText($0) })
        self.deletionRequests = Set(deletionRequests.map { CapturedText($0) })
    }
}
