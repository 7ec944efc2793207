import Bytes
import Files
import Hashing
import JSONText
import Telemetry

/// An assembler that creates a bundle from records.
///
/// Segments are compressed in parallel, and members are written in their final order.
///
/// The bytes depend only on the records, the compression level and the version of zstd, not on the number of jobs.
///
/// ```swift
/// var bundle = try BundleAssembler(level: 3, toolVersion: "1.0", limit: JobLimit(jobs: 2))
/// for record in records {
///     var line: [UInt8] = []
///     record.write(to: &line)
///     bundle.add(RecordSummary(record), line: line[...])
/// }
/// try await bundle.writeFinishedSegments { file.append(copying: $0) }
/// try await bundle.add(QuarantineSpill(folder: folder, knowing: Systems.table)) { _, _ in
///     []
/// } to: {
///     file.append(copying: $0)
/// }
/// let manifest = try bundle.finish(problems: DetailSpill(folder: folder), duplicateCount: 0, inputs: [input]) {
///     file.append(copying: $0)
/// }
/// ```
///
/// Source: "Bundle".
public struct BundleAssembler: ~Copyable {
    private let toolVersion: String
    private let encoderPool: ValuePool<EncoderBox, any Error>
    private let limit: JobLimit
    private var container = ContainerWriter()
    private var pendingMembers: OrderedTasks<PendingMember>
    /// The lines of the segment that records are added to.
    private var currentSegment: [UInt8] = []
    private var segmentRecordCount = 0
    private var closedSegmentCount = 0
    private var writtenSegments: [Manifest.Segment] = []
    private var clients = ClientSummaries()
    /// The ids of the pseudonym keys of the records, with `nil` for records without pseudonyms.
    private var keyIDs: Set<CapturedText?> = []
    /// The counts of the added records.
    public private(set) var totals = BundleTotals()

    // Not private, because code in other modules that destroys an assembler refers to it.
    /// A compressed member that is not written yet: the first member of the bundle or a segment.
    struct PendingMember: Sendable {
        let member: EncodedMember
        /// The number of records in the segment, or `nil` for the first member of the bundle.
        let recordCount: Int?
    }

    /// A function that receives the bytes of the bundle in order.
    ///
    /// Pass the same function to all methods of an assembler.
    public typealias Sink = (Span<UInt8>) throws -> Void

    /// Creates an assembler without writing anything.
    ///
    /// - Throws: ``ContainerWriteError`` if `level` is not from 1 to 19, or if zstd cannot compress the first member.
    public init(level: Int, toolVersion: String, limit: JobLimit) throws {
        self.toolVersion = toolVersion
        self.limit = limit
        encoderPool = ValuePool { EncoderBox(try FrameEncoder(level: level)) }
        pendingMembers = OrderedTasks(limit: limit)
        let marker = try Self.encode(BundleLayout.marker, BundleLayout.markerContents, encoderPool)
        pendingMembers.add { PendingMember(member: marker, recordCount: nil) }
    }

    /// Adds a record.
    ///
    /// `line` is the canonical line of the record, including the line feed.
    ///
    /// Call ``writeFinishedSegments(to:)`` after every few records, because full segments stay in memory until then.
    public mutating func add(_ record: borrowing RecordSummary, line: ArraySlice<UInt8>) {
        if currentSegment.count + line.count > BundleLayout.maxSegmentSize { closeSegment() }
        if currentSegment.isEmpty { currentSegment.reserveCapacity(BundleLayout.maxSegmentSize) }
        currentSegment += line
        segmentRecordCount += 1
        totals.count(record)
        clients.count(record)
        keyIDs.insert(record.pseudonymKeyID.map { CapturedText($0) })
    }

    /// Adds the quarantined input.
    ///
    /// Call this method after all records have been added.
    ///
    /// Equal bytes are written once, in the order of their hashes. `contents` returns the bytes of `item` from the input
    /// with the number `input`. If it throws an error other than `FileError` with the operation `spool`, the bytes are
    /// omitted. `onLoss` is called with each entry whose bytes are omitted, and with the problem.
    public mutating func add(
        _ quarantine: QuarantineSpill, contents: (_ input: Int, _ item: QuarantineEntry) throws -> [UInt8],
        onLoss: (QuarantineEntry, Problem) throws -> Void = { _, _ in }, to sink: Sink
    ) async throws {
        closeSegment()
        while pendingMembers.count > 0 { try await writeNextMember(to: sink) }
        var stored = quarantine.storedEntries
        let failures = try write(&stored, of: quarantine, contents: contents, to: sink)
        var members = DetailMemberBuilder(BundleLayout.quarantine)
        var next = 0
        try quarantine.forEach { line, entry in
            guard var item = entry else { return try append(line, to: &members, sink) }
            var loss: Problem? = Problem(
                "unreadable", "cannot read quarantined bytes: their SHA-256 is malformed")
            if ContentHash(hex: item.sha256) != nil {
                switch stored[next].verdict {
                case .stored: loss = failures[next]
                case .tooLarge:
                    loss = Problem("quarantine-limit", "\(item.size) bytes exceed the limit of the quarantine")
                case .tooMany:
                    let limit = quarantine.limits.entryCountLimit
                    loss = Problem(
                        "quarantine-limit",
                        "\(limit) others are in the quarantine, which holds no more; listed only")
                }
                next += 1
            }
            guard let reason = loss else { return try append(line, to: &members, sink) }
            item.isStored = false
            try onLoss(item, reason)
            try append(item.json.bytes[...], to: &members, sink)
        }
        try finish(members, to: sink)
    }

