import Bytes
import JSONText

/// An error that describes why a line is not a record.
public struct RecordError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The description of the error.
    public let description: String
    /// Whether the record contains the name of a system or of a kind of store that only a newer version supports.
    public let isUnknownName: Bool

    /// Creates an error with a description.
    public init(_ description: String) {
        self.description = description
        isUnknownName = false
    }

    /// The error for a line that differs from the line that `write(to:)` writes for its record.
    fileprivate static let notCanonical = RecordError("not in canonical form, or with unknown keys")

    /// Creates an error for the unknown name in the value of `key`.
    init(unknownNameIn key: JSONKey) {
        description = "the \(key) is unknown to this version of the program"
        isUnknownName = true
    }
}

extension Record {
    /// The maximum nesting depth of the JSON in a line.
    ///
    /// It is one more than the maximum depth of a payload.
    private static let lineDepthLimit = 513

    /// Reads a record from a line.
    ///
    /// The line must be exactly as written by `write(to:)`, without the line feed.
    public init(line: [UInt8], using document: inout JSONDocument, knowing systems: SystemTable) throws(RecordError) {
        var memory = RecordMemory()
        swap(&memory.document, &document)
        defer { swap(&memory.document, &document) }
        try self.init(lineAt: 0..<line.count, of: line, using: &memory, knowing: systems)
    }

    /// Reads a record from a canonical line that is part of a larger text.
    public init(
        lineAt range: Range<Int>, of text: [UInt8], using memory: inout RecordMemory, knowing systems: SystemTable
    ) throws(RecordError) {
        defer { memory.document.reset() }
        try Self.read(range, of: text, into: &memory.document)
        self = try memory.document.record(sharing: &memory.cache, of: text, knowing: systems)
        guard memory.isCanonical(text.span.extracting(range)) else { throw .notCanonical }
        memory.written = memory.positions
    }

    /// Reads a record from a line that was validated before, without checking the canonical form again.
    public init(
        againAt range: Range<Int>, of text: [UInt8], using memory: inout RecordMemory, knowing systems: SystemTable
    ) throws(RecordError) {
        defer { memory.document.reset() }
        try Self.read(range, of: text, into: &memory.document)
        self = try memory.document.record(sharing: &memory.cache, of: text, knowing: systems)
    }

    private static func read(
        _ range: Range<Int>, of text: [UInt8], into document: inout JSONDocument
    ) throws(RecordError) {
        do throws(JSONError) {
            let policy = JSONReadingPolicy(depthLimit: lineDepthLimit, valueLimit: .fixed)
            let end = try document.readValue(in: text, range: range, policy: policy)
            guard end == range.upperBound else { throw JSONError(.trailingBytes, at: end) }
        } catch {
            throw RecordError("no JSON: \(JSONError(error.code, at: error.offset - range.lowerBound))")
        }
    }

    /// Returns a description of a contradiction in the record, or `nil` if there is none.
    public func contradiction(knowing systems: SystemTable) -> String? {
        // A store can contain any string as a document id. An id that begins with `sha256:` but is not the hash of the
        // payload is such a string. Because such an id is not a UUID, its record must be held.
        if id.hasPrefix("sha256:"), !id.hasPrefix(PayloadHash.id(of: payload)), !held.contains(where: \.isSchema) {
            return "the id is not the hash of the payload"
        }
        if let target, !systems.isKnown(target, to: system) { return "the target is not in the system's grammar" }
        if held.isEmpty, target == nil { return "uploadable without a target" }
        if (pseudonymKeyID != nil) != held.contains(.pseudonymized) {
            return "noted or held as pseudonymized, not both"
        }
        return nil
    }
}

// MARK: - Members

// These functions extend the document, because a reader with a document as a property would copy references for each record.
extension JSONDocument {
    /// Returns the record in the document, which was parsed from `text`.
    ///
    /// If the document is canonical JSON, a record that is read without an error is written as the same text, because
    /// other members and other forms of a value are rejected.
    fileprivate func record(
        sharing cache: inout RecordStringCache, of text: [UInt8], knowing systems: SystemTable
    ) throws(RecordError) -> Record {
        let payload = try requiredValue(RecordKeys.payload, in: root, at: 5)
        guard kind(of: payload) == .object, let place = sourceRange(of: payload) else {
            throw RecordError("payload is no object")
        }
        let record = Record(
            system: try known(
                RecordKeys.system, requiredValue(RecordKeys.system, in: root, at: 7), last: &cache.system, systems.name),
            type: try self.text(requiredValue(RecordKeys.type, in: root, at: 10), RecordKeys.type, last: &cache.type),
            id: try self.text(requiredValue(RecordKeys.id, in: root, at: 3), RecordKeys.id),
            client: try client(last: &cache.client), time: try time(), app: try app(sharing: &cache),
            target: try target(), payload: Array(text[place]), source: try source(sharing: &cache, knowing: systems),
            notes: try strings(RecordKeys.notes, at: 4),
            held: try holds())
        try checkCount(11, of: root)
        return record
    }

