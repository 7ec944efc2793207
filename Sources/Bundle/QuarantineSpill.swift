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
        /// The position of the entry's line in `lines`.
        let position: Int
        /// The decision whether the bytes are stored.
        var verdict: Verdict
    }

    /// The decision whether the bytes of an entry are stored.
    enum Verdict: UInt8, Sendable {
        case stored, tooLarge, tooMany
    }

    private var lines: DetailSpill
    private let systems: SystemTable
    let limits: QuarantineLimits
    private(set) var storedEntries: [StoredEntry] = []
    /// The hashes of the bytes that are stored, because equal bytes are stored and counted only once.
    private var storedHashes: Set<ContentHash> = []
    /// The number of bytes that can still be stored.
    public private(set) var remainingSize: Int

    /// The number of entries.
    public var count: Int { lines.count }

    /// Creates an empty list.
    ///
    /// Bytes beyond `limits` are not stored.
    public init(folder: String, knowing systems: SystemTable, within limits: QuarantineLimits = QuarantineLimits()) {
        self.systems = systems
        self.limits = limits
        remainingSize = limits.totalSizeLimit
        lines = DetailSpill(folder: folder)
    }

    /// Adds an entry.
    ///
    /// `line` is the canonical JSON of `item`. `input` is the number of the input that contains the bytes of `item`.
    public mutating func append(_ item: QuarantineEntry, line: [UInt8], input: Int) throws(FileError) {
        // The hash names the member with the bytes, so bytes with a malformed hash cannot be stored.
        let hash = item.isStored ? ContentHash(hex: item.sha256) : nil
        let position = try lines.append(line, tag: input << 1 | (item.isStored ? 1 : 0))
        guard let hash else { return }
        storedEntries.append(StoredEntry(sha256: hash, position: position, verdict: verdict(hash, size: item.size)))
    }

    private mutating func verdict(_ hash: ContentHash, size: Int) -> Verdict {
        if storedHashes.contains(hash) { return .stored }
        // The size can be negative, because it is read from a bundle without being checked.
        guard (0...limits.entrySizeLimit).contains(size), size <= remainingSize else { return .tooLarge }
        guard storedHashes.count < limits.entryCountLimit else { return .tooMany }
        remainingSize -= size
        storedHashes.insert(hash)
        return .stored
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

// MARK: - Limits

/// The limits on the quarantined bytes that a bundle stores.
///
/// Bytes beyond the limits are not stored. Their entries are listed and reported, and the command exits with status 1.
///
/// Source: "Bundle", "Quarantine".
public struct QuarantineLimits: Sendable {
    /// The maximum size, in bytes, of the quarantined bytes of one entry.
    public var entrySizeLimit: Int
    /// The maximum total size, in bytes, of the stored quarantined bytes.
    public var totalSizeLimit: Int
    /// The maximum number of distinct byte sequences that are stored.
    public var entryCountLimit: Int

    /// Creates limits.
    public init(
        entrySizeLimit: Int = 64 << 20, totalSizeLimit: Int = 1 << 30,
        entryCountLimit: Int = BundleLayout.maxQuarantinedMembers
    ) {
        self.entrySizeLimit = entrySizeLimit
        self.totalSizeLimit = totalSizeLimit
        self.entryCountLimit = entryCountLimit
    }
}
