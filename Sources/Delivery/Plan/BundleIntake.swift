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

/// Bundles of a job: all verified before anything of one is sent.
public struct BundleIntake: Sendable {
    /// All their records.
    public let pool: CandidatePool
    /// Reads what uploads carry.
    public let source: UploadSource

    /// Opens and verifies bundles.
    ///
    /// - Parameters:
    ///   - paths: the bundles, in order.
    ///   - systems: those that records may be of.
    ///   - limit: how many segments are read at once.
    ///   - isReleased: whether the operator accepted that a record, by its id, is held for a reason.
    ///   - progress: told the bytes of each member that was checked.
    /// - Throws: ``UnusableBundleError`` for the first bundle that does not verify.
    public init(
        _ paths: [String], knowing systems: SystemTable, limit: JobLimit,
        isReleased: (_ id: String, _ code: String) -> Bool,
        progress: (Int) -> Void = { _ in }
    ) async throws {
        var pool = CandidatePool(knowing: systems)
        var readers: [BundleReader] = []
        var generator = SystemRandomNumberGenerator()
        for (number, path) in paths.enumerated() {
            do {
                let reader = try BundleReader(path: path, knowing: systems)
                let verifier = BundleVerifier(reader, limit: limit, secret: RunSecret(using: &generator))
                try await verifier.verify(
                    noting: { CandidateNotes(knowing: systems) },
                    each: { record, range, notes in notes.add(record, range) },
                    take: { segment, notes in
                        pool.add(notes, bundle: number, segment: segment, isReleased: isReleased)
                    }, progress: progress)
                readers.append(reader)
            } catch let error as BundleError {
                throw UnusableBundleError(path: path, error: error)
            }
        }
        self.pool = pool
        source = UploadSource(readers)
    }
}
