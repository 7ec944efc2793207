import ArgumentParser
import Bundle
import Bytes
import Capture
import Console
import Files
import JSONText
import Systems
import Telemetry

/// The options for a bundle that contains only what earlier bundles do not contain.
///
/// Source: "Increments".
struct IncrementOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Omit the records, quarantined items and problems that these bundles contain. All their parents must be \
            given, too. (repeatable)
            """, valueName: "bundle"), completion: .file())
    var sinceBundle: [String] = []

    @Option(
        help: ArgumentHelp(
            "Omit what is in the bundles that these indexes were made of. (repeatable)",
            valueName: "index"), completion: .file())
    var sinceIndex: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Write an index of the bundle and its parents for --since-index. It can replace an index that is given \
            with --since-index.
            """, valueName: "file"), completion: .file())
    var index: String?

    func validate() throws {
        guard index != "-" else { throw ValidationError("an index must be a file: --index NAME.index") }
        guard !sinceIndex.contains("-") else { throw ValidationError("an index cannot be read from standard input") }
    }

    /// The paths of the earlier bundles and indexes, except for an index that the new index replaces.
    var inputPaths: [String] {
        let replacedIndex = index.flatMap { PathIdentity(path: $0) }
        return sinceBundle.flatMap(BundleFile.allPaths)
            + sinceIndex.filter { replacedIndex == nil || PathIdentity(path: $0) != replacedIndex }
    }

    /// Verifies and reads the earlier bundles and indexes.
    ///
    /// - Throws: `InputError` if `outputs`, the files that the command replaces, include an earlier bundle or an
    ///   earlier index, except for an index that the new index replaces.
    func earlierBundles(_ common: CommonOptions, writing outputs: Set<FileIdentity>) async throws -> EarlierBundles {
        var earlier = EarlierBundles()
        let replacedIndex = index.flatMap { FileIdentity(path: $0) }
        for path in sinceIndex {
            let identity = FileIdentity(path: path)
            if identity != replacedIndex, identity.map(outputs.contains) == true {
                throw InputError.wouldReplaceInput(path)
            }
            earlier.add(try Self.readIndex(path))
        }
        for path in BundleFile.removingLaterVolumes(from: sinceBundle) {
            let name = InputOpener.name(of: path)
            let reader = try InputOpener.openBundle(
                path, systems: Systems.table, copyFolder: CommonOptions.temporaryFolder)
            let files = reader.volumes?.paths ?? [path]
            if files.contains(where: { FileIdentity(path: $0).map(outputs.contains) == true }) {
                throw InputError.wouldReplaceInput(path)
            }
            let progress = ProgressLine("reading \(name)", isQuiet: common.quiet)
            defer { progress.clear() }
            try reader.volumes?.verifyHashes { progress.add(bytes: $0) }
            do {
                let verifier = BundleVerifier(reader, limit: common.jobLimit)
                try await earlier.add(reader, named: name, by: verifier) { progress.add(bytes: $0) }
            } catch let error as BundleError {
                throw InputError.bundle(error, name)
            }
        }
        try earlier.requireParents()
        return earlier
    }

    /// Throws an error if `path` is the path of an earlier bundle.
    ///
    /// If the new bundle replaced the earlier bundle, no bundle would contain the records that the new bundle omits.
    func requireNoEarlierBundle(at path: String, in earlier: EarlierBundles) throws {
        // Without an earlier bundle, there is no reason to read the file.
        guard !earlier.knownDigests.isEmpty, let file = try? BundleFile(path: path),
            let bundle = try? BundleReader(file, knowing: Systems.table),
            earlier.knownDigests.contains(bundle.manifest.digest)
        else { return }
        throw InputError.wouldReplaceInput(path)
    }

    fileprivate static func readIndex(_ path: String) throws -> BundleIndex {
        let file = try InputFile(path: path)
        let head = try [UInt8](capacity: BundleIndex.prefix.count) { output throws(FileError) in
            try file.read(at: 0, into: &output)
        }
        do {
            // Only the prefix of a large file that is not an index, such as a capture, is read.
            guard head == BundleIndex.prefix else { throw BundleIndexError.notAnIndex }
            return try BundleIndex(file.contents(limit: BundleIndex.maxSize))
        } catch let error as BundleIndexError {
            throw CommandError(status: .badData, path: path, message: "\(error)", remedy: error.remedy)
        }
    }

    /// Creates the file for the index, which may always replace an index that is given with `--since-index`.
    func indexOutput(replacing: Bool, isRehearsal: Bool = false) throws -> IndexOutput {
        guard let index, !isRehearsal else { return IndexOutput() }
        let identity = FileIdentity(path: index)
        let isContinued = identity != nil && sinceIndex.contains { FileIdentity(path: $0) == identity }
        return IndexOutput(file: try AtomicOutput(path: index, replacing: replacing || isContinued))
    }
}

/// A comparison of an index with the bundles to which it should belong.
///
/// Source: "Increments", section "The index".
struct IndexComparison {
    private let path: String
    private let index: BundleIndex

    init(path: String) throws {
        self.path = path
        index = try IncrementOptions.readIndex(path)
    }

    /// Returns the error that describes the first difference, or `nil` if the index belongs to the verified `bundles`.
    func failure(comparedWith bundles: EarlierBundles) -> CommandError? {
        index.mismatch(with: bundles).map { mismatch in
            CommandError(
                status: .badData, path: path, message: "\(mismatch)",
                remedy: "do not use this index with --since-index; pass the bundles with --since-bundle instead")
        }
    }

    /// A sentence that states that the index belongs to the bundles.
    var sentence: String {
        "\(path): the index of these bundles, with the keys of \(index.records.count.counted("record"))"
    }

    func json(isGood: Bool) -> CanonicalObject {
        ["digest": index.digest, "good": isGood, "path": path, "records": index.records.count]
    }
}

/// An index to be written after its bundle, if one is requested.
///
/// Its file is created before the work begins, so that an unusable path is reported at once.
struct IndexOutput: ~Copyable {
    private let file: AtomicOutput?
    /// The files that must not be read as input, which are the file being written and the file that it replaces.
    let identities: Set<FileIdentity>

    fileprivate init(file: consuming AtomicOutput) {
        identities = file.identities
        self.file = consume file
    }

    fileprivate init() {
        identities = []
        file = nil
    }

    /// Writes `index`, if an index is requested.
    ///
    /// `completedAction` describes the completed work in the remedy of an error.
    consuming func write(_ index: BundleIndex?, after completedAction: String) throws(CommandError) {
        guard let file, let index else { return }
        do throws(FileError) {
            try file.write(index.bytes.span)
            try file.commit()
        } catch {
            let failure = CommandError(error)
            throw CommandError(
                status: failure.status, message: "no index was written: \(failure.message)",
                remedy: "\(completedAction); pass it with --since-bundle instead")
        }
    }
}
