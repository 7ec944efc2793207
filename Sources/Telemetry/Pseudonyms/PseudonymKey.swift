import Bytes
import Hashing
import JSONText

/// A secret key from which pseudonyms are made.
///
/// Printing a key shows only its id.
///
/// ```swift
/// let key = try PseudonymKey(bytes)
/// let pseudonym = key.pseudonym(of: Array("B4C8F3A0-5E1D-4A6B-9C27-0D3E8F1A5B62".utf8), .client)
/// ```
///
/// Source: "Pseudonyms".
public struct PseudonymKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The minimum number of bytes of a key.
    public static let minimumByteCount = 32

    /// The public id of the key: 8 hexadecimal digits that do not reveal the key.
    public let id: String
    private let code: HMACSHA256

    /// Creates a key from at least ``minimumByteCount`` bytes.
    public init(_ bytes: [UInt8]) throws(PseudonymError) {
        guard bytes.count >= Self.minimumByteCount else { throw .shortKey(bytes.count) }
        code = HMACSHA256(key: bytes.span)
        var hash = SHA256()
        hash.update("pingferry key id\0".utf8.span)
        hash.update(bytes.span)
        id = String(hash.finalize().hex.prefix(8))
    }

    /// A description with the id of the key.
    public var description: String { "pseudonym key \(id)" }

    /// An empty mirror, so that `dump` does not print the key.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Returns the pseudonym of a value: the first 128 bits of an HMAC-SHA-256.
    ///
    /// The HMAC is computed over the class name, a zero byte and the value.
    ///
    /// The pseudonym of a UUID is a lowercase UUID of version 8, regardless of the letter case of the original. The
    /// pseudonym of any other value consists of 32 hexadecimal digits.
    public func pseudonym(of value: [UInt8], _ kind: PseudonymClass) -> [UInt8] {
        Self.pseudonym(of: value, from: code(for: kind))
    }

    /// Returns the state of the HMAC after the class name and a zero byte.
    ///
    /// Reusing the state avoids hashing the key again for each value.
    fileprivate func code(for kind: PseudonymClass) -> HMACSHA256 {
        var code = code
        code.update((Array(kind.name.utf8) + [0]).span)
        return code
    }

    /// Returns the pseudonym of a value from the HMAC state of its class.
    fileprivate static func pseudonym(of value: [UInt8], from classCode: HMACSHA256) -> [UInt8] {
        let isUUID = value.span.isUUID
        var code = classCode
        code.update((isUUID ? value.map(\.lowercased) : value).span)
        let bits = Array(code.finalize().prefix(16))
        return Array((isUUID ? UUIDText.text(of: bits, version: 8) : bits.hex).utf8)
    }
}

/// An error that prevents the creation of pseudonyms.
public enum PseudonymError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The key is too short. It has the given number of bytes.
    case shortKey(Int)
    /// A record already has pseudonyms that were made with another key. The id of that key is `nil` if it is unknown.
    case otherKey(String?, given: String)
    /// The system with the given name is unknown.
    case unknownSystem(String)

    /// A description of the error, without a full stop.
    public var description: String {
        switch self {
        case .shortKey(let count): "a key needs at least \(PseudonymKey.minimumByteCount) bytes, not \(count)"
        case .otherKey(let other, let given):
            "it has pseudonyms of \(other.map { "the key \($0)" } ?? "an unknown key"), not of the key \(given)"
        case .unknownSystem(let name): "there are no rules for records of \(name)"
        }
    }

    /// The advice to the user, or `nil` if there is none.
    public var remedy: String? {
        switch self {
        case .shortKey: "create a key with pingferry pseudonym-key -o FILE"
        case .otherKey: "give the key of these pseudonyms, or omit --pseudonymize"
        case .unknownSystem: nil
        }
    }
}

/// A class of values with comparable pseudonyms, such as client ids.
///
/// Equal values of a class have equal pseudonyms, even in different systems. Pseudonyms of different classes cannot be
/// compared.
///
/// Source: "Pseudonyms".
public struct PseudonymClass: Hashable, Sendable {
    /// The name of the class.
    ///
    /// It is part of the hash input of each pseudonym.
    public let name: String

    /// Creates a class with a name of lowercase words joined by hyphens.
    public init(_ name: String) { self.name = name }

    /// The account of a customer of a telemetry system, such as an app publisher.
    public static let account = PseudonymClass("account")
    /// An id or name of an app that does not have the expected form.
    public static let app = PseudonymClass("app")
    /// The label of a capture.
    public static let capture = PseudonymClass("capture")
    /// The id of a client.
    public static let client = PseudonymClass("client")
    /// The id of a document.
    public static let document = PseudonymClass("document")
    /// The name of an undocumented event.
    public static let event = PseudonymClass("event")
    /// A path in a capture.
    public static let path = PseudonymClass("path")
    /// The id of a session.
    public static let session = PseudonymClass("session")
    /// A record type that does not have the form of an identifier.
    public static let type = PseudonymClass("type")
    /// The id of a user account.
    public static let user = PseudonymClass("user")
}

/// A generator of pseudonyms that caches the last pseudonym of each class.
///
/// The cache is effective because most records of a store belong to one client, and because the target of a record
/// repeats the record's id.
struct PseudonymMaker: Sendable {
    private let key: PseudonymKey
    /// Whether values that look like pseudonyms are kept, because the current record already has pseudonyms of the same
    /// key.
    var keepsPseudonyms = false
    private var classes: [PseudonymClass: ClassState] = [:]

    /// The cached HMAC state and the last pseudonym of a class.
    private struct ClassState: Sendable {
        let code: HMACSHA256
        var value: [UInt8] = []
        var pseudonym: [UInt8] = []
    }

