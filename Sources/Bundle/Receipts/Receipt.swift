import Hashing
import JSONText
import Telemetry

/// What is kept of a run of the program: who made or checked a bundle, when, where, and what became of it. It stands beside the
/// bundle, which stays the same whoever makes it.
///
/// A receipt is an in-toto Statement v1 whose subjects are the files of bundles. A pure value: clock, user and host come from
/// outside.
///
/// Source: "Receipts".
public struct Receipt: Sendable, Equatable {
    /// Who ran the program, when and where.
    public struct Maker: Sendable, Equatable {
        let user: String?
        let userID: Int
        let host: String
        let version: String
        let time: Timestamp

        /// Creates a maker. Its user has no name if the machine has none for the number.
        public init(user: String?, userID: Int, host: String, version: String, time: Timestamp) {
            self.user = user
            self.userID = userID
            self.host = host
            self.version = version
            self.time = time
        }
    }

    /// What became of a bundle.
    public enum Outcome: Sendable, Equatable {
        /// It was made, of all input.
        case complete
        /// It was made, but some input was not understood or not read.
        case incomplete
        /// It was checked, and is whole and well formed.
        case good
        /// It was checked, and is not good: why, and the exit status that means so.
        case bad(reason: String, status: Int)

        fileprivate var word: String {
            switch self {
            case .complete: "complete"
            case .incomplete: "incomplete"
            case .good: "good"
            case .bad: "bad"
            }
        }
    }

    /// A bundle that was made or checked.
    public struct Entry: Sendable, Equatable {
        let name: String
        let files: [File]
        let outcome: Outcome
        let manifest: Manifest?
        let signer: Signer?

        /// Creates an entry by the last part of a path. Files and manifests that cannot be read are missing.
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
        let name: String
        let sha256: ContentHash

        /// - Parameter name: the last part of its path.
        public init(name: String, sha256: ContentHash) {
            self.name = name
            self.sha256 = sha256
        }
    }

    /// The type of the statement.
    ///
    /// Source: in-toto Attestation Framework, "Statement layer specification", v1.
    static let statementType = "https://in-toto.io/Statement/v1"
    /// The type of what it says. No server answers there: the domain is reserved (RFC 2606), so that it is nobody else's.
    static let predicateType = "https://pingferry.example/receipt/v1"

    private let command: String
    private let arguments: [String]?
    private let maker: Maker
    private let entries: [Entry]
    private let inputs: GivenInputs?

    /// - Parameters:
    ///   - command: `bundle` or `verify`.
    ///   - arguments: the words behind it, as given; nil where they would tell whose captures a bundle with pseudonyms was made of.
    ///   - entries: the bundles, in the order given.
    ///   - inputs: what a bundle was made of; nil for bundles that were checked.
    public init(command: String, arguments: [String]?, maker: Maker, entries: [Entry], inputs: GivenInputs?) {
        self.command = command
        self.arguments = arguments
        self.maker = maker
        self.entries = entries
        self.inputs = inputs
    }

    /// Whether it has a subject, without which it is no statement.
    public var hasSubject: Bool { entries.contains { !$0.files.isEmpty } }

    /// The statement as one line of canonical JSON.
    public var bytes: [UInt8] {
        var statement = CanonicalObject()
        statement.set("_type", string: Self.statementType)
        statement.set("predicate", object: predicate)
        statement.set("predicateType", string: Self.predicateType)
        statement.set("subject", elements: entries.flatMap(\.files).map(\.subject.bytes))
        return statement.bytes + [UInt8(ascii: "\n")]
    }

    private var predicate: CanonicalObject {
        var object = CanonicalObject()
        if let arguments { object.set("arguments", strings: arguments) }
        object.set("bundles", elements: entries.map(\.json.bytes))
        object.set("command", string: command)
        object.set("host", string: maker.host)
        inputs?.add(to: &object)
        object.set("time", string: maker.time.description)
        var tool = CanonicalObject()
        tool.set("name", string: "pingferry")
        tool.set("version", string: maker.version)
        object.set("tool", object: tool)
        var user = CanonicalObject()
        user.set("name", string: maker.user)
        user.set("uid", integer: maker.userID)
        object.set("user", object: user)
        return object
    }
}

extension Receipt.File {
    /// The file as a resource descriptor of in-toto.
    fileprivate var subject: CanonicalObject {
        var digest = CanonicalObject()
        digest.set("sha256", string: sha256.hex)
        var object = CanonicalObject()
        object.set("digest", object: digest)
        object.set("name", string: name)
        return object
    }
}

extension Receipt.Entry {
    fileprivate var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("files", strings: files.map(\.name))
        object.set("name", string: name)
        object.set("result", string: outcome.word)
        if case .bad(let reason, let status) = outcome {
            object.set("reason", string: reason)
            object.set("status", integer: status)
        }
        if let signer { object.set("signer", object: signer.json) }
        if let manifest {
            object.set("digest", string: manifest.digest)
            object.set("duplicates", integer: manifest.duplicates)
            if let key = manifest.pseudonymized { object.set("pseudonymized", string: key) }
            object.set("totals", object: manifest.totals.json)
        }
        return object
    }
}