    /// Writes the quarantined bytes in the order of their hashes.
    ///
    /// If several entries have equal bytes, the first readable entry is written, and the verdict on all these entries
    /// becomes `stored`.
    ///
    /// - Returns: The reasons why bytes could not be written, keyed by the index of the entry in `stored`.
    private mutating func write(
        _ stored: inout [QuarantineSpill.StoredEntry], of quarantine: QuarantineSpill,
        contents: (_ input: Int, _ item: QuarantineEntry) throws -> [UInt8], to sink: Sink
    ) throws -> [Int: Problem] {
        var failures: [Int: Problem] = [:]
        var indicesByHash = stored.indices.sorted { left, right in
            (stored[left].sha256, left) < (stored[right].sha256, right)
        }[...]
        while let first = indicesByHash.first {
            let hash = stored[first].sha256
            let equalIndices = indicesByHash.prefix { stored[$0].sha256 == hash }
            indicesByHash = indicesByHash.dropFirst(equalIndices.count)
            for index in equalIndices where stored[index].verdict == .stored {
                guard let (item, input) = try quarantine.entry(of: stored[index]) else { continue }
                let bytes: [UInt8]
                do {
                    bytes = try contents(input, item)
                } catch let error as FileError where error.operation == .spool {
                    throw error
                } catch {
                    failures[index] = Problem("unreadable", "\(error)")
                    continue
                }
                try append(BundleLayout.quarantineMemberName(sha256: item.sha256), bytes, to: sink)
                for index in equalIndices {
                    stored[index].verdict = .stored
                    failures[index] = nil
                }
                break
            }
        }
        return failures
    }

    /// Writes the remaining members and the seek table.
    ///
    /// Call this method after adding the quarantined input.
    ///
    /// If all records have pseudonyms of one key, and if there are no quarantine entries, problems or withdrawals, the
    /// manifest states the id of the key. It then lists only the kinds of the inputs, and no client ids of `filters`,
    /// which are those of the command. `emptyKeyID` is stated if there are no records. `parents`
    /// contains the digests of the bundles that this bundle continues, and `omitted` the counts of the contents that
    /// were omitted because of them.
    public mutating func finish(
        problems: DetailSpill, withdrawals: Set<Withdrawal> = [], duplicateCount: Int, emptyKeyID: String? = nil,
        filters: BundleFilters? = nil, inputs: [BundleInput] = [], parents: [String] = [],
        omitted: Manifest.OmittedCounts = Manifest.OmittedCounts(), to sink: Sink
    ) throws -> Manifest {
        var problemMembers = DetailMemberBuilder(BundleLayout.problems)
        try problems.forEach { line, _ in try append(line, to: &problemMembers, sink) }
        try finish(problemMembers, to: sink)
        var clientMembers = DetailMemberBuilder(BundleLayout.clients)
        for client in clients.sortedNumbers {
            try append(clients.summary(ofClient: client).json.bytes[...], to: &clientMembers, sink)
        }
        try finish(clientMembers, to: sink)
        try append(withdrawals, to: sink)
        let members = container.members.map { Manifest.Member(path: $0.name, bytes: $0.size, sha256: $0.sha256) }
        let keyID = keyIDs.isEmpty ? emptyKeyID : keyIDs.commonPseudonymKeyID?.string
        let pseudonymKeyID = members.containDetails ? nil : keyID
        let listed = pseudonymKeyID == nil ? inputs : inputs.map(\.anonymized)
        let manifest = makeManifest(
            of: members, duplicateCount: duplicateCount, pseudonymKeyID: pseudonymKeyID,
            pseudonymKeyID == nil ? filters : filters?.withoutClientIDs, BundleInputs(listed), parents,
            omitted)
        try append(BundleLayout.manifest, manifest.bytes, to: sink)
        let end = try encoderPool.withPooledValue { try $0.encoder.compressArchiveEnd() }
        try container.finish(end: end, to: sink)
        return manifest
    }

