/// The rules for replacing ids in the records of a system by pseudonyms.
///
/// Source: "Pseudonyms".
public struct PseudonymFormat: Sendable {
    /// A function that returns the path of an upload with its ids replaced by pseudonyms.
    ///
    /// Returns `nil` if the system does not accept the path.
    public typealias PathRule =
        @Sendable (_ target: Target, _ pseudonym: (_ value: String, PseudonymClass) -> String) -> String?

    /// The rules for payloads, by record type.
    ///
    /// If there is only one table, it applies to all types.
    public let tables: [(types: [String], table: PseudonymTable)]
    /// The rule for paths, or `nil` if paths are kept because they contain no ids.
    public let path: PathRule?

    /// Creates the rules of a system.
    public init(tables: [(types: [String], table: PseudonymTable)], path: PathRule?) {
        self.tables = tables
        self.path = path
    }

    /// Returns the rules for payloads of a record type, or `nil` if payloads of this type are not documented.
    public func table(ofType type: String) -> PseudonymTable? {
        tables.count == 1 ? tables[0].table : tables.first { $0.types.contains(type) }?.table
    }
}
