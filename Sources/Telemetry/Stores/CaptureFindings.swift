import Bytes
import JSONText

/// A notable condition of a store that is reported to the operator.
public struct Problem: Sendable, Equatable {
    /// A short code, such as `pending-counters` or `unreadable`.
    public var code: String
    /// The description of the problem.
    public var text: String

    /// The byte offset of the problem in the file, or `nil` if it is unknown or the whole file is affected.
    public var offset: Int?

    /// Whether some data was not read or not kept because of the problem.
    public var isLoss: Bool

    /// Creates a problem.
    ///
    /// If `isLoss` is `nil`, the code determines whether data was lost.
    public init(_ code: String, _ text: String, at offset: Int? = nil, isLoss: Bool? = nil) {
        self.code = code
        self.text = text
        self.offset = offset
        self.isLoss = isLoss ?? Self.isLoss(code)
    }

    /// The codes of problems that mean a loss of data by default.
    private static let lossCodes: Set<CapturedText> = [
        "changed", "damaged", "entry_limit", "line_limit", "link", "quarantine-limit", "unreadable",
    ]

    /// Returns whether a problem with this code means a loss of data by default.
    static func isLoss(_ code: String) -> Bool { lossCodes.contains(code) }

    /// Whether the operator should look at the problem although no data was lost.
    ///
    /// Examples are a special file in place of a store, and a problem that lost no data although its code usually means
    /// a loss.
    public var isWarning: Bool { !isLoss && (code == "special" || Self.isLoss(code)) }
}

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
        var object: CanonicalObject = [
            "capture": capture, "code": problem.code, "path": path, "text": problem.text,
        ]
        if problem.isLoss != Problem.isLoss(problem.code) { object.set("loss", problem.isLoss) }
        if let offset = problem.offset { object.set("offset", offset) }
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

/// A range of a store file that could not be parsed and is put into quarantine.
public struct Reject: Sendable, Equatable {
    /// The reason, which consists of a case id or code, a space and an explanation.
    public var reason: String
    /// The byte offset of the range.
    ///
    /// If the whole file is rejected, it is the offset of the parsing failure, or `nil`.
    public var offset: Int?
    /// The length of the range in bytes, or `nil` if the whole file is rejected.
    public var length: Int?

    /// Creates a reject of a range, or of the whole file if `offset` or `length` is `nil`.
    public init(_ reason: String, offset: Int? = nil, length: Int? = nil) {
        self.reason = reason
        self.offset = offset
        self.length = length
    }

    /// The reason for a file that is in quarantine because a part of its store is, such as the journal of a database.
    ///
    /// Such a file is read together with the store.
    public static let companionReason = "companion of a database in quarantine"

    /// Returns the range of the rejected bytes in a file with `count` bytes.
    public func range(inFileOf count: Int) -> Range<Int> {
        guard let offset, let length, offset <= count else { return 0..<count }
        return offset..<min(offset + length, count)
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
        [
            "capture": capture, "length": reject.length, "offset": reject.offset, "path": path,
            "reason": reject.reason, "sha256": sha256, "size": size, "store": store.description, "stored": isStored,
        ]
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
