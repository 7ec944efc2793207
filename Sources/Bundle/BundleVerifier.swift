import Bytes
import Files
import JSONText
import Telemetry

/// A verifier that checks the checksums, hashes, counts and records of a bundle, and that no record occurs twice.
public struct BundleVerifier {
    private let reader: BundleReader
    private let limit: JobLimit

    /// Creates a verifier without reading the bundle.
    public init(_ reader: BundleReader, limit: JobLimit) {
        self.reader = reader
        self.limit = limit
    }

    /// The total number of bytes that `verify` reports to `progress`.
    public var byteCount: Int {
        reader.manifest.segments.reduce(0) { $0 + $1.bytes } + quarantineMembers.reduce(0) { $0 + $1.bytes }
    }

    private var quarantineMembers: [Manifest.Member] {
        reader.manifest.otherMembers.filter { $0.path.hasPrefix(BundleLayout.quarantineFolder) }
    }

    /// Verifies the bundle.
    ///
    /// `progress` is called with the size, in bytes, of each verified segment and member with quarantined bytes.
    ///
    /// - Throws: ``BundleError`` for the first invalid member.
    public func verify(progress: (Int) -> Void) async throws {
        var clients = ClientIndex()
        try await verify(
            numbering: &clients, noting: { () }, each: { _, _, _, _ in }, take: { (_, _: Void, _) in },
            progress: progress)
    }

    /// Verifies the bundle and collects information about its records at the same time.
    ///
    /// `notes` creates empty notes for a segment. `each` adds a record with its key to the notes of its segment. The
    /// range that `each` receives is the range of the record's line in the segment, including the line feed. `take` is
    /// called for each segment in order, with the index of the segment, its notes, and the number in `clients` of the
    /// client of each record. New clients are added to `clients`. Do not use the notes before this method returns,
    /// because a later segment can be invalid.
    public func verify<Notes: Sendable>(
        numbering clients: inout ClientIndex, noting notes: @escaping @Sendable () -> Notes,
        each: @escaping @Sendable (borrowing Record, RecordKey, Range<Int>, inout Notes) -> Void,
        take: (Int, Notes, [UInt32]) throws -> Void, progress: (Int) -> Void
    ) async throws {
        // The parameter is emptied, because a second reference to the clients would cause a copy.
        var summaries = ClientSummaries(addingTo: exchange(&clients, with: ClientIndex()))
        defer { clients = summaries.clients }
        try await verifySegments(notes, each, take, counting: &summaries, progress: progress)
        try verifyQuarantine(progress: progress)
    }

    // MARK: Segments

    /// The counts and the notes of the records of a segment.
    private struct Segment<Notes: Sendable>: Sendable {
        var totals = BundleTotals()
        var records: [(summary: RecordSummary, key: RecordKey)] = []
        var notes: Notes
        /// The number, starting at 1, of the first line without the pseudonyms that the manifest requires, or `nil` if
        /// there is none.
        var lineWithoutPseudonyms: Int?
        /// The ids of the pseudonym keys of the records, with `nil` for records without pseudonyms.
        var keyIDs: Set<CapturedText?> = []
    }

    private func verifySegments<Notes: Sendable>(
        _ notes: @escaping @Sendable () -> Notes,
        _ each: @escaping @Sendable (borrowing Record, RecordKey, Range<Int>, inout Notes) -> Void,
        _ take: (Int, Notes, [UInt32]) throws -> Void, counting clients: inout ClientSummaries, progress: (Int) -> Void
    ) async throws {
        var tasks = OrderedTasks<(Segment<Notes>, Int)>(limit: limit)
        var totals = BundleTotals()
        var keyIDs: Set<CapturedText?> = []
        var index = DuplicateIndex()
        index.reserveCapacity(reader.manifest.totals.records)
        var remainingSegments = reader.manifest.segments[...]
        var number = 0
        // Segments are usually of the same size. The limit matters if some of them consist of one large record.
        let byteLimit = 2 * limit.jobs * BundleLayout.maxSegmentSize
        var unfinishedByteCount = 0
        while true {
            while tasks.count < 2 * limit.jobs, let next = remainingSegments.first,
                tasks.count == 0 || unfinishedByteCount + next.bytes <= byteLimit
            {
                remainingSegments.removeFirst()
                unfinishedByteCount += next.bytes
                let reader = reader
                tasks.add { (try Self.read(next, of: reader, Segment(notes: notes()), each), next.bytes) }
            }
            guard let (segment, bytes) = try await tasks.next() else { break }
            number += 1
            unfinishedByteCount -= bytes
            totals.add(segment.totals)
            keyIDs.formUnion(segment.keyIDs)
            var numbers: [UInt32] = []
            numbers.reserveCapacity(segment.records.count)
            for (line, record) in segment.records.enumerated() {
                numbers.append(UInt32(clients.count(record.summary)))
                guard index.insert(record.key) == .duplicate else { continue }
                throw BundleError.badRecord(
                    member: BundleLayout.segmentName(number), line: line + 1, reason: "the record occurs twice")
            }
            try take(number - 1, segment.notes, numbers)
            progress(bytes)
        }
        guard totals == reader.manifest.totals else { throw BundleError.countMismatch("a total") }
        let keyID = reader.manifest.otherMembers.containDetails ? nil : keyIDs.commonPseudonymKeyID
        guard keyID == nil || reader.manifest.pseudonymKeyID != nil else {
            throw BundleError.badManifest("it lacks the id of the pseudonym key of its records")
        }
        try await verifyClients(clients)
    }

