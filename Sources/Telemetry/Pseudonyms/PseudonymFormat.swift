/// The rules by which the records of a system get pseudonyms.
///
/// Source: "Pseudonyms".
public protocol PseudonymFormat: Sendable {
    /// The rules of its payloads, by the types of records that have a documented form, in the order in which the article
    /// lists them. One name may stand for several types.
    var tables: [(types: String, table: PseudonymTable)] { get }
    /// The rules of the payloads of a type; nil for a type without a documented form, of whose payload nothing stays.
    func table(ofType type: String) -> PseudonymTable?
    /// A target without what tells of a person: ids in it become pseudonyms. Its header fields are left out by whoever asks.
    /// - Parameter pseudonym: makes the pseudonym of a value of a class.
    /// - Returns: nil for a target that is not in the grammar of the system.
    func path(of target: Target, _ pseudonym: (_ value: String, PseudonymClass) -> String) -> String?
}
