/// The rules by which the records of a system get pseudonyms.
///
/// Source: "Pseudonyms".
public protocol PseudonymFormat: Sendable {
    /// The rules of the payloads with a documented form, by the types of records, in the order of the article. One name may
    /// stand for several types.
    var tables: [(types: String, table: PseudonymTable)] { get }
    /// Returns the rules of the payloads of a type, or `nil` for a type without a documented form. Nothing of such a payload
    /// is kept.
    func table(ofType type: String) -> PseudonymTable?
    /// Returns the path of a target with pseudonyms in place of ids, or `nil` if the target is not in the grammar of the
    /// system. The caller omits the header fields of the target.
    /// - Parameter pseudonym: Makes the pseudonym of a value of a class.
    func path(of target: Target, _ pseudonym: (_ value: String, PseudonymClass) -> String) -> String?
}

extension PseudonymFormat {
    /// Returns the only table, which applies to all types, or `nil` if there are several.
    public func table(ofType type: String) -> PseudonymTable? { tables.count == 1 ? tables[0].table : nil }
}