    private static func read<Notes: Sendable>(
        _ segment: Manifest.Segment, of reader: BundleReader, _ empty: Segment<Notes>,
        _ each: (borrowing Record, RecordKey, Range<Int>, inout Notes) -> Void
    ) throws -> Segment<Notes> {
        var found = empty
        let keyID = reader.manifest.pseudonymKeyID
        _ = try reader.forEachRecord(of: segment) { record, range, _ in
            let summary = RecordSummary(record)
            if let keyID, found.lineWithoutPseudonyms == nil, summary.pseudonymKeyID != keyID {
                found.lineWithoutPseudonyms = found.records.count + 1
            }
            found.keyIDs.insert(summary.pseudonymKeyID.map { CapturedText($0) })
            found.totals.count(summary)
            let key = RecordKey(record)
            found.records.append((summary, key))
            each(record, key, range, &found.notes)
        }
        if let line = found.lineWithoutPseudonyms {
            throw BundleError.badRecord(
                member: segment.path, line: line, reason: "it lacks the pseudonyms that the manifest requires")
        }
        return found
    }

    // MARK: Quarantine and details

    private func verifyClients(_ clients: ClientSummaries) async throws {
        let numbers = clients.sortedNumbers
        var listed = DetailCursor<ClientSummary>(BundleLayout.clients, of: reader)
        var tasks = OrderedTasks<[[UInt8]]>(limit: limit)
        var groups = stride(from: 0, to: numbers.count, by: 1000).makeIterator()
        while true {
            while !tasks.isFull, let start = groups.next() {
                let group = numbers[start...].prefix(1000)
                tasks.add { group.map { clients.summary(ofClient: $0).json.bytes } }
            }
            guard let lines = try await tasks.next() else { break }
            for line in lines where try !listed.isNext(line) { throw BundleError.countMismatch(BundleLayout.clients) }
        }
        guard try listed.next() == nil else { throw BundleError.countMismatch(BundleLayout.clients) }
    }

    private func verifyQuarantine(progress: (Int) -> Void) throws(BundleError) {
        // A pseudonymized bundle must not contain quarantined input and problems, because they contain parts of the
        // input.
        guard reader.manifest.pseudonymKeyID == nil || !reader.manifest.otherMembers.containDetails else {
            throw .countMismatch("the ID of the pseudonym key")
        }
        let present = quarantineMembers
        let sizes = Dictionary(uniqueKeysWithValues: present.map { (CapturedText($0.path), $0.bytes) })
        var unlisted = Set(sizes.keys)
        var listed = DetailCursor<QuarantineEntry>(BundleLayout.quarantine, of: reader)
        while let entry = try listed.next() {
            guard entry.isStored else { continue }
            let name = CapturedText(BundleLayout.quarantineMemberName(sha256: entry.sha256))
            guard sizes[name] == entry.size else { throw .countMismatch("the list of quarantined input") }
            unlisted.remove(name)
        }
        guard unlisted.isEmpty else { throw .countMismatch("the list of quarantined input") }
        var problems = DetailCursor<LocatedProblem>(BundleLayout.problems, of: reader)
        while try problems.next() != nil {}
        var withdrawals = DetailCursor<Withdrawal>(BundleLayout.withdrawals, of: reader)
        var last: [UInt8] = []
        while let line = try withdrawals.next()?.json.bytes {
            guard last.lexicographicallyPrecedes(line) else { throw .countMismatch(BundleLayout.withdrawals) }
            last = line
        }
        var decoder = FrameDecoder()
        for member in present {
            try reader.verifyContents(of: member.path, with: &decoder)
            progress(member.bytes)
        }
    }
}

extension Set<CapturedText?> {
    /// The only element, which is the id of the pseudonym key of all records, or `nil` if they have no common key.
    var commonPseudonymKeyID: CapturedText? { count == 1 ? first ?? nil : nil }
}

extension [Manifest.Member] {
    /// Whether there are quarantine entries, problems or withdrawals, none of which can have pseudonyms.
    var containDetails: Bool {
        contains { member in
            let list = BundleLayout.listName(ofMember: member.path)
            return member.bytes > 0
                && [BundleLayout.quarantine, BundleLayout.problems, BundleLayout.withdrawals].contains(list)
        }
    }
}
