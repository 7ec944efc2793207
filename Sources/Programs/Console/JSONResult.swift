import ArgumentParser
import Bytes
import CLibrary
import Files
import JSONText
import Synchronization

/// The results that commands print as JSON on standard output because of `--json`.
///
/// Each result has the members `format`, the name of its form, and `version`, the version of the form. A command that
/// fails before it has a result prints an object with the member `error` instead, so that programs that read standard
/// output always get a result.
///
/// Source: "JSON output".
public enum JSONResult {
    /// The version of all forms.
    ///
    /// It changes if a member is removed or gets another meaning, but not if a member is added.
    public static let version = 1

    private struct State {
        var isRequested = false
        var isPrinted = false
        var firstFailure: CommandError?
    }

    private static let state = Mutex(State())

    /// Sets whether the arguments of the command request a result.
    public static func request(by arguments: [String]) {
        let options = arguments.prefix { $0 != "--" }
        state.withLock { $0.isRequested = options.contains("--json") }
    }

    /// Prints a result on one line.
    public static func print(_ object: CanonicalObject, as form: JSONForm) throws {
        try print(object, arrays: [], as: form)
    }

    /// Prints a result with the members of `object` and `arrays`, sorted by their keys, on one line.
    ///
    /// The arrays need not fit in memory, because they are printed while they are produced.
    public static func print(
        _ object: CanonicalObject, arrays: [(key: JSONKey, elements: CanonicalObject.Elements)], as form: JSONForm
    ) throws {
        state.withLock { $0.isPrinted = true }
        try Terminal.print(object.named(form), arrays: arrays)
    }

    /// Notes the error that may become the result of the command.
    static func note(_ failure: CommandError) {
        state.withLock { $0.firstFailure = $0.firstFailure ?? failure }
    }

    /// Prints the error `failure` as the result for one of several inputs.
    public static func print(_ failure: CommandError) throws {
        try print(["error": failure.json], as: .error)
    }

    /// Prints the first error as the result, if a result is requested and none was printed.
    ///
    /// `status` is the exit status, and `message` describes the error if no command has reported it.
    static func printFailure(status: Int32, _ message: @autoclosure () -> String) {
        let (isNeeded, failure) = state.withLock { ($0.isRequested && !$0.isPrinted, $0.firstFailure) }
        guard isNeeded else { return }
        let code = status == EX_USAGE ? "usage" : ExitStatus(rawValue: status)?.code ?? "failed"
        let error =
            failure?.json
            ?? [
                "code": code, "hint": nil as String?, "message": message(), "path": nil as String?,
                "status": Int(status),
            ]
        // The status already reports the error, and standard output may be the reason for it.
        try? print(["error": error], as: .error)
    }
}

extension CanonicalObject {
    /// Returns the object with the members that name its form.
    fileprivate func named(_ form: JSONForm) -> CanonicalObject {
        var object = self
        object.set("format", form.name)
        object.set("version", JSONResult.version)
        return object
    }
}

extension CommandError {
    /// The error as an object with a code, a message and a remedy.
    var json: CanonicalObject {
        ["code": status.code, "hint": remedy, "message": message, "path": path, "status": Int(status.rawValue)]
    }
}

extension ExitStatus {
    /// The name of the status in JSON.
    var code: String {
        switch self {
        case .incomplete: "incomplete"
        case .badData: "bad-data"
        case .noInput: "no-input"
        case .unavailable: "unavailable"
        case .cannotCreate: "cannot-create"
        case .inputOutput: "input-output"
        case .tryLater: "try-later"
        case .noPermission: "no-permission"
        case .badConfiguration: "bad-configuration"
        }
    }
}

/// The form of the JSON that a command prints.
///
/// The JSON Schemas of a release and the tables in the article "JSON output" are derived from the forms.
public struct JSONForm: Sendable {
    /// The name of the form, which each result contains as its member `format`.
    public let name: String
    /// The meaning of the result, such as `a scan, printed by scan --json`.
    public let meaning: String
    /// The members in addition to `format` and `version`.
    public let members: [JSONMember]
    /// Whether the objects have the members `format` and `version`, which lines of a log have not.
    public let isNamed: Bool

    init(_ name: String, _ meaning: String, isNamed: Bool = true, _ members: [JSONMember]) {
        self.name = name
        self.meaning = meaning
        self.members = members
        self.isNamed = isNamed
    }

