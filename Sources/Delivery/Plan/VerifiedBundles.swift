import Bundle
import Bytes
import Dispatch
import Files
import JSONText
import Synchronization
import Telemetry

/// The bundles of a job, all of which are verified before anything is sent.
public struct VerifiedBundles: Sendable {
    /// The records of all bundles.
    public let pool: CandidatePool
    /// The source from which the payloads of uploads are read.
    public let source: UploadSource
    /// The readers of the bundles that can be used.
    let readers: [BundleReader]
    /// Whether at least one bundle can be used.
    public var hasUsableBundle: Bool { !readers.isEmpty }
    /// The parents of bundles that are not among the bundles.
    ///
    /// They can have been delivered by earlier jobs.
    public var missingParents: [BundleChain.Fault] {
        var chain = BundleChain()
        for reader in readers { chain.append(reader.manifest, named: reader.path) }
        return chain.missingParents
    }
    /// The bundles that were skipped because they are damaged, unfinished or without a required signature.
    public let unusableBundles: [UnusableBundleError]

    /// Opens and verifies the bundles at `paths`.
    ///
    /// Bundles that cannot be used are skipped if `keepsGoing` is `true`, and cause an ``UnusableBundlesError`` if not.
    public init(
        _ paths: [String], knowing systems: SystemTable, signedBy signers: AllowedSigners? = nil, limit: JobLimit,
        keepsGoing: Bool = false, isReleased: @escaping @Sendable (_ id: String, _ code: String) -> Bool,
        progress: (Int) -> Void = { _ in }
    ) async throws {
        var pool = CandidatePool(knowing: systems)
        var readers: [BundleReader] = []
        var unusableBundles: [UnusableBundleError] = []
        for path in paths {
            let checkpoint = pool.checkpoint
            do {
                let file = try BundleFile(path: path)
                let reader = try BundleReader(file, knowing: systems, signedBy: signers)
                pool.addBundle(BundleName(path: path, digest: reader.manifest.digest))
                // The counts are not verified yet. Compressed records usually have more than 16 bytes.
                let count = reader.manifest.segments.reduce(0) { $0 + $1.records }
                pool.reserveCapacity(min(count, file.source.count / 16))
                try await Self.verify(
                    reader, number: readers.count, limit: limit, isReleased: isReleased, into: &pool, progress)
                readers.append(reader)
            } catch let error as BundleError {
                unusableBundles.append(UnusableBundleError(path: path, error: error))
                // Some records of the bundle may have been added before the damage was found.
                pool.removeAll(after: checkpoint)
            }
        }
        guard unusableBundles.isEmpty || keepsGoing else { throw UnusableBundlesError(bundles: unusableBundles) }
        pool.setBundleOrder(Self.sendingOrder(of: readers.map(\.manifest)))
        self.pool = pool
        self.unusableBundles = unusableBundles
        self.readers = readers
        source = UploadSource(readers)
    }

    /// Returns the indices of `manifests` in the order in which records with equal times are sent.
    ///
    /// Records are sent after those of the bundles that their bundle continues. Apart from that, the order is that of the
    /// digests, so that it does not depend on the order of the arguments.
    private static func sendingOrder(of manifests: [Manifest]) -> [Int] {
        let byDigest = manifests.indices.sorted {
            CapturedText(manifests[$0].digest) < CapturedText(manifests[$1].digest)
        }
        return BundleChain.readingOrder(of: manifests, preferring: byDigest)
    }

    private static func verify(
        _ reader: BundleReader, number: Int, limit: JobLimit,
        isReleased: @escaping @Sendable (_ id: String, _ code: String) -> Bool, into pool: inout CandidatePool,
        _ progress: (Int) -> Void
    ) async throws {
        let systems = reader.systems
        let verifier = BundleVerifier(reader, limit: limit)
        try await pool.withClients { clients, pool in
            try await verifier.verify(
                numbering: &clients, noting: { CandidateNotes(knowing: systems, isReleased: isReleased) },
                each: { record, key, range, notes in notes.add(record, key, range) },
                take: { segment, notes, numbers in
                    pool.add(notes, clients: numbers, bundle: number, segment: segment)
                }, progress: progress)
        }
        var withdrawals = DetailCursor<Withdrawal>(BundleLayout.withdrawals, of: reader)
        while let withdrawal = try withdrawals.next() { pool.add(withdrawal) }
    }
}

/// The error for a bundle that cannot be used.
public struct UnusableBundleError: Error {
    /// The path of the bundle, as the operator specified it.
    public let path: String
    /// The reason why the bundle cannot be used.
    public let error: BundleError
}

/// An error that lists the bundles that cannot be used, in the order in which they were given.
public struct UnusableBundlesError: Error {
    /// The errors of the bundles, never empty.
    public let bundles: [UnusableBundleError]
}

