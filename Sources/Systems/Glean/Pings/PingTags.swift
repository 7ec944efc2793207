import JSONText
import Telemetry

/// The two fields of a header that decide where a ping goes in the pipeline. No other stored field is ever carried: each could
/// be an attack or a secret.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 8.3.
struct PingTags {
    /// The tags that are carried, by their names as records write them.
    private(set) var carried: [String: String] = [:]
    /// The names of tags that are not carried for their values are not allowed, or because they come twice.
    private(set) var refused: [String] = []
    /// The names, as stored, of fields that are no tags.
    private(set) var others: [String] = []

    /// Routes a ping to the viewer of those who debug.
    static let debugID = "X-Debug-ID"
    /// Keeps a ping of a test out of the tables of real ones.
    static let sourceTags = "X-Source-Tags"

    init(_ fields: [HeaderField]) {
        for name in [Self.debugID, Self.sourceTags] {
            let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
            guard let value = values.first else { continue }
            if values.count == 1, Self.isAllowed(HeaderField(name, value)) {
                carried[name] = value
            } else {
                refused.append(name)
            }
        }
        let tags: Set = [Self.debugID.lowercased(), Self.sourceTags.lowercased()]
        others = fields.map(\.name).filter { !tags.contains($0.lowercased()) }
    }

    /// Whether a field may be sent: one of the two tags, by its name as records write it, with a value of allowed words.
    static func isAllowed(_ field: HeaderField) -> Bool {
        switch field.name {
        case debugID: return isWord(field.value.utf8[...])
        case sourceTags:
            let words = field.value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            return (1...5).contains(words.count) && words.allSatisfy(isWord)
        default: return false
        }
    }

    /// `[A-Za-z0-9-]{1,20}`
    private static func isWord(_ text: Substring.UTF8View) -> Bool {
        (1...20).contains(text.count) && text.allSatisfy(\.isWordOrHyphen)
    }

    /// Adds to a record what became of the fields.
    func tell(_ record: inout Record) {
        if !carried.isEmpty { record.target?.headers = carried }
        // Names alone: a value may be a secret.
        if !others.isEmpty { record.notes.append("G36 header \(NameList.text(others)) not carried") }
        guard !refused.isEmpty else { return }
        record.notes.append("G37 header \(NameList.text(refused)) not carried: not an allowed tag, or there twice")
    }
}
