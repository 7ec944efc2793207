import JSONText
import PropertyList
import Telemetry

/// Reads the property lists that Mozilla's SDK wrote, as JSON.
enum PreferencesJSON {
    /// The entries whose keys have a prefix, without it, as a JSON object in canonical order; dates as RFC 3339, data as
    /// base64.
    /// - Throws: `PropertyListError` if the root of the property list is no dictionary, or if the entries share so much that
    ///   they become too large when they are written out.
    static func entries(
        of document: PropertyListDocument, withPrefix prefix: String
    ) throws(PropertyListError) -> [UInt8] {
        guard document.kind(of: document.root) == .dictionary else {
            throw PropertyListError(
                .wrongRoot, at: document.offset(of: document.root), "the root of preferences is no dictionary")
        }
        var json = PropertyListJSON(
            document, keyOrder: .canonical, foreignValues: .nearest, limits: limits(of: document))
        let members = document.members(of: document.root)
        var object = CanonicalObject()
        for position in 0..<members.count {
            let key = document.string(of: document.key(at: position, of: members))
            guard key.hasPrefix(prefix) else { continue }
            do throws(PropertyListJSON.WritingError) {
                try json.write(document.value(at: position, of: members))
            } catch {
                throw PropertyListError(
                    .budgetExceeded, at: document.offset(of: error.node),
                    "shared values that become too many when written out")
            }
            object.set(JSONKey(String(key.dropFirst(prefix.count))), canonical: json.text)
        }
        return object.bytes
    }

    /// The values of a file that shares none of them take less.
    private static func limits(of document: PropertyListDocument) -> PropertyListJSON.Limits {
        let bytes = StoreLimits.file + 8 * document.sourceLength
        return PropertyListJSON.Limits(value: bytes, file: bytes, count: document.expansionLimit)
    }
}