    /// Throws an error unless an object has exactly `count` members, which are the known ones.
    private func checkCount(_ count: Int, of object: JSONNode) throws(RecordError) {
        guard memberCount(of: object) == count else { throw .notCanonical }
    }

    private func holds() throws(RecordError) -> [Hold] {
        try strings(RecordKeys.held, at: 2).map { text throws(RecordError) in
            let hold = Hold(text: text)
            guard hold.text.utf8.elementsEqual(text.utf8) else { throw .notCanonical }
            return hold
        }
    }

    private func client(last: inout String) throws(RecordError) -> String? {
        let client = try requiredValue(RecordKeys.client, in: root, at: 1)
        return kind(of: client) == .null ? nil : try text(client, RecordKeys.client, last: &last)
    }

    private func time() throws(RecordError) -> Timestamp? {
        let text = try requiredValue(RecordKeys.time, in: root, at: 9)
        if kind(of: text) == .null { return nil }
        guard kind(of: text) == .string else { throw RecordError("time of another type") }
        guard let time = Timestamp(rfc3339: bytes(of: text)) else {
            throw RecordError("time is no RFC 3339 time")
        }
        guard bytes(of: text).equals(time.text.span) else { throw .notCanonical }
        return time
    }

    private func app(sharing cache: inout RecordStringCache) throws(RecordError) -> App? {
        let app = try requiredValue(RecordKeys.app, in: root, at: 0)
        guard kind(of: app) == .object else {
            guard kind(of: app) == .null else { throw RecordError("app of another type") }
            return nil
        }
        guard !bytes(of: app).equals(cache.appText.span) else { return cache.app }
        let values = try [RecordKeys.id, RecordKeys.name, RecordKeys.version, RecordKeys.channel, RecordKeys.build]
            .map { key throws(RecordError) in try present(key, in: app) }
        guard let found = App(id: values[0], name: values[1], version: values[2], channel: values[3], build: values[4])
        else { throw .notCanonical }
        try checkCount(values.count { $0 != nil }, of: app)
        (cache.app, cache.appText) = (found, bytes(of: app).copied())
        return cache.app
    }

    private func target() throws(RecordError) -> Target? {
        let target = try requiredValue(RecordKeys.target, in: root, at: 8)
        guard kind(of: target) != .null else { return nil }
        let found = Target(
            path: try requiredText(RecordKeys.path, in: target), method: try present(RecordKeys.method, in: target),
            headers: try headers(of: target))
        try checkCount(1 + (found.method == nil ? 0 : 1) + (found.headers.isEmpty ? 0 : 1), of: target)
        return found
    }

    private func headers(of target: JSONNode) throws(RecordError) -> [CapturedText: String] {
        guard let object = value(of: RecordKeys.headers, in: target) else { return [:] }
        guard kind(of: object) == .object else { throw RecordError("headers of another type") }
        var headers: [CapturedText: String] = [:]
        for member in members(of: object) {
            guard kind(of: member.value) == .string else {
                throw RecordError("headers has a value that is no string")
            }
            headers[try validString(member.key)] = try validString(member.value)
        }
        return headers
    }

    private func source(
        sharing cache: inout RecordStringCache, knowing systems: SystemTable
    ) throws(RecordError) -> Source {
        let source = try requiredValue(RecordKeys.source, in: root, at: 6)
        let number = try requiredValue(RecordKeys.index, in: source, at: 1)
        guard kind(of: number) == .number, let index = Int(string(of: number)),
            CountRange.contains(index)
        else {
            throw RecordError("source.index is no place")
        }
        guard bytes(of: number).equals(String(index)) else { throw .notCanonical }
        let found = Source(
            capture: try text(
                requiredValue(RecordKeys.capture, in: source, at: 0), RecordKeys.capture, last: &cache.capture),
            path: try text(requiredValue(RecordKeys.path, in: source, at: 2), RecordKeys.path),
            store: try known(
                RecordKeys.store, requiredValue(RecordKeys.store, in: source, at: 3), last: &cache.store,
                systems.storeKind),
            index: index)
        try checkCount(4, of: source)
        return found
    }

    // MARK: Values

    /// Returns the value of `key`, which is usually the member at index `place` of `root`.
    private func requiredValue(_ key: JSONKey, in root: JSONNode, at place: Int) throws(RecordError) -> JSONNode {
        guard let value = value(of: key, in: root, expectedAt: place) else {
            throw RecordError("\(key) missing")
        }
        return value
    }

    private func requiredValue(_ key: JSONKey, in object: JSONNode) throws(RecordError) -> JSONNode {
        guard let value = value(of: key, in: object) else { throw RecordError("\(key) missing") }
        return value
    }