    /// The JSON Schema of the form, in the 2020-12 dialect.
    ///
    /// Unknown members are allowed, because a later version of the program can add members.
    public var schema: CanonicalObject {
        var schema = JSONShape.object(isNamed ? members + nameMembers : members).schema
        schema.set("$schema", "https://json-schema.org/draft/2020-12/schema")
        schema.set("title", "pingferry \(name)")
        schema.set("description", meaning)
        return schema
    }

    private var nameMembers: [JSONMember] {
        [
            JSONMember("format", .constant(name), "the name of this form"),
            JSONMember("version", .integer, "the version of this form, which is \(JSONResult.version)"),
        ]
    }
}

/// A member of a JSON object.
public struct JSONMember: Sendable {
    /// The key of the member.
    public let key: String
    /// The shape of the value.
    public let shape: JSONShape
    /// The meaning of the value.
    public let meaning: String
    /// Whether each object has the member.
    public let isRequired: Bool

    init(_ key: String, _ shape: JSONShape, _ meaning: String, isRequired: Bool = true) {
        self.key = key
        self.shape = shape
        self.meaning = meaning
        self.isRequired = isRequired
    }
}

/// The type of a JSON value, and the shapes of the values in it.
public indirect enum JSONShape: Sendable {
    case string
    case integer
    case boolean
    /// The given string.
    case constant(String)
    /// A value of a shape, or null.
    case nullable(JSONShape)
    /// An array of values of a shape.
    case array(JSONShape)
    /// An object in which all values have a shape, such as the number of records for each type.
    case map(JSONShape)
    /// An object with the given members.
    case object([JSONMember])

    /// The JSON Schema of the shape.
    var schema: CanonicalObject {
        switch self {
        case .string: ["type": "string"]
        case .integer: ["type": "integer"]
        case .boolean: ["type": "boolean"]
        case .constant(let value): ["const": value]
        case .nullable(let shape): ["anyOf": [shape.schema, ["type": "null"] as CanonicalObject]]
        case .array(let shape): ["items": shape.schema, "type": "array"]
        case .map(let shape): ["additionalProperties": shape.schema, "type": "object"]
        case .object(let members): Self.schema(of: members)
        }
    }

    private static func schema(of members: [JSONMember]) -> CanonicalObject {
        var properties = CanonicalObject()
        for member in members {
            var property = member.shape.schema
            property.set("description", member.meaning)
            properties.set(JSONKey(member.key), property)
        }
        return [
            "properties": properties, "required": members.filter(\.isRequired).map(\.key).sorted(), "type": "object",
        ]
    }

    /// The type in words, such as `array of objects`.
    public var typeName: String {
        switch self {
        case .string: "string"
        case .integer: "integer"
        case .boolean: "boolean"
        case .constant(let value): "`\"\(value)\"`"
        case .nullable(let shape): "\(shape.typeName) or null"
        case .array(.object): "array of objects"
        case .array(let shape): "array of \(shape.typeName)s"
        case .map(let shape): "object of \(shape.typeName)s"
        case .object: "object"
        }
    }

    /// The members of the objects that the shape consists of, or an empty array if there are none.
    public var members: [JSONMember] {
        switch self {
        case .object(let members): members
        case .nullable(let shape), .array(let shape), .map(let shape): shape.members
        case .string, .integer, .boolean, .constant: []
        }
    }
}

// MARK: - Shapes of members

extension JSONMember {
    static func text(_ key: String, _ meaning: String) -> Self { Self(key, .string, meaning) }
    static func optionalText(_ key: String, _ meaning: String) -> Self { Self(key, .nullable(.string), meaning) }
    static func texts(_ key: String, _ meaning: String) -> Self { Self(key, .array(.string), meaning) }
    static func count(_ key: String, _ meaning: String) -> Self { Self(key, .integer, meaning) }
    static func optionalCount(_ key: String, _ meaning: String) -> Self { Self(key, .nullable(.integer), meaning) }
    static func counts(_ key: String, _ meaning: String) -> Self { Self(key, .map(.integer), meaning) }
    static func flag(_ key: String, _ meaning: String) -> Self { Self(key, .boolean, meaning) }

    static func object(_ key: String, _ meaning: String, _ members: [JSONMember]) -> Self {
        Self(key, .object(members), meaning)
    }

    static func objects(_ key: String, _ meaning: String, _ members: [JSONMember]) -> Self {
        Self(key, .array(.object(members)), meaning)
    }

    /// The member, which objects can lack.
    var ifPresent: Self { Self(key, shape, meaning, isRequired: false) }

    /// The member, whose value can be null.
    var orNull: Self { Self(key, .nullable(shape), meaning, isRequired: isRequired) }
}
