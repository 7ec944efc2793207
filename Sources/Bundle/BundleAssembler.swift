import JSONText
import Parallel
import Telemetry

/// Puts a bundle together from records in their order: closes segments, compresses them in parallel, keeps the books, and
/// writes the members in the order of the format.
///
/// Source: design of the project, section 3. The result depends on the records, the level and the library's version
/// alone, not on how many jobs there are.
public struct BundleAssembler: ~Copyable {
    private let tool: String
    private let encoders: SparePool<EncoderBox>
    private let limit: JobLimit
    private let write: (Span<UInt8>) throws -> Void
    private var container = ContainerWriter()
    private var pending: OrderedTasks<EncodedMember>
    private var segment: [UInt8] = []
    private var segmentRecords = 0
    private var recordCounts: [Int] = []
    private var clients = ClientSummaries()
    /// What has been added so far.
    public private(set) var totals = BundleTotals()

    /// Begins a bundle.
    ///
    /// - Parameters:
    ///   - level: the zstd level, 1…19.
    ///   - tool: the version of the program.
    ///   - limit: how many segments are compressed at once.
    ///   - write: takes the bytes of the file in order.
    /// - Throws: ``ContainerWriteError`` for a level out of range, and what `write` throws.
    public init(
        level: Int, tool: String, limit: JobLimit, write: @escaping (Span<UInt8>) throws -> Void
    ) throws {
        self.tool = tool
        self.limit = limit
        self.write = write
        encoders = SparePool { EncoderBox(try FrameEncoder(level: level)) }
        pending = OrderedTasks(limit: limit)
        try append(BundleLayout.marker, BundleLayout.markerContents)
    }

    /// Adds a record.
    /// - Parameter line: its canonical line with the line feed.
    ///
    /// Segments pile up until ``writeFinished()`` is called, which is to be done every few of them.
    public mutating func add(_ record: borrowing RecordSummary, line: ArraySlice<UInt8>) {
        if !segment.isEmpty, segment.count + line.count > BundleLayout.segmentSize { closeSegment() }
        segment += line
        segmentRecords += 1
        totals.count(record)
        clients.count(record)
    }

    /// Adds what could not be understood, after all records. Bytes that stand in several places are written once.
    ///
    /// - Parameters:
    ///   - entries: what to list, in order; the bytes of those that are stored are written too.
    ///   - contents: gives the bytes of the entry at an index; nil if they cannot be had any more.
    /// - Returns: the entries whose bytes could not be had; they are listed as not stored.
    /// - Throws: what writing throws.
    public mutating func add(quarantined entries: [Quarantined], contents: (Int) -> [UInt8]?) async throws
        -> [Quarantined]
    {
        if !segment.isEmpty { closeSegment() }
        while pending.count > 0 { try await writeNextSegment() }
        var written: Set<String> = []
        let byHash = entries.indices.filter { entries[$0].isStored }.sorted { left, right in
            (entries[left].sha256, left) < (entries[right].sha256, right)
        }
        for index in byHash where !written.contains(entries[index].sha256) {
            guard let bytes = contents(index) else { continue }
            try append(BundleLayout.quarantined(entries[index].sha256), bytes)
            written.insert(entries[index].sha256)
        }
        let listed = entries.map { entry in
            var entry = entry
            entry.isStored = entry.isStored && written.contains(entry.sha256)
            return entry
        }
        try append(BundleLayout.quarantine, Self.lines(listed.map(\.json)))
        return entries.filter { $0.isStored && !written.contains($0.sha256) }
    }

    /// Ends the bundle, after its quarantine.
    ///
    /// - Parameters:
    ///   - problems: what the operator should know.
    ///   - duplicates: how many records were left out as duplicates.
    /// - Returns: the manifest as written.
    /// - Throws: what writing throws.
    public mutating func finish(problems: [PlacedProblem], duplicates: Int) throws -> Manifest {
        try append(BundleLayout.problems, Self.lines(problems.map(\.json)))
        try append(BundleLayout.clients, Self.lines(clients.sorted.map(\.json)))
        let manifest = manifest(duplicates: duplicates)
        try append(BundleLayout.manifest, manifest.bytes)
        let end = try encoders.withSpare { try $0.encoder.end() }
        try container.finish(end: end, to: write)
        return manifest
    }

    /// Writes segments until no more than two wait for each job: enough to keep the jobs busy, and memory small.
    /// - Throws: what writing throws.
    public mutating func writeFinished() async throws {
        while pending.count > 2 * limit.jobs { try await writeNextSegment() }
    }

    private mutating func closeSegment() {
        let contents = segment
        let name = BundleLayout.segment(recordCounts.count + 1)
        segment = []
        segment.reserveCapacity(BundleLayout.segmentSize)
        recordCounts.append(segmentRecords)
        segmentRecords = 0
        pending.add { [encoders] in
            try encoders.withSpare { try $0.encoder.member(named: name, contents: contents.span) }
        }
    }

    private mutating func writeNextSegment() async throws {
        guard let member = try await pending.next() else { return }
        try container.append(member, to: write)
    }

    private mutating func append(_ name: String, _ contents: [UInt8]) throws {
        let member = try encoders.withSpare { try $0.encoder.member(named: name, contents: contents.span) }
        try container.append(member, to: write)
    }

    private func manifest(duplicates: Int) -> Manifest {
        let members = container.members.map { (path: $0.name, bytes: $0.size, sha256: $0.sha256.hex) }
        let segments = members.filter { BundleLayout.isSegment($0.path) }
        return Manifest(
            tool: tool,
            segments: zip(segments, recordCounts).map { segment, records in
                Manifest.Segment(
                    path: segment.path, records: records, bytes: segment.bytes, sha256: segment.sha256)
            },
            members: members.filter { !BundleLayout.isSegment($0.path) }.map {
                Manifest.Member(path: $0.path, bytes: $0.bytes, sha256: $0.sha256)
            },
            totals: totals, duplicates: duplicates,
            digest: Manifest.digest(of: members.map { ($0.path, $0.sha256) }))
    }

    private static func lines(_ objects: [CanonicalObject]) -> [UInt8] {
        var lines: [UInt8] = []
        for object in objects {
            lines += object.bytes
            lines.append(UInt8(ascii: "\n"))
        }
        return lines
    }
}

// Sendable although its encoder can be changed: a pool lends a box to one piece of work at a time.
/// A place for an encoder that is lent out.
private final class EncoderBox: @unchecked Sendable {
    var encoder: FrameEncoder

    init(_ encoder: consuming FrameEncoder) {
        self.encoder = encoder
    }
}
