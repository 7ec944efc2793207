import Bundle
import Parallel
import Telemetry

/// A bundle that cannot be used, by its name.
public struct UnusableBundleError: Error {
    /// The path as given.
    public let path: String
    /// What is wrong with it.
    public let error: BundleError
}

/// Bundles that cannot be used, in the order in which they were given.
public struct UnusableBundlesError: Error {
    /// At least one.
    public let bundles: [UnusableBundleError]
}

/// Bundles of a job: all verified before anything of one is sent.
public struct BundleIntake: Sendable {
    /// All their records.
    public let pool: CandidatePool
    /// Reads what uploads carry.
    public let source: UploadSource
    /// Those that are left out because they do not verify or are not signed.
    public let unusable: [UnusableBundleError]

    /// Opens and verifies bundles.
    ///
    /// - Parameters:
    ///   - signers: those of whom one has to have signed each bundle; nil where nobody has to.
    ///   - keepsGoing: whether bundles that do not verify are left out.
    ///   - isReleased: whether the operator accepted that a record, by its id, is held for a reason.
    ///   - progress: told the bytes of each member that was checked.
    /// - Throws: ``UnusableBundlesError`` with all bundles that do not verify, unless they are left out.
    public init(
        _ paths: [String], knowing systems: SystemTable, signedBy signers: Signers? = nil, limit: JobLimit,
        keepsGoing: Bool = false,
        isReleased: (_ id: String, _ code: String) -> Bool,
        progress: (Int) -> Void = { _ in }
    ) async throws {
        var pool = CandidatePool(knowing: systems)
        var readers: [BundleReader] = []
        var unusable: [UnusableBundleError] = []
        for path in paths {
            let end = pool.end
            do {
                let reader = try BundleReader(try BundleFile(path: path), knowing: systems, signedBy: signers)
                pool.addBundle(BundleName(path: path, digest: reader.manifest.digest))
                try await Self.verify(
                    reader, number: readers.count, limit: limit, isReleased: isReleased, into: &pool, progress)
                readers.append(reader)
            } catch let error as BundleError {
                unusable.append(UnusableBundleError(path: path, error: error))
                // It may be damaged behind some of its records.
                pool.removeAll(after: end)
            }
        }
        guard unusable.isEmpty || keepsGoing else { throw UnusableBundlesError(bundles: unusable) }
        self.pool = pool
        self.unusable = unusable
        source = UploadSource(readers)
    }

    private static func verify(
        _ reader: BundleReader, number: Int, limit: JobLimit,
        isReleased: (_ id: String, _ code: String) -> Bool, into pool: inout CandidatePool, _ progress: (Int) -> Void
    ) async throws {
        let systems = reader.systems
        var generator = SystemRandomNumberGenerator()
        let verifier = BundleVerifier(reader, limit: limit, secret: RunSecret(using: &generator))
        try await verifier.verify(
            noting: { CandidateNotes(knowing: systems) },
            each: { record, range, notes in notes.add(record, range) },
            take: { segment, notes in
                pool.add(notes, bundle: number, segment: segment, isReleased: isReleased)
            }, progress: progress)
    }
}