    /// Writes the withdrawals in the order of their lines, or no member if there are none.
    private mutating func append(_ withdrawals: Set<Withdrawal>, to sink: Sink) throws {
        guard !withdrawals.isEmpty else { return }
        var members = DetailMemberBuilder(BundleLayout.withdrawals)
        for line in withdrawals.map(\.json.bytes).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            try append(line[...], to: &members, sink)
        }
        try finish(members, to: sink)
    }

    /// Adds `line` to the list `members`, and writes the previous member of the list if `line` starts a new one.
    private mutating func append(
        _ line: ArraySlice<UInt8>, to members: inout DetailMemberBuilder, _ sink: Sink
    ) throws {
        guard let closed = members.add(line) else { return }
        try append(closed.name, closed.contents, to: sink)
    }

    /// Writes the last member of a list of details.
    private mutating func finish(_ members: DetailMemberBuilder, to sink: Sink) throws {
        let last = members.currentMember
        try append(last.name, last.contents, to: sink)
    }

    /// Writes the oldest pending members until fewer members are pending than there are jobs.
    ///
    /// If there is only one job, one member can remain pending. Pending segments are compressed in the meantime.
    public mutating func writeFinishedSegments(to sink: Sink) async throws {
        while pendingMembers.count > max(1, limit.jobs - 1) { try await writeNextMember(to: sink) }
    }

    private mutating func closeSegment() {
        guard !currentSegment.isEmpty else { return }
        closedSegmentCount += 1
        let name = BundleLayout.segmentName(closedSegmentCount)
        let recordCount = segmentRecordCount
        let lines = currentSegment
        currentSegment = []
        segmentRecordCount = 0
        pendingMembers.add { [encoderPool] in
            PendingMember(member: try Self.encode(name, lines, encoderPool), recordCount: recordCount)
        }
    }

    /// Writes the oldest pending member.
    private mutating func writeNextMember(to sink: Sink) async throws {
        guard let next = try await pendingMembers.next() else { return }
        let member = next.member
        try container.append(member, to: sink)
        guard let recordCount = next.recordCount else { return }
        writtenSegments.append(
            Manifest.Segment(path: member.name, records: recordCount, bytes: member.size, sha256: member.sha256))
    }

    private mutating func append(_ name: String, _ contents: [UInt8], to sink: Sink) throws {
        try container.append(Self.encode(name, contents, encoderPool), to: sink)
    }

    /// Compresses a member after checking that it is not too large for readers.
    private static func encode(
        _ name: String, _ contents: [UInt8], _ encoderPool: ValuePool<EncoderBox, any Error>
    ) throws -> EncodedMember {
        try BundleLayout.checkSize(contents.count, ofMember: name)
        let member = try encoderPool.withPooledValue {
            try $0.encoder.compressMember(named: name, contents: contents.span)
        }
        try BundleLayout.checkExpansion(of: member)
        return member
    }

    private func makeManifest(
        of members: [Manifest.Member], duplicateCount: Int, pseudonymKeyID: String?, _ filters: BundleFilters?,
        _ inputs: BundleInputs, _ parents: [String], _ omitted: Manifest.OmittedCounts
    ) -> Manifest {
        Manifest(
            toolVersion: toolVersion,
            segments: writtenSegments,
            otherMembers: members.filter { !BundleLayout.isSegment($0.path) },
            totals: totals, duplicateCount: duplicateCount, pseudonymKeyID: pseudonymKeyID, filters: filters,
            inputs: inputs, parents: parents, omitted: omitted,
            digest: Manifest.digest(of: members, parents: parents))
    }
}

// Sendable, because only one job at a time uses the encoder.
/// A reference to an encoder, so that a pool can hold it.
private final class EncoderBox: @unchecked Sendable {
    var encoder: FrameEncoder

    init(_ encoder: consuming FrameEncoder) {
        self.encoder = encoder
    }
}

extension BundleLayout {
    /// Throws an error if a member of `size` bytes is too large for readers.
    fileprivate static func checkSize(_ size: Int, ofMember name: String) throws(ContainerWriteError) {
        guard size <= memberSizeLimit else { throw .overLimit(name: name, memberSizeLimit) }
    }

    /// Throws an error if readers would reject a member because it compresses too well.
    fileprivate static func checkExpansion(of member: EncodedMember) throws(ContainerWriteError) {
        let limit = contentLimit(ofMember: member.name, compressedSize: member.frame.bytes.count)
        guard member.size <= limit else { throw .overLimit(name: member.name, limit) }
    }
}
