import Bytes
import Hashing
import JSONText
import Telemetry

/// The contents of the earlier bundles that an increment continues.
///
/// ```swift
/// var earlier = EarlierBundles()
/// let verifier = BundleVerifier(reader, limit: JobLimit(jobs: 2))
/// try await earlier.add(reader, named: "monday.tar.zst", by: verifier)
/// try earlier.requireParents()
/// if earlier.finding(for: RecordKey(record), rank: CopyRank(record.held)) == .duplicate { omittedCount += 1 }
/// ```
///
/// Source: "Increments".
public struct EarlierBundles: Sendable {
    /// The `CopyRank.indexNumber` of the best copy of each record of the earlier bundles.
    public private(set) var records: [RecordKey: UInt64] = [:]
    /// The hashes of all quarantine entries and problems of the earlier bundles.
    public private(set) var details: Set<Digest16> = []
    /// The identities of all records of the earlier bundles.
    private var identities: Set<Digest16> = []
    /// The digests of all bundles whose contents are known.
    public private(set) var knownDigests: Set<CapturedText> = []
    /// The digests of the added bundles, in the order in which they were added.
    private var digests: [String] = []
    /// The parents or ancestors that each added bundle or index lists, by its digest.
    private var ancestors: [CapturedText: Set<CapturedText>] = [:]
    /// The digests of the required parents, each with the name of the bundle that continues the parent.
    private var requiredParents: [(digest: String, bundle: String)] = []

    /// Creates a set of no bundles.
    public init() {}

    /// The digests of the added bundles, except ancestors of other added bundles.
    public var parents: [String] {
        let listed = ancestors.values.reduce(into: Set<CapturedText>()) { $0.formUnion($1) }
        return digests.filter { !listed.contains($0) }
    }

    /// Throws an error if the contents of a parent of an added bundle are unknown, or if added indexes list each other.
    ///
    /// Forged indexes that list each other would not be parents, but their keys would still omit records, so that no
    /// manifest would name the bundles that contain these records.
    public func requireParents() throws(ParentError) {
        var reached = Set(texts: parents)
        var pending = parents.map { CapturedText($0) }
        while let digest = pending.popLast() {
            // The result does not depend on the order.
            for ancestor in ancestors[digest] ?? [] where reached.insert(ancestor).inserted { pending.append(ancestor) }
        }
        if let unreached = digests.first(where: { !reached.contains($0) }) { throw .cycle(digest: unreached) }
        guard let missing = requiredParents.first(where: { !knownDigests.contains($0.digest) }) else { return }
        throw .unknown(digest: missing.digest, bundle: missing.bundle)
    }

    /// Requires that the contents of the bundle with the given digest are known, because it is a parent of `bundle`.
    public mutating func requireContents(of digest: String, before bundle: String) {
        requiredParents.append((digest, bundle))
    }

    /// Adds the bundle and the ancestors whose keys `index` contains.
    public mutating func add(_ index: BundleIndex) {
        append(index.digest)
        let known = Set(texts: index.ancestors)
        ancestors[index.digest, default: []].formUnion(known)
        knownDigests.formUnion(known)
        // The order does not matter, because the keys of an index are different.
        add(index.records.lazy.map { ($0.key, $0.value) })
        details.formUnion(index.details)
    }

    /// Verifies a bundle with `verifier` and adds its contents.
    ///
    /// `name` is the name of the bundle in errors. `progress` is called with the size, in bytes, of each verified
    /// segment and member with quarantined bytes.
    ///
    /// - Throws: ``BundleError`` if the bundle is invalid.
    public mutating func add(
        _ bundle: BundleReader, named name: String, by verifier: BundleVerifier, progress: (Int) -> Void = { _ in }
    ) async throws {
        var copies: [(RecordKey, UInt64)] = []
        var clients = ClientIndex()
        try await verifier.verify(
            numbering: &clients, noting: { [(RecordKey, UInt64)]() },
            each: { record, key, _, copies in copies.append((key, CopyRank(record.held).indexNumber)) },
            take: { _, added, _ in copies += added }, progress: progress)
        add(copies)
        try addDetails(QuarantineEntry.self, in: BundleLayout.quarantine, of: bundle)
        try addDetails(LocatedProblem.self, in: BundleLayout.problems, of: bundle)
        append(bundle.manifest.digest)
        for parent in bundle.manifest.parents { requireContents(of: parent, before: name) }
        ancestors[bundle.manifest.digest, default: []].formUnion(Set(texts: bundle.manifest.parents))
    }

    private mutating func add(_ copies: some Sequence<(RecordKey, UInt64)>) {
        records.merge(copies, uniquingKeysWith: min)
        identities.formUnion(copies.lazy.map(\.0.identity))
    }

    private mutating func append(_ digest: String) {
        if !digests.contains(digest) { digests.append(digest) }
        knownDigests.insert(digest)
    }

    private mutating func addDetails<Entry: BundleDetail>(
        _ type: Entry.Type, in list: String, of bundle: BundleReader
    ) throws(BundleError) {
        var cursor = DetailCursor<Entry>(list, of: bundle)
        while let entry = try cursor.next() { details.insert(Digest16(of: entry.json.bytes.span)) }
    }

    /// Returns the finding for a record.
    ///
    /// The result is `new`, too, if the earlier bundles contain a copy instead of which the record should be kept.
    public func finding(for key: RecordKey, rank: CopyRank) -> DuplicateIndex.Finding {
        guard let known = records[key] else { return identities.contains(key.identity) ? .sameIDOtherPayload : .new }
        return rank.isSuperseded(byCopyWith: known) ? .duplicate : .new
    }
}

/// An error of the parents of an increment.
public enum ParentError: Error, Sendable, Equatable {
    /// The contents of a parent, which has this digest and which `bundle` continues, are unknown.
    case unknown(digest: String, bundle: String)
    /// The index of the bundle with this digest and another index list each other as ancestors.
    case cycle(digest: String)
}
