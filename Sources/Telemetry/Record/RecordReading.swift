import JSONText

/// Why a line is no record.
public struct RecordError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong with it.
    public let description: String

    /// Says in words why a line is no record.
    public init(_ description: String) {
        self.description = description
    }
}

extension Record {
    /// A payload of 512 levels stands one level deep in its record.
    private static let lineDepthLimit = 513

    /// Reads a record from its canonical line, without the line feed.
    ///
    /// - Parameters:
    ///   - document: memory to read with.
    ///   - systems: those that a record may be of.
    /// - Throws: ``RecordError`` if the line is not what `write(to:)` would write: a key missing, unknown or of
    ///   another type, or any byte different.
    public init(line: [UInt8], using document: inout JSONDocument, knowing systems: SystemTable) throws(RecordError) {
        try self.init(lineAt: 0..<line.count, of: line, using: &document, knowing: systems)
    }

    /// Reads a record from its canonical line where it stands among others, without the line feed.
    ///
    /// A record may be large, so the line is neither copied nor written again as a whole to be compared.
    /// - Parameters:
    ///   - document: memory to read with; it lets go of the text again.
    ///   - systems: those that a record may be of.
    /// - Throws: ``RecordError`` as ``init(line:using:knowing:)``.
    public init(
        lineAt range: Range<Int>, of text: [UInt8], using document: inout JSONDocument, knowing systems: SystemTable
    ) throws(RecordError) {
        defer { document.reset() }
        try Self.read(range, of: text, into: &document)
        self = try RecordReader(document: document, systems: systems).record { payload in
            document.canonicalBytes(of: payload)
        }
        guard isWritten(as: text.span.extracting(range)) else {
            throw RecordError("not in canonical form, or with unknown keys")
        }
    }

    /// Reads a record once more, from a line that was read before and has the same bytes still: that they are canonical is
    /// not checked again.
    /// - Parameters: as those of ``init(lineAt:of:using:knowing:)``.
    /// - Throws: ``RecordError`` if it is another line.
    public init(
        againAt range: Range<Int>, of text: [UInt8], using document: inout JSONDocument, knowing systems: SystemTable
    ) throws(RecordError) {
        defer { document.reset() }
        try Self.read(range, of: text, into: &document)
        self = try RecordReader(document: document, systems: systems).record { payload in
            document.sourceRange(of: payload).map { Array(text[$0]) } ?? []
        }
    }

    private static func read(
        _ range: Range<Int>, of text: [UInt8], into document: inout JSONDocument
    ) throws(RecordError) {
        do throws(JSONError) {
            let policy = JSONReadingPolicy(depthLimit: lineDepthLimit)
            let end = try document.readValue(in: text, range: range, policy: policy)
            guard end == range.upperBound else { throw JSONError(.trailingBytes, at: end) }
        } catch {
            throw RecordError("no JSON: \(JSONError(error.code, at: error.offset - range.lowerBound))")
        }
    }

    /// Why the record contradicts itself; nil if it does not.
    ///
    /// An id that is a hash has to be that of the payload, a target has to be in the grammar of its system, and what has
    /// pseudonyms has to be held for it.
    public func contradiction(knowing systems: SystemTable) -> String? {
        // A store can name anything as document id; one in the form of a hash is no UUID, and held for that.
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

/// Reads the parts of a record in a document.
private struct RecordReader {
    let document: JSONDocument
    let systems: SystemTable

    /// - Parameter payload: gives the bytes of an object.
    func record(payload bytes: (JSONNode) -> [UInt8]) throws(RecordError) -> Record {
        let root = document.root
        let payload = try value("payload", in: root)
        guard document.kind(of: payload) == .object else { throw RecordError("payload is no object") }
        return Record(
            system: try known("system", systems.name, in: root), type: try text("type", in: root),
            id: try text("id", in: root),
            client: try optionalText("client", in: root), time: try time(), app: try app(), target: try target(),
            payload: bytes(payload), source: try source(), notes: try texts("notes"),
            held: try texts("held").map { Hold(text: $0) })
    }

    private func time() throws(RecordError) -> Timestamp? {
        guard let text = try optionalText("time", in: document.root) else { return nil }
        guard let time = Timestamp(rfc3339: text) else { throw RecordError("time is no RFC 3339 time") }
        return time
    }

    private func app() throws(RecordError) -> App? {
        let app = try value("app", in: document.root)
        guard document.kind(of: app) != .null else { return nil }
        return App(
            id: try present("id", in: app), name: try present("name", in: app),
            version: try present("version", in: app), channel: try present("channel", in: app),
            build: try present("build", in: app))
    }

    private func target() throws(RecordError) -> Target? {
        let target = try value("target", in: document.root)
        guard document.kind(of: target) != .null else { return nil }
        return Target(
            path: try text("path", in: target), method: try present("method", in: target),
            headers: try headers(of: target))
    }

    private func headers(of target: JSONNode) throws(RecordError) -> [String: String] {
        guard let object = document.value(of: "headers", in: target) else { return [:] }
        guard document.kind(of: object) == .object else { throw RecordError("headers of another type") }
        var headers: [String: String] = [:]
        for place in 0..<document.memberCount(of: object) {
            let member = document.member(at: place, of: object)
            guard document.kind(of: member.value) == .string else {
                throw RecordError("headers has a value that is no string")
            }
            headers[document.string(of: member.key)] = document.string(of: member.value)
        }
        return headers
    }

    private func source() throws(RecordError) -> Source {
        let source = try value("source", in: document.root)
        guard let index = Int(try string("index", .number, in: source)), index >= 0 else {
            throw RecordError("source.index is no place")
        }
        return Source(
            capture: try text("capture", in: source), path: try text("path", in: source),
            store: try known("store", systems.storeKind, in: source), index: index)
    }

    // MARK: Values

    private func value(_ key: JSONKey, in object: JSONNode) throws(RecordError) -> JSONNode {
        guard let value = document.value(of: key, in: object) else { throw RecordError("\(key) missing") }
        return value
    }

    private func string(_ key: JSONKey, _ kind: JSONKind, in object: JSONNode) throws(RecordError) -> String {
        let value = try value(key, in: object)
        guard document.kind(of: value) == kind else { throw RecordError("\(key) of another type") }
        return document.string(of: value)
    }

    private func text(_ key: JSONKey, in object: JSONNode) throws(RecordError) -> String {
        try string(key, .string, in: object)
    }

    private func optionalText(_ key: JSONKey, in object: JSONNode) throws(RecordError) -> String? {
        try document.kind(of: value(key, in: object)) == .null ? nil : text(key, in: object)
    }

    private func present(_ key: JSONKey, in object: JSONNode) throws(RecordError) -> String? {
        document.value(of: key, in: object) == nil ? nil : try text(key, in: object)
    }

    private func known<Name>(_ key: JSONKey, _ find: (String) -> Name?, in object: JSONNode) throws(RecordError) -> Name
    {
        guard let name = find(try text(key, in: object)) else {
            throw RecordError("\(key) is none that this version knows")
        }
        return name
    }

    private func texts(_ key: JSONKey) throws(RecordError) -> [String] {
        let list = try value(key, in: document.root)
        guard document.kind(of: list) == .array else { throw RecordError("\(key) is no array") }
        var texts: [String] = []
        for element in document.elements(of: list) {
            guard document.kind(of: element) == .string else {
                throw RecordError("\(key) has an item that is no string")
            }
            texts.append(document.string(of: element))
        }
        return texts
    }
}
