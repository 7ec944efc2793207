import Bytes
import JSONText
import Telemetry

/// The definitions of metrics and events by apps and libraries, as `glean_parser dump` prints them.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 15.
public struct GleanDefinitions: Sendable {
    /// The maximum number of definitions.
    public static let maximumCount = 100_000
    /// The maximum number of nested arrays and objects in a file.
    private static let depthLimit = 64

    /// The definitions, keyed by name.
    private var definitions: [CapturedText: GleanDefinition] = [:]

    /// Creates an empty collection.
    public init() {}

    /// The number of definitions.
    public var count: Int { definitions.count }

    /// The definitions in the order of their names.
    var sorted: [GleanDefinition] { definitions.values.sorted { $0.name < $1.name } }

    /// The definition of the metric or event called `name`, or `nil` if there is none.
    subscript(name: String) -> GleanDefinition? { definitions[name] }

    /// Adds the definitions in the contents of a file.
    ///
    /// Of several definitions with the same name, the first is kept. Definitions of pings are ignored.
    ///
    /// - Returns: An error for each definition that is invalid, or that differs from an earlier one with the same name. These
    ///   definitions are ignored.
    /// - Throws: An error if the contents are not a JSON object, or contain too many definitions.
    public mutating func read(_ bytes: [UInt8]) throws(DefinitionsError) -> [DefinitionsError] {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(bytes, policy: JSONReadingPolicy(depthLimit: Self.depthLimit))
        } catch {
            throw DefinitionsError(error.code.text, at: error.offset)
        }
        guard document.kind(of: document.root) == .object else {
            throw DefinitionsError("not a JSON object with a definition for each name", at: 0)
        }
        var faults: [DefinitionsError] = []
        for member in document.members(of: document.root) {
            do throws(DefinitionsError) {
                guard let definition = try GleanDefinition(member, of: document) else { continue }
                try add(definition)
            } catch {
                guard definitions.count <= Self.maximumCount else { throw error }
                let offset = error.offset ?? document.sourceRange(of: member.value)?.lowerBound
                let name = document.string(of: member.key).unicodeScalars.prefix(CountedList.maximumNameLength)
                faults.append(DefinitionsError("\(String(name)): \(error.reason)", at: offset))
            }
        }
        return faults
    }

    private mutating func add(_ definition: GleanDefinition) throws(DefinitionsError) {
        if let earlier = definitions[definition.name] {
            guard earlier == definition else { throw DefinitionsError("differs from an earlier one", at: nil) }
            return
        }
        definitions[definition.name] = definition
        guard definitions.count <= Self.maximumCount else {
            throw DefinitionsError("more than \(Self.maximumCount) definitions", at: nil)
        }
    }
}

/// The definition of a metric or an event.
struct GleanDefinition: Sendable, Equatable {
    /// The category and the name, separated by a dot.
    let name: String
    /// The type, such as `counter` or `event`.
    let type: String
    let description: String?
    /// The unit of a quantity or of a custom distribution.
    let unit: String?
    let timeUnit: String?
    let memoryUnit: String?
    /// The categories of collected data, such as `interaction`.
    let sensitivities: [String]?
    /// The date or version at which the recording ends, or `never`.
    let expiration: String?
    let lifetime: String?
    let pings: [String]?
    /// The permitted labels, which are the keys of a dual-labeled counter, or `nil` if all labels are permitted.
    let labels: [String]?
    /// The permitted second labels, which are the categories of a dual-labeled counter.
    let secondLabels: [String]?
    /// The definitions of the extras of an event, as canonical JSON.
    let extraKeys: [UInt8]?
    /// The first sentence of the description.
    let summary: String?