    init(_ key: PseudonymKey) { self.key = key }

    /// Returns the pseudonym of a value.
    ///
    /// An empty value is returned unchanged, because it is not an id.
    mutating func pseudonym(of value: Span<UInt8>, _ kind: PseudonymClass) -> [UInt8] {
        if value.isEmpty || keepsPseudonyms && value.isPseudonym { return value.copied() }
        var state = classes[kind] ?? ClassState(code: key.code(for: kind))
        if value.equals(state.value.span) { return state.pseudonym }
        state.value = value.copied()
        state.pseudonym = PseudonymKey.pseudonym(of: state.value, from: state.code)
        classes[kind] = state
        return state.pseudonym
    }

    mutating func pseudonym(of text: String, _ kind: PseudonymClass) -> String {
        String(decoding: pseudonym(of: text.utf8.span, kind), as: UTF8.self)
    }
}

extension Span<UInt8> {
    /// Whether the bytes have the form of a pseudonym: 32 hexadecimal digits or a UUID of version 8, in lowercase.
    fileprivate var isPseudonym: Bool {
        let isUUIDOfVersion8 = isUUID && self[14] == UInt8(ascii: "8")
        guard isUUIDOfVersion8 || count == 32 else { return false }
        return allSatisfy { $0.lowercased == $0 && (isUUIDOfVersion8 || $0.hexadecimalValue != nil) }
    }
}

/// The rules for replacing ids in the payloads of a system by pseudonyms.
///
/// Source: "Pseudonyms".
public struct PseudonymFormat: Sendable {
    /// The rules for payloads, by record type.
    ///
    /// If there is only one table, it applies to all types.
    public let tables: [(types: [String], table: PseudonymTable)]

    /// Creates the rules of a system.
    public init(_ tables: [(types: [String], table: PseudonymTable)]) { self.tables = tables }

    /// Returns the rules for payloads of a record type, or `nil` if payloads of this type are not documented.
    public func table(ofType type: String) -> PseudonymTable? {
        tables.count == 1 ? tables[0].table : tables.first { $0.types.contains(type) }?.table
    }
}

/// A rule that keeps, replaces or omits a value of a payload.
///
/// The value `null` is kept unless the rule is `drop`. Rules are data so that they can be listed in the documentation
/// and compared with the format documents.
///
/// Source: "Pseudonyms".
public indirect enum PseudonymRule: Sendable {
    /// Keeps a value of the given form, and replaces any other value by the substitute.
    case keep(KeptForm, else: Substitute = .nothing)
    /// Keeps or rounds a time of the given form, and replaces any other value by the substitute.
    case time(TimeForm, else: Substitute = .nothing)
    /// Replaces a string by a pseudonym of the class, and omits any other value.
    case pseudonym(PseudonymClass)
    /// Omits the value.
    case drop
    /// Applies the rules of the table to the members of an object, and omits all other members.
    case object(PseudonymTable)
    /// Applies a rule to each element of an array.
    case list(PseudonymRule)
    /// Applies a separate rule to each position of an array.
    ///
    /// An omitted element is replaced by `null`. At the end of the array, omitted elements are removed.
    case tuple([PseudonymRule])
    /// Applies a rule to members whose keys match the key rule, and omits all other members.
    case map(KeyRule, PseudonymRule)
    /// Applies a rule to the JSON that a string contains.
    case json(PseudonymRule)

    /// The replacement for a value that does not have the required form.
    public enum Substitute: Sendable {
        /// No replacement, so that the value is omitted.
        case nothing
        /// A string that is documented to mean an unknown value, for required fields.
        case text(String)
        /// A pseudonym, so that equal values can still be recognized as equal.
        case pseudonym(PseudonymClass)
    }

    /// The rule for the keys of an object with any number of members.
    public enum KeyRule: Sendable {
        /// Keeps keys of the given form.
        case form(KeptForm)
        /// Keeps keys that consist of one of `words`, a dot and a name.
        ///
        /// A name that is not in `known` is replaced by a pseudonym.
        case dottedKey(_ words: Set<CapturedText>, known: Set<CapturedText>, PseudonymClass)
    }
}

/// The rules for the members of an object, by key.
///
/// Members without a rule are omitted and counted.
///
/// ```swift
/// let rules: PseudonymTable = ["clientId": .pseudonym(.client), "seq": .keep(.number)]
/// ```
public struct PseudonymTable: Sendable, ExpressibleByDictionaryLiteral {
    /// The key of a member, and the rule for the value of the member.
    public struct Field: Sendable {
        /// The key of the member.
        public let key: JSONKey
        /// The rule for the value of the member.
        public let rule: PseudonymRule
    }

    /// The keys with their rules, in the canonical order of the keys.
    public let fields: [Field]

    /// Creates a table from a dictionary literal.
    public init(dictionaryLiteral fields: (JSONKey, PseudonymRule)...) {
        self.init(fields.map { Field(key: $0.0, rule: $0.1) })
    }

    /// Creates a table with the same rule for all keys.
    public init(_ keys: [String], _ rule: PseudonymRule) {
        self.init(keys.map { Field(key: JSONKey($0), rule: rule) })
    }

    init(_ fields: [Field]) { self.fields = fields.sorted { $0.key < $1.key } }

    /// Returns the rules of both tables.
    ///
    /// The rules of `left` take precedence.
    public static func + (left: PseudonymTable, right: PseudonymTable) -> PseudonymTable {
        let known = Set(left.fields.map(\.key.utf8))
        return PseudonymTable(left.fields + right.fields.filter { !known.contains($0.key.utf8) })
    }
}
