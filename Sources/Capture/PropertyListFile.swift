import Foundation
import JSONText

/// Reads the few property lists that Mozilla's stores need, as JSON.
enum PropertyListFile {
    /// The identifier in the metadata of a container.
    static func containerIdentifier(in bytes: [UInt8]) -> String? {
        guard case .dictionary(let entries) = try? decode(bytes),
            case .string(let identifier) = entries["MCMMetadataIdentifier"]
        else { return nil }
        return identifier
    }

    /// The entries whose keys have a prefix, without it, as a JSON object.
    /// - Throws: an error if the bytes are no property list with a dictionary at its root.
    static func json(of bytes: [UInt8], entriesWithPrefix prefix: String) throws(PropertyListError) -> [UInt8] {
        guard case .dictionary(let entries) = try decode(bytes) else {
            throw PropertyListError(description: "the root is no dictionary")
        }
        var object = CanonicalObject()
        for (key, value) in entries where key.hasPrefix(prefix) {
            object.set(JSONKey(String(key.dropFirst(prefix.count))), canonical: value.json)
        }
        return object.bytes
    }

    /// How many entries the array at a key has; 0 if there is none.
    static func count(ofArray key: String, in bytes: [UInt8]) throws(PropertyListError) -> Int {
        guard case .dictionary(let entries) = try decode(bytes), case .array(let elements) = entries[key] else {
            return 0
        }
        return elements.count
    }

    private static func decode(_ bytes: [UInt8]) throws(PropertyListError) -> PropertyListValue {
        do {
            return try PropertyListDecoder().decode(PropertyListValue.self, from: Data(bytes))
        } catch {
            throw PropertyListError(description: "no property list")
        }
    }
}

/// Why bytes are not the property list that was expected.
struct PropertyListError: Error, CustomStringConvertible {
    let description: String
}

/// The extension events that wait in the preferences of an app group.
enum GroupPreferences {
    static let eventsKey = "profile.AppExtensionTelemetryEvents"
}

/// A property list as a value.
private enum PropertyListValue: Decodable {
    case boolean(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case real(Double)
    case string(String)
    case date(Date)
    case data(Data)
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // A wrong guess costs an error, so the common types come first. A boolean is no integer here, nor a real one.
        if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = .unsigned(value)
        } else if let value = try? container.decode(Double.self) {
            self = .real(value)
        } else if let value = try? container.decode(Date.self) {
            self = .date(value)
        } else if let value = try? container.decode(Data.self) {
            self = .data(value)
        } else if let value = try? container.decode([PropertyListValue].self) {
            self = .array(value)
        } else {
            self = .dictionary(try container.decode([String: PropertyListValue].self))
        }
    }

    /// The value as canonical JSON; dates as RFC 3339, data as base64.
    var json: [UInt8] {
        switch self {
        case .boolean(let value): Array(String(value).utf8)
        case .integer(let value): Array(String(value).utf8)
        case .unsigned(let value): Array(String(value).utf8)
        case .real(let value): value.isFinite ? Array("\(value)".utf8) : Array("null".utf8)
        case .string(let value): Self.quoted(value)
        case .date(let value): Self.quoted(value.formatted(.iso8601))
        case .data(let value): Self.quoted(value.base64EncodedString())
        case .array(let elements): Self.list(elements)
        case .dictionary(let entries): Self.object(entries)
        }
    }

    private static func quoted(_ text: String) -> [UInt8] {
        var json: [UInt8] = []
        json.append(jsonString: text)
        return json
    }

    private static func list(_ elements: [PropertyListValue]) -> [UInt8] {
        let joined = elements.map(\.json).joined(separator: [UInt8(ascii: ",")])
        return [UInt8(ascii: "[")] + joined + [UInt8(ascii: "]")]
    }

    private static func object(_ entries: [String: PropertyListValue]) -> [UInt8] {
        var object = CanonicalObject()
        for (key, value) in entries { object.set(JSONKey(key), canonical: value.json) }
        return object.bytes
    }
}
