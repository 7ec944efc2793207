import Bytes
import JSONText
import Telemetry

/// The filters of the command that made a bundle, which therefore can lack records of its inputs.
///
/// Source: "Bundle", "Filters".
public struct BundleFilters: Sendable, Equatable {
    /// The names of the options that filter records.
    ///
    /// They are also the keys of the JSON object.
    private enum Name: String, CaseIterable { case client, since, system, type, until, uploadable }

    /// The accepted values of each option, sorted by their bytes, or an empty array for values that are not stated.
    private var values: [Name: [CapturedText]] = [:]

    /// Creates the filters of a command, or returns `nil` if `filter` accepts all records.
    ///
    /// Client ids are stated in lowercase.
    public init?(_ filter: RecordFilter) {
        let given: [Name: [CapturedText]] = [
            .client: filter.clients.sorted().map(\.lowercased), .type: filter.types.sorted(),
            .system: filter.systems.map { CapturedText($0.description) }.sorted(),
            .since: [filter.since].compactMap { $0.map { CapturedText($0.description) } },
            .until: [filter.until].compactMap { $0.map { CapturedText($0.description) } },
        ]
        values = given.filter { !$0.value.isEmpty }
        if filter.uploadableOnly { values[.uploadable] = [] }
        if values.isEmpty { return nil }
    }

    /// A copy that states that clients were selected, but not which ones.
    ///
    /// It is for bundles with pseudonyms, which must not contain client ids.
    var withoutClientIDs: BundleFilters {
        var filters = self
        if values[.client] != nil { filters.values[.client] = [] }
        return filters
    }

    /// Whether the filters state that clients were selected, but not which ones.
    var hidesClientIDs: Bool { values[.client]?.isEmpty == true }

    /// The number of bytes in all values.
    var byteCount: Int { values.values.joined().reduce(0) { $0 + $1.utf8.count } }

    /// The options of the command in the order of their names, such as `--system mozilla --type core`.
    public var description: String {
        Name.allCases.filter { values[$0] != nil }.flatMap { name in
            let values = values[name] ?? []
            return values.isEmpty ? ["--\(name.rawValue)"] : values.map { "--\(name.rawValue) \($0)" }
        }.joined(separator: " ")
    }

    /// The filters as canonical JSON.
    public var json: CanonicalObject {
        var object = CanonicalObject()
        for name in Name.allCases {
            guard let values = values[name] else { continue }
            let key = JSONKey(name.rawValue)
            switch name {
            case .client, .system, .type: object.set(key, strings: values.map(\.string))
            case .since, .until: object.set(key, string: values.first?.string)
            case .uploadable: object.set(key, boolean: true)
            }
        }
        return object
    }
}

// MARK: - Reading

extension BundleFilters {
    /// Creates the filters from a JSON object of a manifest, or returns `nil` if the object has no filters.
    ///
    /// Other invalid members are detected later, when the manifest is compared with its canonical form.
    init?(_ fields: JSONFields) throws(BundleError) {
        guard fields.hasMember("filters") else { return nil }
        guard let filters = fields.object("filters") else { throw .badManifest("its filters are not an object") }
        for name in Name.allCases where filters.hasMember(JSONKey(name.rawValue)) {
            guard let values = Self.values(of: name, in: filters) else {
                throw .badManifest("the filter \(name.rawValue) has another type or order")
            }
            self.values[name] = values
        }
        guard !values.isEmpty else { throw .badManifest("its filters are empty") }
    }

    private static func values(of name: Name, in filters: JSONFields) -> [CapturedText]? {
        let key = JSONKey(name.rawValue)
        switch name {
        case .client, .system, .type:
            let texts = filters.texts(key)?.map { CapturedText($0) }
            // Only client ids can be hidden.
            guard let texts, name == .client || !texts.isEmpty else { return nil }
            return zip(texts, texts.dropFirst()).allSatisfy { $0 < $1 } ? texts : nil
        case .since, .until:
            guard let time = filters.text(key).flatMap({ Timestamp(rfc3339: $0) }) else { return nil }
            return [CapturedText(time.description)]
        case .uploadable: return filters.boolean(key) == true ? [] : nil
        }
    }
}
