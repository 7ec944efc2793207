import Hashing
import JSONText
import Parallel
import Telemetry

/// Puts a bundle together from records in their order: closes segments, compresses them in parallel, keeps the books, and
/// writes the members in the order of the format.
///
/// Source: "Bundle". The result depends on the records, the level and the library's version
/// alone, not on how many jobs there are.
///
/// ```swift
/// var bundle = try BundleAssembler(level: 3, tool: "1.0", limit: JobLimit(jobs: 2))
/// for record in records {
///     var line: [UInt8] = []
///     record.write(to: &line)
///     bundle.add(RecordSummary(record), line: line[...])
/// }
/// try await bundle.writeFinished { file.append(copying: $0) }
/// try await bundle.add(QuarantineSpill(folder: folder, knowing: Systems.table)) { _, _ in
///     nil
/// } to: {
///     file.append(copying: $0)
/// }
/// let manifest = try bundle.finish(problems: DetailSpill(folder: folder), duplicates: 0, inputs: [input]) {
///     file.append(copying: $0)
/// }
/// ```
public struct BundleAssembler: ~Copyable {
    private let tool: String
    private let encoders: SparePool<EncoderBox, any Error>
    /// One spare suffices: a segment is mostly compressed before the next one is full.
    private let segments = SparePool<SegmentBox, Never>(keeping: 1) { SegmentBox() }
    private let limit: JobLimit
    private var container = ContainerWriter()
    private var pending: OrderedTasks<PendingMember>
    /// The segment that is being filled; nil before its first record.
    private var segment: SegmentBox?
    private var segmentRecords = 0
    private var closedSegments = 0
    /// The segments that have been written.
    private var writtenSegments: [Manifest.Segment] = []
    private var clients = ClientSummaries()
    /// What has been added so far.
    public private(set) var totals = BundleTotals()

    /// The marker or a segment, compressed.
    ///
    /// It is not private because code of other modules that destroys an assembler refers to it.
    struct PendingMember: Sendable {
        let member: EncodedMember
        /// The number of records in a segment, or `nil` for the marker.
        let records: Int?
    }

    /// What takes the bytes of the file, in order. Each call that writes is given the same one.
    public typealias Sink = (Span<UInt8>) throws -> Void

    /// Begins a bundle. Nothing is written yet.
    /// - Throws: ``ContainerWriteError`` for a level that is not from 1 to 19.
    public init(level: Int, tool: String, limit: JobLimit) throws {
        self.tool = tool
        self.limit = limit
        encoders = SparePool { EncoderBox(try FrameEncoder(level: level)) }
        pending = OrderedTasks(limit: limit)
        let marker = try Self.encode(BundleLayout.marker, BundleLayout.markerContents, encoders)
        pending.add { PendingMember(member: marker, records: nil) }
    }

    /// Adds a record.
    /// - Parameter line: its canonical line with the line feed.
    ///
    /// Segments pile up until ``writeFinished(to:)`` is called, which is to be done every few of them.
    public mutating func add(_ record: borrowing RecordSummary, line: ArraySlice<UInt8>) {
        if let segment, segment.lines.count + line.count > BundleLayout.segmentSize { closeSegment(segment) }
        let segment = segment ?? segments.take()
        self.segment = segment
        segment.lines.append(line)
        segmentRecords += 1
        totals.count(record)
        clients.count(record)
    }

