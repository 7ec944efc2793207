import JSONText
import Telemetry

/// The rules that replace the identifiers in pings with pseudonyms.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 5, 6 and 8.1.
enum MozillaPseudonyms {
    static let format = PseudonymFormat(
        tables: [(["core"], coreRules), (["focus-event", "mobile-event"], eventRules)], path: path(of:_:))

    /// Returns the upload path of `target` with the pseudonyms of the record, or `nil` if the path is invalid.
    private static func path(
        of target: Target, _ pseudonym: (_ value: String, PseudonymClass) -> String
    ) -> String? {
        let path = target.path.utf8.span
        guard let parts = SubmitPath(path) else { return nil }
        func text(_ range: Range<Int>) -> String { String(readingUTF8: path.extracting(range)) }
        let type = text(parts.type)
        let shownType = format.table(ofType: type) == nil ? pseudonym(type, .type) : type
        let facts: [AppProperty] = [.name, .version, .channel, .version]
        let shown = zip(facts, parts.appFactRanges).map { $0.shown(text($1), pseudonym) ?? AppProperty.unknown }
        let start = text(0..<parts.documentID.lowerBound) + pseudonym(text(parts.documentID), .document)
        return ([start, shownType] + shown).joined(separator: "/") + text(parts.query(in: path))
    }

    private static let coreRules = CorePing.fields.pseudonyms
    private static let eventRules = EventPing.mobileFields.pseudonyms
}
