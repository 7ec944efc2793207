/// A check of whether all items of a list request have the same client.
public struct ClientTally: Sendable {
    /// The client of the first item that has one, or `nil` if no item has a client.
    public private(set) var first: String?
    private var isMixed = false

    /// Creates a tally without clients.
    public init() {}

    /// Adds the client of an item.
    ///
    /// Ids that differ only in letter case are equal, as for upload limits.
    public mutating func count(_ client: String?) {
        guard let client else { return }
        guard let first else { return first = client }
        // This exact comparison is fast, and usually suffices because consecutive ids are mostly equal.
        guard !isMixed, !first.utf8.span.equals(client.utf8.span) else { return }
        isMixed = ClientID(first) != ClientID(client)
    }

    /// The hold for a request with events of several clients, or `nil` if there is only one client.
    public var hold: Hold? { isMixed ? .severalClients : nil }
}