    /// Adds what could not be understood, after all records. Bytes that stand in several places are written once.
    ///
    /// - Parameters:
    ///   - quarantine: what to list, in order; the bytes of those that are to be carried along are written too.
    ///   - contents: Returns the bytes of an entry from the input of a number, or `nil` if they are no longer what they were. An
    ///     error that it throws does not end the call: `lose` is called with its description.
    ///   - lose: is told of each entry whose bytes are not carried along although they were to be, and why.
    /// - Throws: what `sink` and `lose` throw, ``ContainerWriteError``.
    public mutating func add(
        _ quarantine: QuarantineSpill, within limits: QuarantineLimits = QuarantineLimits(),
        contents: (_ input: Int, _ item: Quarantined) throws -> [UInt8]?,
        lose: (Quarantined, QuarantineLoss) throws -> Void = { _, _ in }, to sink: Sink
    ) async throws {
        if let segment { closeSegment(segment) }
        while pending.count > 0 { try await writeNext(to: sink) }
        var verdicts = limits.verdicts(on: quarantine.stored)
        let failures = try write(quarantine, &verdicts, contents: contents, to: sink)
        try writeDetails(BundleLayout.quarantine, to: sink) { add in
            var next = 0
            try quarantine.forEach { line, stored in
                guard var item = stored else { return try add(line) }
                var loss: QuarantineLoss? = .unreadable("cannot read quarantined bytes: their SHA-256 is malformed")
                if ContentHash(hex: item.sha256) != nil {
                    switch verdicts[next] {
                    case .carried: loss = failures[next]
                    case .tooLarge: loss = .tooLarge
                    case .tooMany: loss = .tooMany(limits.countLimit)
                    }
                    next += 1
                }
                guard let reason = loss else { return try add(line) }
                item.isStored = false
                try lose(item, reason)
                try add(item.json.bytes[...])
            }
        }
    }

    /// Writes the bytes of the quarantine by their hashes: of entries with equal bytes, those of the first that can be had.
    /// - Parameter verdicts: The verdict on each entry. Entries whose bytes are written become `carried`.
    /// - Returns: Why the bytes of entries that were to be carried along are missing, by the indices of the entries.
    private mutating func write(
        _ quarantine: QuarantineSpill, _ verdicts: inout [QuarantineLimits.Verdict],
        contents: (_ input: Int, _ item: Quarantined) throws -> [UInt8]?, to sink: Sink
    ) throws -> [Int: QuarantineLoss] {
        let stored = quarantine.stored
        var failures: [Int: QuarantineLoss] = [:]
        var byHash = stored.indices.sorted { left, right in
            (stored[left].sha256, left) < (stored[right].sha256, right)
        }[...]
        while let first = byHash.first {
            let hash = stored[first].sha256
            let equals = byHash.prefix { stored[$0].sha256 == hash }
            byHash = byHash.dropFirst(equals.count)
            for index in equals where verdicts[index] == .carried {
                failures[index] = .changed
                guard let (item, input) = try quarantine.entry(of: stored[index]) else { continue }
                let found: [UInt8]?
                do {
                    found = try contents(input, item)
                } catch {
                    failures[index] = .unreadable("\(error)")
                    continue
                }
                guard let bytes = found else { continue }
                try append(BundleLayout.quarantined(item.sha256), bytes, to: sink)
                for index in equals {
                    verdicts[index] = .carried
                    failures[index] = nil
                }
                break
            }
        }
        return failures
    }

    /// Ends the bundle, after its quarantine.
    ///
    /// - Parameters:
    ///   - pseudonymized: the id of the key that the pseudonyms of all records were made with; nil if some have none, or if
    ///     there is quarantine or a problem.
    ///   - inputs: what the bundle is made of, in the order given; of a bundle with pseudonyms their kinds alone are told. Nil
    ///     makes a bundle that does not tell, as programs did that knew no inputs.
    /// - Returns: the manifest as written.
    /// - Throws: what `sink` throws, ``ContainerWriteError``.
    public mutating func finish(
        problems: DetailSpill, duplicates: Int, pseudonymized: String? = nil, inputs: [GivenInput]? = nil,
        to sink: Sink
    ) throws -> Manifest {
        try writeDetails(BundleLayout.problems, to: sink) { add in try problems.forEach { line, _ in try add(line) } }
        let clients = clients
        try writeDetails(BundleLayout.clients, to: sink) { add in
            for client in clients.sorted { try add(client.json.bytes[...]) }
        }
        let told = pseudonymized == nil ? inputs : inputs?.map(\.anonymized)
        let manifest = manifest(duplicates: duplicates, pseudonymized: pseudonymized, told.map { GivenInputs($0) })
        try append(BundleLayout.manifest, manifest.bytes, to: sink)
        let end = try encoders.withSpare { try $0.encoder.end() }
        try container.finish(end: end, to: sink)
        return manifest
    }

