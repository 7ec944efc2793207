import JSONText
import PropertyList
import Telemetry

/// The functions that convert the property lists of Mozilla's SDK to JSON.
enum PreferencesJSON {
    /// Returns a canonical JSON object of the entries whose keys start with `prefix`, without the prefix in the keys.
    static func entries(
        of document: PropertyListDocument, withPrefix prefix: String
    ) throws(PropertyListError) -> [UInt8] {
        guard document.kind(of: document.root) == .dictionary else {
            throw PropertyListError(
                .wrongRoot, at: document.offset(of: document.root), "the root of preferences is no dictionary")
        }
        var json = PropertyListJSONWriter(
            document, keyOrder: .canonical, nonJSONValues: .nearest, limits: limits(of: document))
        let members = document.members(of: document.root)
        var object = CanonicalObject()
        for position in 0..<members.count {
            let key = document.string(of: document.key(at: position, of: members))
            guard key.hasPrefix(prefix) else { continue }
            do throws(PropertyListJSONWriter.WritingError) {
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

    /// Returns size limits that a property list can exceed only if it refers to the same values repeatedly.
    private static func limits(of document: PropertyListDocument) -> PropertyListJSONWriter.Limits {
        let bytes = StoreLimits.file + 8 * document.sourceLength
        return PropertyListJSONWriter.Limits(valueSize: bytes, fileSize: bytes, valueCount: document.expansionLimit)
    }
}
