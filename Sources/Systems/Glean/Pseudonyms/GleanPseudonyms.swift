import JSONText
import Telemetry

/// The rules that replace the identifiers in pings with pseudonyms.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 8.1, 9 and 14.
enum GleanPseudonyms {
    static let format = PseudonymFormat(tables: [(["every ping"], pingRules)], path: path(of:_:))

    /// Returns the upload path of `target` with the document pseudonym of the record, or `nil` if the path is invalid.
    private static func path(
        of target: Target, _ pseudonym: (_ value: String, PseudonymClass) -> String
    ) -> String? {
        let path = target.path.utf8.span
        guard let parts = GleanPath(path) else { return nil }
        func text(_ range: Range<Int>) -> String { String(readingUTF8: path.extracting(range)) }
        // Apps can choose any namespace and any ping name, so a string of an unexpected form is replaced.
        let namespace = AppProperty.id.shown(text(parts.namespace), pseudonym) ?? AppProperty.unknown
        let ping = AppProperty.channel.shown(text(parts.ping), pseudonym) ?? AppProperty.unknown
        let version = text(parts.ping.upperBound..<parts.documentID.lowerBound)
        return "/submit/\(namespace)/\(ping)\(version)\(pseudonym(text(parts.documentID), .document))"
    }

    private static let pingRules = GleanSchema.allFields.pseudonyms
}
