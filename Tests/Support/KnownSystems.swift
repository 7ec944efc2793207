import Bundle
import Files
import JSONText
import Systems
import Telemetry

// What tests read is of the systems that are known, unless a test says otherwise.

extension BundleReader {
    /// Opens a bundle of the known systems.
    public convenience init(path: String) throws(BundleError) {
        try self.init(path: path, knowing: Systems.table)
    }

    /// Opens a bundle of the known systems in memory.
    public convenience init(bytes: [UInt8]) throws(BundleError) {
        try self.init(ByteSource(bytes), path: "-", knowing: Systems.table)
    }
}

extension Record {
    /// Reads a record of the known systems from its line.
    public init(line: [UInt8], using document: inout JSONDocument) throws(RecordError) {
        try self.init(line: line, using: &document, knowing: Systems.table)
    }

    /// Reads a record of the known systems where it stands among others.
    public init(lineAt range: Range<Int>, of text: [UInt8], using memory: inout RecordMemory) throws(RecordError) {
        try self.init(lineAt: range, of: text, using: &memory, knowing: Systems.table)
    }

    /// Why the record contradicts itself; nil if it does not.
    public var contradiction: String? { contradiction(knowing: Systems.table) }

    /// Whether its target names its own id and type, as far as its system's paths name them.
    public var isTargetItsOwn: Bool { Systems.table[system]?.uploads.isTargetItsOwn(self) ?? false }
}

extension PlacedProblem {
    /// Reads a line of `problems.ndjson`.
    public init?(json bytes: [UInt8]) { self.init(json: bytes, knowing: Systems.table) }
}

extension Quarantined {
    /// Reads a line of `quarantine.ndjson` about a store of the known systems.
    public init?(json bytes: [UInt8]) { self.init(json: bytes, knowing: Systems.table) }
}

extension EventLabeler {
    /// Makes a labeler that knows the vocabularies of the known systems.
    public init() { self.init(Systems.table) }
}

extension UploadRoute {
    /// Classifies a request to a server of the known systems.
    public init(method: String?, url: String) throws(BodyError) {
        try self.init(method: method, url: url, Systems.table)
    }
}

extension Target {
    /// Whether it is in the grammar of a known system.
    public func isKnown(to system: SystemName) -> Bool { Systems.table.isKnown(self, to: system) }
}

extension QuarantineSpill {
    /// Holds nothing yet, in a folder; what comes is of stores of the known systems.
    public init(folder: String) {
        self.init(folder: folder, knowing: Systems.table)
    }
}

extension RecordLines {
    /// Reads the records of the known systems in a segment.
    public init(_ contents: [UInt8]) {
        self.init(contents, knowing: Systems.table)
    }
}

extension RunSecret {
    /// The secret of all tests. Its numbers are large: hashes with small keys are nearly equal for similar records, so that a
    /// table of them takes quadratic time.
    public static let ofTests = RunSecret(identity: 0x0123_4567_89AB_CDEF, content: 0x1FED_CBA9_8765_4321)
}