/// A source that reads the records of uploads from verified bundles.
///
/// A segment is decoded and checked against its hash when one of its records is needed. Decoded segments are cached up
/// to a size limit.
public final class UploadSource: Sendable {
    private let bundles: [BundleReader]
    private let cacheByteLimit: Int
    private let state: Mutex<State>
    /// The queue on which ``loadRecord(of:)`` decodes segments, one at a time so that memory is bounded.
    let loadingQueue = DispatchQueue(label: "segments")

    private struct State {
        var cache: [SegmentKey: CachedSegment] = [:]
        var cachedByteCount = 0
        var useCount = 0
        var document = JSONDocument()
        var recordMemory = RecordMemory()
    }

    private struct SegmentKey: Hashable {
        let bundleIndex: UInt32
        let segmentIndex: UInt32

        init(_ location: RecordLocation) {
            (bundleIndex, segmentIndex) = (location.bundleIndex, location.segmentIndex)
        }
    }

    private struct CachedSegment {
        let contents: [UInt8]
        var lastUse: Int
    }

    /// Creates a source that reads from verified bundles.
    ///
    /// Record locations contain indices into `bundles`.
    public init(_ bundles: [BundleReader], cacheByteLimit: Int = 16 << 20) {
        self.bundles = bundles
        self.cacheByteLimit = cacheByteLimit
        state = Mutex(State())
    }

    /// Returns the record or part of a record that an upload sends, with the exact payload to send.
    public func record(of send: PlannedUpload) throws(UnusableBundleError) -> Record {
        try record(at: send.record.location, of: send, in: try contents(at: send.record.location))
    }

    /// Returns the same as ``record(of:)``, without blocking the caller while a segment is decoded.
    ///
    /// The method is for tasks that run on the thread that transfers data, because all transfers wait for that thread.
    func loadRecord(of send: PlannedUpload) async throws(UnusableBundleError) -> Record {
        let location = send.record.location
        if let contents = cachedContents(at: location) { return try record(at: location, of: send, in: contents) }
        let result = await withCheckedContinuation { continuation in
            loadingQueue.async {
                continuation.resume(
                    returning: Result { () throws(UnusableBundleError) in try self.record(of: send) })
            }
        }
        return try result.get()
    }

    /// Returns the record at `location`.
    public func record(at location: RecordLocation) throws(UnusableBundleError) -> Record {
        try record(at: location, of: nil, in: try contents(at: location))
    }

    /// Returns the record at `location`, or the part of it that `send` contains.
    private func record(
        at location: RecordLocation, of send: PlannedUpload?, in contents: [UInt8]
    ) throws(UnusableBundleError) -> Record {
        let bundle = bundles[Int(location.bundleIndex)]
        let line = Int(location.lineStart)..<Int(location.lineStart) + Int(location.lineLength)
        let record = state.withLock { state -> Record? in
            guard line.upperBound <= contents.count,
                var record = try? Record(
                    againAt: line, of: contents, using: &state.recordMemory, knowing: bundle.systems)
            else { return nil }
            guard let send else { return record }
            guard RecordKey(record) == send.record.key else { return nil }
            guard !send.isWhole else { return record }
            let format = bundle.systems[record.system]?.uploads.list
            guard let list = ListItems(record, format, using: &state.document) else { return nil }
            record.payload = list.payload(with: send.items.map(\.index), of: record.payload)
            return record
        }
        if let record { return record }
        let member = BundleLayout.segmentName(Int(location.segmentIndex) + 1)
        throw UnusableBundleError(path: bundle.path, error: .changed(member: member))
    }
}

extension UploadSource {
    /// Returns the contents of the segment at `location`.
    private func contents(at location: RecordLocation) throws(UnusableBundleError) -> [UInt8] {
        if let contents = cachedContents(at: location) { return contents }
        let bundle = bundles[Int(location.bundleIndex)]
        // The state is not locked meanwhile, so that the records of cached segments can be read.
        let contents: [UInt8]
        do throws(BundleError) {
            var decoder = FrameDecoder()
            contents = try bundle.contents(
                of: bundle.manifest.segments[Int(location.segmentIndex)].path, with: &decoder)
        } catch {
            throw UnusableBundleError(path: bundle.path, error: error)
        }
        state.withLock { cache(contents, at: location, &$0) }
        return contents
    }

    private func cachedContents(at location: RecordLocation) -> [UInt8]? {
        state.withLock { state in
            state.useCount += 1
            state.cache[SegmentKey(location)]?.lastUse = state.useCount
            return state.cache[SegmentKey(location)]?.contents
        }
    }

    private func cache(_ contents: [UInt8], at location: RecordLocation, _ state: inout State) {
        // Another thread may have decoded the segment, too.
        guard state.cache[SegmentKey(location)] == nil else { return }
        while state.cachedByteCount + contents.count > cacheByteLimit,
            let oldest = state.cache.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            state.cachedByteCount -= oldest.value.contents.count
            state.cache[oldest.key] = nil
        }
        state.cache[SegmentKey(location)] = CachedSegment(contents: contents, lastUse: state.useCount)
        state.cachedByteCount += contents.count
    }
}