    private func text(_ value: JSONNode, _ key: JSONKey) throws(RecordError) -> String {
        guard kind(of: value) == .string else { throw RecordError("\(key) of another type") }
        return try validString(value)
    }

    /// Returns the string at `node`, which must not contain unpaired surrogates.
    private func validString(_ node: JSONNode) throws(RecordError) -> String {
        let string = string(of: node)
        guard bytes(of: node).equals(string) else { throw .notCanonical }
        return string
    }

    private func requiredText(_ key: JSONKey, in object: JSONNode) throws(RecordError) -> String {
        try text(requiredValue(key, in: object), key)
    }

    /// Returns the string `value`.
    ///
    /// `last` is the string in the previous record, which is reused if it is equal to `value`.
    private func text(_ value: JSONNode, _ key: JSONKey, last: inout String) throws(RecordError) -> String {
        guard kind(of: value) == .string else { throw RecordError("\(key) of another type") }
        if !bytes(of: value).equals(last) { last = try validString(value) }
        return last
    }

    private func present(_ key: JSONKey, in object: JSONNode) throws(RecordError) -> String? {
        value(of: key, in: object) == nil ? nil : try requiredText(key, in: object)
    }

    /// Returns the known name that the string `value` contains.
    ///
    /// `last` is the name in the previous record, which is reused if it is equal to `value`.
    private func known<Name: CustomStringConvertible>(
        _ key: JSONKey, _ value: JSONNode, last: inout Name?, _ find: (String) -> Name?
    ) throws(RecordError) -> Name {
        if let last, kind(of: value) == .string, bytes(of: value).equals(last.description) {
            return last
        }
        guard let name = find(try text(value, key)) else { throw RecordError(unknownNameIn: key) }
        last = name
        return name
    }

    private func strings(_ key: JSONKey, at place: Int) throws(RecordError) -> [String] {
        let list = try requiredValue(key, in: root, at: place)
        guard kind(of: list) == .array else { throw RecordError("\(key) is no array") }
        var strings: [String] = []
        for element in elements(of: list) {
            guard kind(of: element) == .string else {
                throw RecordError("\(key) has an item that is no string")
            }
            strings.append(try validString(element))
        }
        return strings
    }
}

/// Reusable memory for reading records one after another.
public struct RecordMemory: Sendable {
    var document = JSONDocument()
    fileprivate var cache = RecordStringCache()
    /// A buffer for the canonical form of a line, with which the line is compared.
    fileprivate var scratch = TextBuffer()
    /// The positions, in the input, of the notes and the payload of the last record whose canonical form was checked.
    public internal(set) var written = RecordLineLayout(notes: 0, payload: 0..<0)

    /// Creates empty memory.
    public init() {}

    /// Returns whether `line`, which was read last, is canonical JSON.
    fileprivate mutating func isCanonical(_ line: Span<UInt8>) -> Bool {
        if document.isKnownCanonical { return true }
        scratch.removeAll()
        document.write(document.root, to: &scratch)
        return line.equals(scratch.span)
    }

    /// The positions of the notes and the payload, which are the fifth and sixth members of a canonical record.
    fileprivate var positions: RecordLineLayout {
        let (notes, payload) = (document.member(at: 4, of: document.root), document.member(at: 5, of: document.root))
        return RecordLineLayout(
            notes: document.sourceRange(of: notes.value)?.lowerBound ?? 0,
            payload: document.sourceRange(of: payload.value) ?? 0..<0)
    }
}

/// A cache of the strings of the last record.
///
/// The next record reuses the cached strings that are equal to its own.
private struct RecordStringCache: Sendable {
    var type = ""
    var client = ""
    var capture = ""
    var system: SystemName?
    var store: StoreKind?
    var app: App?
    /// The JSON text of the app in the last record.
    var appText: [UInt8] = []
}

/// The keys of a record's line and of the objects in it.
///
/// Source: "The record", section "Keys".
package enum RecordKeys {
    package static let app: JSONKey = "app"
    package static let build: JSONKey = "build"
    package static let capture: JSONKey = "capture"
    package static let channel: JSONKey = "channel"
    package static let client: JSONKey = "client"
    package static let headers: JSONKey = "headers"
    package static let held: JSONKey = "held"
    package static let id: JSONKey = "id"
    package static let index: JSONKey = "index"
    package static let method: JSONKey = "method"
    package static let name: JSONKey = "name"
    package static let notes: JSONKey = "notes"
    package static let path: JSONKey = "path"
    package static let payload: JSONKey = "payload"
    package static let source: JSONKey = "source"
    package static let store: JSONKey = "store"
    package static let system: JSONKey = "system"
    package static let target: JSONKey = "target"
    package static let time: JSONKey = "time"
    package static let type: JSONKey = "type"
    package static let version: JSONKey = "version"
}