    /// Reads the definition in a member of the root of `document`, or returns `nil` if it is the definition of a ping.
    init?(_ member: JSONMember, of document: JSONDocument) throws(DefinitionsError) {
        let fields = DefinitionFields(document: document, object: member.value)
        guard document.kind(of: member.value) == .object else { throw DefinitionsError("not an object", at: nil) }
        guard let type = try fields.text("type") else {
            if document.value(of: "include_client_id", in: member.value) != nil { return nil }
            throw DefinitionsError("has no type", at: nil)
        }
        guard GleanSchema.isMetricName(document.bytes(of: member.key)) else {
            throw DefinitionsError("not the name of a metric", at: nil)
        }
        name = document.string(of: member.key)
        self.type = type
        description = try fields.text("description")
        unit = try fields.text("unit")
        timeUnit = try fields.text("time_unit")
        memoryUnit = try fields.text("memory_unit")
        sensitivities = try fields.texts("data_sensitivity")
        expiration = try fields.text("expires", acceptsNumber: true)
        lifetime = try fields.text("lifetime")
        pings = try fields.texts("send_in_pings")
        let keys = try fields.texts("keys")
        let ownLabels = try fields.texts("labels")
        labels = keys ?? ownLabels
        secondLabels = try fields.texts("categories")
        extraKeys = try fields.object("extra_keys")
        summary = description.flatMap(Self.firstSentence)
    }

    /// The maximum length of a summary, in Unicode scalars.
    ///
    /// Each row of an event or metric contains the summary.
    private static let maximumSummaryLength = 200

    /// Returns the first sentence of a description in one line and without a full stop, or `nil` if there is none.
    ///
    /// A sentence ends with a full stop, an exclamation mark or a question mark before white space, or with the paragraph.
    /// A full stop in an abbreviation such as `e.g.` ends no sentence.
    static func firstSentence(of description: String) -> String? {
        // A longer sentence is truncated, so that the rest of the description need not be examined.
        let start = String(description.unicodeScalars.prefix(4 * maximumSummaryLength))
        var words: [Substring] = []
        paragraph: for line in start.split(separator: "\n", omittingEmptySubsequences: false) {
            let lineWords = line.split(whereSeparator: \.isWhitespace)
            if lineWords.isEmpty, !words.isEmpty { break }
            for word in lineWords {
                words.append(word)
                if endsSentence(word) { break paragraph }
            }
        }
        var scalars = words.joined(separator: " ").unicodeScalars.filter { !$0.isInvisible }
        if scalars.last == "." { scalars.removeLast() }
        guard !scalars.isEmpty else { return nil }
        let isTooLong = scalars.count > maximumSummaryLength
        return String(String.UnicodeScalarView(scalars.prefix(maximumSummaryLength))) + (isTooLong ? "…" : "")
    }

    private static func endsSentence(_ word: Substring) -> Bool {
        guard let last = word.last else { return false }
        if last == "!" || last == "?" { return true }
        return last == "." && !word.dropLast().contains(".") && !["etc.", "vs."].contains(word)
    }
}

/// The members of a definition, which are omitted or null if they have no value.
private struct DefinitionFields {
    let document: JSONDocument
    let object: JSONNode

    private func value(_ key: JSONKey) -> JSONNode? {
        document.value(of: key, in: object).flatMap { document.kind(of: $0) == .null ? nil : $0 }
    }

    private func error(_ key: JSONKey, _ expected: String, _ node: JSONNode) -> DefinitionsError {
        DefinitionsError("\(key) is not \(expected)", at: document.sourceRange(of: node)?.lowerBound)
    }

    func text(_ key: JSONKey, acceptsNumber: Bool = false) throws(DefinitionsError) -> String? {
        guard let node = value(key) else { return nil }
        let kind = document.kind(of: node)
        guard kind == .string || acceptsNumber && kind == .number else { throw error(key, "a string", node) }
        return document.string(of: node)
    }

    func texts(_ key: JSONKey) throws(DefinitionsError) -> [String]? {
        guard let node = value(key) else { return nil }
        let elements = document.elements(of: node)
        guard document.kind(of: node) == .array, elements.allSatisfy({ document.kind(of: $0) == .string }) else {
            throw error(key, "a list of strings", node)
        }
        return elements.map { document.string(of: $0) }
    }

    func object(_ key: JSONKey) throws(DefinitionsError) -> [UInt8]? {
        guard let node = value(key) else { return nil }
        guard document.kind(of: node) == .object else { throw error(key, "an object", node) }
        return document.canonicalBytes(of: node)
    }
}