    /// Writes the members of a list.
    /// - Parameter lines: gives the lines, without line feeds, to the function that it is given.
    private mutating func writeDetails(
        _ list: String, to sink: Sink, _ lines: ((ArraySlice<UInt8>) throws -> Void) throws -> Void
    ) throws {
        var members = DetailMemberBuilder(list)
        // A closure that is a parameter must not be used in a closure that is given to another one, unless it is so wrapped.
        try withoutActuallyEscaping(sink) { sink in
            try lines { line in
                guard let closed = members.add(line) else { return }
                try append(closed.name, closed.contents, to: sink)
            }
        }
        let last = members.current
        try append(last.name, last.contents, to: sink)
    }

    /// Writes segments until no more wait than one for each job but one, for another is being filled: enough to keep the jobs
    /// busy, and memory small.
    /// - Throws: what `sink` throws, ``ContainerWriteError``.
    public mutating func writeFinished(to sink: Sink) async throws {
        while pending.count > max(1, limit.jobs - 1) { try await writeNext(to: sink) }
    }

    private mutating func closeSegment(_ full: SegmentBox) {
        closedSegments += 1
        let name = BundleLayout.segment(closedSegments)
        let records = segmentRecords
        segment = nil
        segmentRecords = 0
        pending.add { [encoders, segments] in
            try BundleLayout.check(full.lines.count, of: name)
            let member = try encoders.withSpare { try $0.encoder.member(named: name, ofLines: &full.lines) }
            if full.empty() { segments.giveBack(full) }
            return PendingMember(member: member, records: records)
        }
    }

    /// Writes the marker or a segment, whichever was begun first and is not written yet.
    private mutating func writeNext(to sink: Sink) async throws {
        guard let next = try await pending.next() else { return }
        let member = next.member
        try container.append(member, to: sink)
        guard let records = next.records else { return }
        writtenSegments.append(
            Manifest.Segment(path: member.name, records: records, bytes: member.size, sha256: member.sha256))
    }

    private mutating func append(_ name: String, _ contents: [UInt8], to sink: Sink) throws {
        try container.append(Self.encode(name, contents, encoders), to: sink)
    }

    /// Compresses a member, unless no reader would take it.
    private static func encode(
        _ name: String, _ contents: [UInt8], _ encoders: SparePool<EncoderBox, any Error>
    ) throws -> EncodedMember {
        try BundleLayout.check(contents.count, of: name)
        return try encoders.withSpare { try $0.encoder.member(named: name, contents: contents.span) }
    }

    private func manifest(duplicates: Int, pseudonymized: String?, _ inputs: GivenInputs?) -> Manifest {
        let members = container.members.map { Manifest.Member(path: $0.name, bytes: $0.size, sha256: $0.sha256) }
        return Manifest(
            tool: tool,
            segments: writtenSegments,
            members: members.filter { !BundleLayout.isSegment($0.path) },
            totals: totals, duplicates: duplicates, pseudonymized: pseudonymized, inputs: inputs,
            hasSplitSegments: container.hasSplitMembers,
            digest: Manifest.digest(of: members))
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

// Sendable although its lines can be changed: it is filled by one thread, then compressed by another, then spare.
/// The lines of a segment, in memory that is used for one segment after another: fresh memory costs as much as a copy.
private final class SegmentBox: @unchecked Sendable {
    var lines = MemberBuffer(capacity: BundleLayout.segmentSize)

    /// Forgets the lines.
    /// - Returns: whether the memory is worth keeping: not if a single record made it large.
    func empty() -> Bool {
        lines.removeAll()
        return lines.capacity <= 2 * BundleLayout.segmentSize
    }
}

extension BundleLayout {
    /// Refuses a member that no reader would take.
    fileprivate static func check(_ size: Int, of name: String) throws(ContainerWriteError) {
        guard size <= memberLimit else { throw .overLimit(name: name, memberLimit) }
    }
}
