import Bundle
import Files
import JSONText
import Systems
import Telemetry

// Tests use the systems of the registry by default.

extension BundleReader {
    /// Opens a bundle with the known systems.
    public convenience init(path: String) throws(BundleError) {
        try self.init(path: path, knowing: Systems.table)
    }

    /// Opens a bundle in memory with the known systems.
    public convenience init(bytes: [UInt8]) throws(BundleError) {
        try self.init(ByteSource(bytes), path: "-", knowing: Systems.table)
    }
}

extension Record {
    /// Parses the line of a record with the known systems.
    public init(line: [UInt8], using document: inout JSONDocument) throws(RecordError) {
        try self.init(line: line, using: &document, knowing: Systems.table)
    }

    /// Parses the record on the line at `range` of `text`, and accepts all registered systems.
    public init(lineAt range: Range<Int>, of text: [UInt8], using memory: inout RecordMemory) throws(RecordError) {
        try self.init(lineAt: range, of: text, using: &memory, knowing: Systems.table)
    }

    /// A description of a contradiction in the record, or `nil` if there is none.
    public var contradiction: String? { contradiction(knowing: Systems.table) }

    /// Whether the id and type in the target are those of the record, as far as the paths of its system contain them.
    public var targetNamesRecord: Bool { Systems.table[system]?.uploads.targetNamesRecord(self) ?? false }
}

extension LocatedProblem {
    /// Parses a line of `problems.ndjson` with the known systems.
    public init?(json bytes: [UInt8]) { self.init(json: bytes, knowing: Systems.table) }
}

extension QuarantineEntry {
    /// Parses a line of `quarantine.ndjson` with the known systems.
    public init?(json bytes: [UInt8]) { self.init(json: bytes, knowing: Systems.table) }
}

extension EventLabeler {
    /// Creates a labeler with the vocabularies of the known systems.
    public init() { self.init(Systems.table) }

    /// Returns the meaning of each event in the payload of a record of `app`.
    public mutating func labels(of payload: String, system: SystemName, type: String, app: App? = nil) -> [String?] {
        let record = Record(
            system: system, type: type, id: "1", app: app, payload: Array(payload.utf8), source: Sample.source)
        return labels(of: record.payload, in: RecordSummary(record))
    }
}

extension UploadRoute {
    /// Classifies a request with the known systems.
    public init(method: String?, url: String) throws(BodyError) {
        try self.init(method: method, url: url, Systems.table)
    }
}

extension Target {
    /// Returns whether the target is valid for a known system.
    public func isKnown(to system: SystemName) -> Bool { Systems.table.isKnown(self, to: system) }
}

extension QuarantineSpill {
    /// Creates an empty quarantine in a folder, for stores of the known systems.
    public init(folder: String, within limits: QuarantineLimits = QuarantineLimits()) {
        self.init(folder: folder, knowing: Systems.table, within: limits)
    }
}

extension RecordLines {
    /// Creates an iterator over the records of a segment with the known systems.
    public init(_ contents: [UInt8]) {
        self.init(contents, knowing: Systems.table)
    }
}
