import JSONText
import Telemetry

/// What becomes of pings when their records get pseudonyms.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 5, 6 and 8.1.
enum MozillaPseudonyms {
    static let format = PseudonymFormat(
        tables: [(["core"], core), (["focus-event", "mobile-event"], events)], path: path(of:_:))

    /// The document id in the path follows that of the record, and a type that is no word does, too. Name, version, channel and
    /// build are shown as those of `app` are.
    private static func path(
        of target: Target, _ pseudonym: (_ value: String, PseudonymClass) -> String
    ) -> String? {
        let path = target.path.utf8.span
        guard let parts = SubmitPath(path) else { return nil }
        func text(_ range: Range<Int>) -> String { String(readingUTF8: path.extracting(range)) }
        let type = text(parts.type)
        let keptType = format.table(ofType: type) == nil ? pseudonym(type, .type) : type
        let facts: [AppFact] = [.name, .version, .channel, .version]
        let shown = zip(facts, parts.appFacts).map { $0.shown(text($1), pseudonym) ?? AppFact.unknown }
        let start = text(0..<parts.documentID.lowerBound) + pseudonym(text(parts.documentID), .document)
        return ([start, keptType] + shown).joined(separator: "/") + text(parts.query(in: path))
    }

    // MARK: Words

    /// An opaque text takes the place of one that may be anything: the documents have it for what is not known.
    static let word = PseudonymRule.keep(.name, else: .text("unknown"))

    /// The names of engines that apps bring along; that of an engine that somebody added may tell where they work.
    static let engines: Set<String> = [
        "Amazon", "Amazon.com", "Bing", "DuckDuckGo", "Ecosia", "Google", "Qwant", "Twitter", "Wikipedia", "Yahoo",
        "Yandex", "amazondotcom", "baidu", "bing", "bing.com", "custom", "ddg", "duckduckgo", "ebay", "ecosia",
        "google",
        "google-b-1-m", "google-b-m", "google-nocodes", "other", "qwant", "twitter", "unknown", "wikipedia", "yahoo",
        "yandex",
    ]

    /// Engines that are not known are told apart, not named.
    static let engine = PseudonymClass("engine")
}
