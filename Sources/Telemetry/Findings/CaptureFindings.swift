import JSONText

/// A problem and the path of the affected file or folder.
public struct LocatedProblem: Sendable, Equatable {
    /// The label of the capture.
    public var capture: String
    /// The path of the file or folder in the capture.
    public var path: String
    /// The problem.
    public var problem: Problem

    /// Creates a problem that affects the file or folder at `path`.
    public init(capture: String, path: String, problem: Problem) {
        self.capture = capture
        self.path = path
        self.problem = problem
    }

    /// The problem as canonical JSON, which is a line of `problems.ndjson`.
    public var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("capture", string: capture)
        object.set("code", string: problem.code)
        if problem.isLoss != Problem.isLoss(problem.code) { object.set("loss", boolean: problem.isLoss) }
        if let offset = problem.offset { object.set("offset", integer: offset) }
        object.set("path", string: path)
        object.set("text", string: problem.text)
        return object
    }

    /// Reads a line of `problems.ndjson`.
    ///
    /// Returns `nil` if the line is malformed.
    public init?(json bytes: [UInt8], knowing systems: SystemTable) {
        guard let fields = try? JSONFields(bytes), let capture = fields.text("capture"),
            let code = fields.text("code"), let path = fields.text("path"), let text = fields.text("text")
        else { return nil }
        let problem = Problem(code, text, at: fields.count("offset"), isLoss: fields.boolean("loss"))
        self.init(capture: capture, path: path, problem: problem)
    }
}

/// A file, or a part of a file, that is in quarantine because it could not be parsed.
public struct QuarantineEntry: Sendable, Equatable {
    /// The label of the capture.
    public var capture: String
    /// The path of the file in the capture.
    public var path: String
    /// The kind of store that the file belongs to.
    public var store: StoreKind
    /// The reason for the quarantine, and the range of the quarantined bytes in the file.
    public var reject: Reject
    /// The number of quarantined bytes.
    public var size: Int
    /// The SHA-256 hash of the quarantined bytes in lowercase hexadecimal.
    public var sha256: String
    /// Whether the bundle contains the bytes themselves.
    ///
    /// Bytes are omitted if the file can contain credentials, or if they exceed the limits of the quarantine.
    public var isStored: Bool

    /// Creates an entry.
    public init(
        capture: String, path: String, store: StoreKind, reject: Reject, size: Int, sha256: String, isStored: Bool
    ) {
        self.capture = capture
        self.path = path
        self.store = store
        self.reject = reject
        self.size = size
        self.sha256 = sha256
        self.isStored = isStored
    }

    /// The entry as canonical JSON, which is a line of `quarantine.ndjson`.
    public var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("capture", string: capture)
        object.set("length", integer: reject.length)
        object.set("offset", integer: reject.offset)
        object.set("path", string: path)
        object.set("reason", string: reject.reason)
        object.set("sha256", string: sha256)
        object.set("size", integer: size)
        object.set("store", string: store.description)
        object.set("stored", boolean: isStored)
        return object
    }

    /// Reads a line of `quarantine.ndjson`.
    ///
    /// Returns `nil` if the line is malformed or if the kind of store is unknown.
    public init?(json bytes: [UInt8], knowing systems: SystemTable) {
        guard let fields = try? JSONFields(bytes), let capture = fields.text("capture"),
            let path = fields.text("path"), let store = fields.text("store").flatMap(systems.storeKind),
            let reason = fields.text("reason"), let size = fields.count("size"),
            let sha256 = fields.text("sha256"), let isStored = fields.boolean("stored")
        else { return nil }
        let reject = Reject(reason, offset: fields.count("offset"), length: fields.count("length"))
        self.init(
            capture: capture, path: path, store: store, reject: reject, size: size, sha256: sha256,
            isStored: isStored)
    }
}
