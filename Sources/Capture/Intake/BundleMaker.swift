import Bundle
import Bytes
import CLibrary
import Files
import Hashing
import Telemetry

/// A bundle maker that combines the inputs of a reader into one bundle.
///
/// The bundle contains records, a quarantine and a manifest.
public struct BundleMaker {
    /// A finished bundle.
    public struct Result {
        /// The manifest of the bundle.
        public let manifest: Manifest
        /// The findings in the inputs.
        public let intake: Intake
        /// The index of the bundle and its ancestors, or `nil` if it was not requested.
        public let index: BundleIndex?
    }

    private var reader: CaptureReader
    private let compressionLevel: Int
    private let toolVersion: String
    private let quarantineLimits: QuarantineLimits
    private let earlier: EarlierBundles
    private let makesIndex: Bool

    /// Creates a bundle maker.
    ///
    /// - Parameters:
    ///   - reader: The reader of the inputs.
    ///   - level: The zstd level, from 1 to 19.
    ///   - toolVersion: The version of the program.
    ///   - quarantineLimit: The maximum number of quarantined bytes in the bundle.
    ///   - earlier: The earlier bundles whose contents are omitted.
    ///   - makesIndex: Whether an index is made.
    public init(
        _ reader: CaptureReader, level: Int, toolVersion: String, quarantineLimit: Int,
        earlier: EarlierBundles = EarlierBundles(), makesIndex: Bool = false
    ) {
        self.reader = reader
        self.earlier = earlier
        self.makesIndex = makesIndex
        compressionLevel = level
        self.toolVersion = toolVersion
        quarantineLimits = QuarantineLimits(
            entrySizeLimit: reader.options.quarantineFileLimit, totalSizeLimit: quarantineLimit)
        guard reader.options.pseudonymizer == nil else { return }
        self.reader.options.quarantine = QuarantineSpool(folder: reader.options.copyFolder, limit: quarantineLimit)
    }

    /// Reads the inputs and writes the bundle.
    ///
    /// `labels` are the labels of the inputs, in the same order. `keep` is called with each kept record, and `note` with
    /// each other finding. `progress` is called with the number of bytes that were read, and the number of records in
    /// them. `sink` is called with the bytes of the bundle, in order.
    ///
    /// - Returns: The manifest, the findings, and the index if it was requested.
    /// - Throws: ``InputError`` for a damaged input, `ParentError` if an index is requested and the contents of
    ///   a parent are unknown, `FileError` if a file cannot be read or written, `ContainerWriteError` for a bundle that
    ///   exceeds a limit of the format, and the errors of `sink`.
    public func make(
        hashes: InputHashes, labels: [String], systems: SystemTable,
        keep: (borrowing ScanOutput.Entry) -> Void = { _ in }, note: (Intake.Finding) -> Void = { _ in },
        progress: (_ bytes: Int, _ records: Int) -> Void, to sink: BundleAssembler.Sink
    ) async throws -> Result {
        var bundle = try BundleAssembler(level: compressionLevel, toolVersion: toolVersion, limit: reader.limit)
        var parents = try parents(labels: labels)
        var intake = Intake(
            reader.options, keepsDetails: true, within: quarantineLimits, systems: systems, earlier: earlier,
            collectsIndexKeys: makesIndex)
        try await reader.read(
            into: &intake,
            keep: { entry, line, _ in
                keep(entry)
                bundle.add(entry.summary, line: line)
            }, note: note, progress: progress,
            afterOutput: { try await bundle.writeFinishedSegments(to: sink) })
        // A bundle whose quarantine became smaller replaces the old one, which remains the proof of what it contained.
        for number in intake.rereadInputs.sorted() {
            guard let digest = reader.inputs[number].manifest?.digest, !parents.contains(digest) else { continue }
            guard parents.count < BundleLayout.maxParentCount else { throw ContainerWriteError.tooManyParents }
            parents.append(digest)
        }
        var decoder = FrameDecoder()
        try await bundle.add(intake.spill.quarantine) { input, item in
            try bytes(of: item, input: input, with: &decoder)
        } onLoss: {
            try intake.addLoss(of: $0, $1)
        } to: {
            try sink($0)
        }
        let given = try await hashes.finish(for: reader.inputs, labels: labels)
        for problem in given.problems { try intake.report(problem) }
        let manifest = try bundle.finish(
            problems: intake.spill.problems, withdrawals: intake.withdrawals, duplicateCount: intake.duplicateCount,
            emptyKeyID: reader.options.pseudonymizer?.keyID, filters: BundleFilters(reader.options.filter),
            inputs: given.inputs, parents: parents, omitted: intake.omitted, to: sink)
        return Result(manifest: manifest, intake: intake, index: makesIndex ? index(of: manifest, intake) : nil)
    }

    /// Returns the bytes of `item`, which was quarantined from the input at index `input` or from an equal file.
    ///
    /// - Throws: `FileError`, or `BundleError` if they are the contents of a bundle and cannot be read.
    private func bytes(of item: QuarantineEntry, input: Int, with decoder: inout FrameDecoder) throws -> [UInt8] {
        if let hash = ContentHash(hex: item.sha256), let bytes = try reader.options.quarantine?.bytes(of: hash) {
            return bytes
        }
        guard case .bundle(let bundle) = reader.inputs[input] else {
            throw FileError(
                .read, item.path, code: ENOTSUP,
                message: "cannot read \(item.path) again from a log or a damaged bundle")
        }
        return try bundle.contents(of: BundleLayout.quarantineMemberName(sha256: item.sha256), with: &decoder)
    }

    /// Returns the digests of the parents that the manifest of the new bundle lists.
    ///
    /// These are the earlier bundles and the parents of the inputs. A parent of an input is omitted if it is itself an
    /// input, or if the earlier bundles include its contents.
    private func parents(labels: [String]) throws -> [String] {
        var (parents, known) = (earlier.parents, earlier)
        let manifests = reader.inputs.map(\.manifest)
        let digests = Set(manifests.compactMap(\.?.digest))
        for (manifest, label) in zip(manifests, labels) {
            for parent in manifest?.parents ?? [] where !digests.contains(parent) {
                known.requireContents(of: parent, before: label)
                if !earlier.knownDigests.contains(parent), !parents.contains(parent) { parents.append(parent) }
            }
            guard parents.count <= BundleLayout.maxParentCount else { throw ContainerWriteError.tooManyParents }
        }
        if makesIndex { try known.requireParents() }
        return parents
    }

    private func index(of manifest: Manifest, _ intake: Intake) -> BundleIndex {
        BundleIndex(
            digest: manifest.digest, ancestors: earlier.knownDigests,
            records: intake.indexKeys.records.merging(earlier.records, uniquingKeysWith: min),
            details: intake.indexKeys.details.union(earlier.details))
    }
}
