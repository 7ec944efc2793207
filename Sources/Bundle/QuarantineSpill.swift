import Bytes
import Files
import Hashing
import Telemetry

/// Quarantine entries that are stored until all records of a bundle have been written.
///
/// If there are many entries, they are moved from memory to a file, as in ``DetailSpill``.
public struct QuarantineSpill: Sendable {
    /// An entry whose bytes will be written to the bundle.
    struct StoredEntry: Sendable {
        let sha256: ContentHash
        let size: Int
        /// The position of the entry's line in `lines`.
        let position: Int
    }

    private var lines: DetailSpill
    private let systems: SystemTable
    private(set) var storedEntries: [StoredEntry] = []

    /// The number of entries.
    public var count: Int { lines.count }

    /// Creates an empty list.
    public init(folder: String, knowing systems: SystemTable) {
        self.systems = systems
        lines = DetailSpill(folder: folder)
    }

    /// Adds an entry.
    ///
    /// `line` is the canonical JSON of `item`. `input` is the number of the input that contains the bytes of `item`.
    public mutating func append(_ item: QuarantineEntry, line: [UInt8], input: Int) throws(FileError) {
        // The hash names the member with the bytes, so bytes with a malformed hash cannot be stored.
        let hash = item.isStored ? ContentHash(hex: item.sha256) : nil
        let position = try lines.append(line, tag: input << 1 | (item.isStored ? 1 : 0))
        if let hash { storedEntries.append(StoredEntry(sha256: hash, size: item.size, position: position)) }
    }

    /// Returns an entry and the number of its input, or `nil` if the line of the entry cannot be parsed.
    func entry(of stored: StoredEntry) throws(FileError) -> (item: QuarantineEntry, input: Int)? {
        let (line, tag) = try lines.entry(at: stored.position)
        return QuarantineEntry(json: line, knowing: systems).map { ($0, tag >> 1) }
    }

    /// Calls `body` with each line in order.
    ///
    /// `body` also receives the parsed entry if the entry was added with `isStored` set to `true`.
    func forEach(_ body: (_ line: ArraySlice<UInt8>, _ stored: QuarantineEntry?) throws -> Void) throws {
        try lines.forEach { line, tag in
            try body(line, tag & 1 == 1 ? QuarantineEntry(json: Array(line), knowing: systems) : nil)
        }
    }
}
