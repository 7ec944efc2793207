import Bytes
import Files
import Hashing
import Telemetry

/// Entries of the quarantine that wait for their place in a bundle: the lines on disk, and in memory 48 bytes for each
/// whose bytes are to be carried along.
public struct QuarantineSpill: Sendable {
    /// Bytes that are to be carried along.
    struct StoredEntry: Sendable {
        let sha256: ContentHash
        let size: Int
        /// Where the line stands.
        let position: Int
    }

    private var lines: DetailSpill
    private let systems: SystemTable
    private(set) var stored: [StoredEntry] = []

    /// How many entries there are.
    public var count: Int { lines.count }

    /// Creates an empty list. A file is made in `folder` once there is need of one.
    public init(folder: String, knowing systems: SystemTable) {
        self.systems = systems
        lines = DetailSpill(folder: folder)
    }

    /// Adds an entry.
    /// - Parameters:
    ///   - line: the entry as canonical JSON.
    ///   - input: the number of the input that its bytes are read from again.
    /// - Throws: `FileError` with operation `spool`.
    public mutating func append(_ item: Quarantined, line: [UInt8], input: Int) throws(FileError) {
        // What is named by no hash cannot be carried along under its hash.
        let hash = item.isStored ? ContentHash(hex: item.sha256) : nil
        let position = try lines.append(line, tag: input << 1 | (item.isStored ? 1 : 0))
        if let hash { stored.append(StoredEntry(sha256: hash, size: item.size, position: position)) }
    }

    /// The entry at a place, and the number of its input.
    /// - Throws: `FileError` with operation `spool`.
    func entry(of stored: StoredEntry) throws(FileError) -> (item: Quarantined, input: Int)? {
        let (line, tag) = try lines.entry(at: stored.position)
        return Quarantined(json: line, knowing: systems).map { ($0, tag >> 1) }
    }

    /// Gives all lines in order; of an entry whose bytes are to be carried along, the entry too.
    /// - Throws: `FileError` with operation `spool`, and what `body` throws.
    func forEach(_ body: (_ line: ArraySlice<UInt8>, _ stored: Quarantined?) throws -> Void) throws {
        try lines.forEach { line, tag in
            try body(line, tag & 1 == 1 ? Quarantined(json: Array(line), knowing: systems) : nil)
        }
    }
}
