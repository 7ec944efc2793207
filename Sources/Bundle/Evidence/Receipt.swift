import Hashing
import JSONText
import Telemetry

/// A statement of who created or verified bundles, when, where, and with which result.
///
/// A receipt is stored beside the bundle, because the bytes of a bundle must not depend on the user. The format is an
/// in-toto Statement v1. Its subjects are the files of the bundles.
///
/// Source: "Receipts".
public struct Receipt: Sendable, Equatable {
    /// The user who ran the program, the host and the time.
    public struct Origin: Sendable, Equatable {
        /// The name of the user, or `nil` if the user ID has no name.
        let user: String?
        let userID: Int
        let host: String
        let toolVersion: String
        let time: Timestamp

        /// Creates the origin of a receipt.
        public init(user: String?, userID: Int, host: String, toolVersion: String, time: Timestamp) {
            self.user = user
            self.userID = userID
            self.host = host
            self.toolVersion = toolVersion
            self.time = time
        }
    }

    /// The result of creating or verifying a bundle.
    public enum Outcome: Sendable, Equatable {
        /// The bundle was created from all input.
        case complete
        /// The bundle was created, but some input could not be read or parsed.
        case incomplete
        /// The bundle was verified and is valid.
        case valid
        /// The bundle is invalid for the given reason. The status is the exit status of the program.
        case invalid(reason: String, status: Int)

        /// The name of the outcome in a receipt.
        fileprivate var name: String {
            switch self {
            case .complete: "complete"
            case .incomplete: "incomplete"
            case .valid: "good"
            case .invalid: Receipt.badResult
            }
        }
    }

    /// A bundle that was created or verified.
    public struct Entry: Sendable, Equatable {
        let name: String
        let files: [File]
        let outcome: Outcome
        /// The manifest of the bundle, or `nil` if it could not be read.
        let manifest: Manifest?
        let signer: Signer?

        /// Creates an entry for a bundle.
        ///
        /// `files` contains the files of the bundle that could be read.
        public init(name: String, files: [File], outcome: Outcome, manifest: Manifest?, signer: Signer? = nil) {
            self.signer = signer
            self.name = name
            self.files = files
            self.outcome = outcome
            self.manifest = manifest
        }
    }

    /// A file of a bundle.
    public struct File: Sendable, Equatable {
        /// The name of the file, which is unique among the files of a receipt.
        public let name: String
        let sha256: ContentHash

        /// Creates a file of a bundle.
        public init(name: String, sha256: ContentHash) {
            self.name = name
            self.sha256 = sha256
        }
    }

    /// The type of the predicate, which identifies a statement as a receipt of version 1.
    ///
    /// The type is a URL that is only an identifier. Its domain is reserved by RFC 2606.
    static let predicateType = predicateTypePrefix + "v1"

    /// The prefix of the predicate types of all versions of receipts.
    static let predicateTypePrefix = "https://pingferry.example/receipt/"

    /// The result of a bundle that is not valid.
    static let badResult = "bad"

    private let command: String
    private let arguments: [String]?
    private let origin: Origin
    private let entries: [Entry]
    private let inputs: BundleInputs?

    /// Creates a receipt.
    ///
    /// Pass `nil` for `arguments` if the arguments could identify people whose records have pseudonyms.
    public init(command: String, arguments: [String]?, origin: Origin, entries: [Entry], inputs: BundleInputs?) {
        self.command = command
        self.arguments = arguments
        self.origin = origin
        self.entries = entries
        self.inputs = inputs
    }

    /// The receipt as a statement about the files of the bundles.
    public var statement: Statement {
        Statement(predicateType: Self.predicateType, predicate: predicate, subjects: entries.flatMap(\.files))
    }

    private var predicate: CanonicalObject {
        var object: CanonicalObject = ["bundles": entries.map(\.json), "command": command]
        if let arguments { object.set("arguments", arguments) }
        inputs?.add(to: &object)
        origin.add(to: &object, program: "pingferry")
        return object
    }
}

extension Receipt.Origin {
    /// Adds the host, the time, the name and version of the program, and the user to the predicate of a statement.
    public func add(to predicate: inout CanonicalObject, program: String) {
        predicate.set("host", host)
        predicate.set("time", time.description)
        predicate.set("tool", ["name": program, "version": toolVersion] as CanonicalObject)
        predicate.set("user", ["name": user, "uid": userID] as CanonicalObject)
    }
}

extension Receipt.Entry {
    fileprivate var json: CanonicalObject {
        var object: CanonicalObject = ["files": files.map(\.name), "name": name, "result": outcome.name]
        if case .invalid(let reason, let status) = outcome {
            object.set("reason", reason)
            object.set("status", status)
        }
        if let signer { object.set("signer", signer.json) }
        if let manifest {
            object.set("digest", manifest.digest)
            object.set("duplicates", manifest.duplicateCount)
            if let filters = manifest.filters { object.set("filters", filters.json) }
            if !manifest.parents.isEmpty { object.set("parents", manifest.parents) }
            if let key = manifest.pseudonymKeyID { object.set("pseudonymized", key) }
            object.set("totals", manifest.totals.json)
        }
        return object
    }
}

// MARK: - Statement

/// An in-toto Statement v1 about files.
///
/// Source: in-toto Attestation Framework, "Statement layer specification", v1.
public struct Statement {
    /// The URL that identifies the type of the statement, in-toto Statement v1.
    static let type = "https://in-toto.io/Statement/v1"
    /// The type of the predicate of a delivery receipt.
    ///
    /// The URL is only an identifier. Its domain is reserved by RFC 2606.
    public static let deliveryType = "https://pingferry.example/delivery/v1"

    private let predicateType: String
    private let predicate: CanonicalObject
    private let arrays: [(key: JSONKey, elements: CanonicalObject.Elements)]
    private let subjects: [Receipt.File]

    /// Creates a statement.
    ///
    /// `arrays` contains array members of `predicate` that may be too large for memory. Their elements are produced
    /// while the statement is written.
    public init(
        predicateType: String, predicate: CanonicalObject,
        arrays: [(key: JSONKey, elements: CanonicalObject.Elements)] = [], subjects: [Receipt.File]
    ) {
        self.predicateType = predicateType
        self.predicate = predicate
        self.arrays = arrays
        self.subjects = subjects
    }

    /// Whether the statement has a subject, which a valid statement requires.
    public var hasSubject: Bool { !subjects.isEmpty }

    /// Writes the statement as one line of canonical JSON, calling `output` with consecutive pieces.
    public func write(to output: (Span<UInt8>) throws -> Void) throws {
        let start: CanonicalObject = ["_type": Self.type]
        let end: CanonicalObject = ["predicateType": predicateType, "subject": subjects.map(\.subject)]
        try output(Array(start.bytes.dropLast() + #","predicate":"#.utf8).span)
        try predicate.write(with: arrays, to: output)
        try output(Array(",".utf8 + end.bytes.dropFirst() + "\n".utf8).span)
    }
}

extension Receipt.File {
    /// The file as a resource descriptor of in-toto.
    fileprivate var subject: CanonicalObject {
        ["digest": ["sha256": sha256.hex] as CanonicalObject, "name": name]
    }
}
