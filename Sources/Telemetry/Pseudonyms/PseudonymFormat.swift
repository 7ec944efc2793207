/// The rules by which the records of a system get pseudonyms.
///
/// Source: "Pseudonyms".
public struct PseudonymFormat: Sendable {
    /// Returns the path of a target with pseudonyms in place of ids, or `nil` if the target is not in the grammar of the
    /// system. `pseudonym` makes the pseudonym of a value of a class.
    public typealias PathRule =
        @Sendable (_ target: Target, _ pseudonym: (_ value: String, PseudonymClass) -> String) -> String?

    /// The rules of the payloads with a documented form, by the types of records, in the order of the article.
    ///
    /// If there is only one table, it applies to all types.
    public let tables: [(types: [String], table: PseudonymTable)]
    /// The rule for paths, or `nil` if paths name no client and no document, so that they are kept.
    public let path: PathRule?

    /// Creates the rules of a system.
    public init(tables: [(types: [String], table: PseudonymTable)], path: PathRule?) {
        self.tables = tables
        self.path = path
    }

    /// Returns the rules of the payloads of a type, or `nil` for a type without a documented form. Nothing of such a payload
    /// is kept.
    public func table(ofType type: String) -> PseudonymTable? {
        tables.count == 1 ? tables[0].table : tables.first { $0.types.contains(type) }?.table
    }
}
