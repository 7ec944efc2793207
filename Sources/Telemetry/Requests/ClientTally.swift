/// The clients that the items of a list request are of.
public struct ClientTally: Sendable {
    /// The first one met.
    public private(set) var first: String?
    private var isMixed = false

    /// Counts nothing yet.
    public init() {}

    /// Counts the client of an item; an item without one does not count as different. Ids are compared without letter case,
    /// as the limits of uploads are.
    public mutating func count(_ client: String?) {
        guard let client else { return }
        guard let first else { return first = client }
        // Mostly the id is the one before to the letter, which is found out much faster.
        guard !isMixed, first != client else { return }
        isMixed = first.lowercased() != client.lowercased()
    }

    /// Why a request of several clients must not be uploaded.
    public var hold: Hold? { isMixed ? .severalClients : nil }
}
