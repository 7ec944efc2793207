import Bundle
import Bytes
import Files
import JSONText
import Telemetry

/// The verified bundles that a delivery receipt describes, and the names and hashes of their files.
///
/// The hashes are computed before a job begins, so that a receipt can be made even if a bundle changes during the job.
public struct ReceiptSource: Sendable {
    private let verified: VerifiedBundles
    /// The unique names of the bundles.
    private let names: [String]
    private let skippedEntries: [DeliveryReceipt.SkippedEntry]
    /// The files of each bundle.
    private let files: [[Receipt.File]]

    /// Creates a source by computing the hashes of all files of the bundles in `verified`.
    public init(_ verified: VerifiedBundles) throws(UnusableBundleError) {
        let unusable = verified.unusableBundles
        let labels = PathLabels.labels(ofPaths: verified.readers.map(\.path) + unusable.map(\.path))
        names = Array(labels.prefix(verified.readers.count))
        skippedEntries = zip(labels.dropFirst(names.count), unusable).map {
            DeliveryReceipt.SkippedEntry(name: $0, reason: "\($1.error)")
        }
        var files: [[Receipt.File]] = []
        for (reader, name) in zip(verified.readers, names) {
            do throws(FileError) {
                let hashes = try reader.fileHashes()
                guard try reader.isUnchanged() else { throw FileError(changedFileAt: reader.path) }
                files.append(zip(reader.fileNames(for: name), hashes).map { Receipt.File(name: $0, sha256: $1) })
            } catch {
                throw UnusableBundleError(path: reader.path, error: .container(ContainerError(at: 0, .file(error))))
            }
        }
        self.files = files
        self.verified = verified
    }

    /// The records of the bundles.
    public var pool: CandidatePool { verified.pool }

    /// Returns the addresses of the servers in `servers` that receive records of the bundles, by system.
    public func endpoints(among servers: ServerTable) -> [SystemName: Set<CapturedText>] {
        let types = Set(pool.candidates.map(\.typeIndex)).map { pool.names.types[$0] }
        return types.reduce(into: [:]) { endpoints, type in
            if let server = servers[type] { endpoints[type.system, default: []].insert(server.endpoint.address) }
        }
    }

    /// Returns the receipt for the records of the pool, where `outcomes` contains their outcomes in the same order.
    public func receipt(_ outcomes: [RecordOutcome], run: DeliveryReceipt.Run, origin: Receipt.Origin)
        -> DeliveryReceipt
    {
        var start = 0
        let entries = verified.readers.indices.map { index in
            let end = pool.candidates[start...].firstIndex { $0.location.bundleIndex > index } ?? pool.count
            defer { start = end }
            return DeliveryReceipt.Entry(
                name: names[index], files: files[index], digest: verified.readers[index].manifest.digest,
                signer: verified.readers[index].signer, outcomes: outcomes[start..<end])
        }
        return DeliveryReceipt(run: run, origin: origin, entries: entries, skippedEntries: skippedEntries)
    }

    /// Calls `body` with the object for each record, in the order of the bundles.
    ///
    /// The records are read from the bundles again, so that memory does not grow with the size of the list.
    ///
    /// - Throws: ``UnusableBundleError`` if a bundle has changed, or an error of `body`.
    public func forEachRecord(_ outcomes: [RecordOutcome], _ body: (CanonicalObject) throws -> Void) throws {
        for (index, outcome) in outcomes.enumerated() {
            let location = pool.location(of: index)
            let record = try verified.source.record(at: location)
            try body(
                DeliveryReceipt.json(
                    of: record, inBundle: Int(location.bundleIndex), released: releasedCodes(of: record, at: index),
                    outcome))
        }
    }

    /// Returns the hold codes of `record`, the record at `index` of the pool, from which the operator has released it.
    private func releasedCodes(of record: borrowing Record, at index: Int) -> [String] {
        guard !record.held.isEmpty else { return [] }
        let remaining = Set(pool.candidates[index].holdsIndex.map { pool.names.holds[$0] } ?? [])
        var released: [CapturedText] = []
        for code in record.held.map({ CapturedText($0.code) })
        where !remaining.contains(code) && !released.contains(code) {
            released.append(code)
        }
        return released.map(\.string)
    }
}
