import Bundle
import Bytes
import Files
import Telemetry

/// An opener for inputs that detects their formats.
///
/// ```swift
/// let opening = InputOpener(systems: Systems.table, limit: JobLimit(jobs: 2), spool: Spool())
/// let inputs = try await opening.open([folder, archive])
/// ```
public struct InputOpener: Sendable {
    private let labels: [String]
    private let systems: SystemTable
    private let limit: JobLimit
    private let excluded: Set<FileIdentity>
    private let salvagesDamagedBundles: Bool
    private let spool: Spool
    private let passwords: BackupPasswords
    private let hashes: InputHashes?
    private let listsInventory: Bool

    /// Creates an opener for inputs.
    ///
    /// - Parameters:
    ///   - labels: The labels of the inputs, in the order of their paths. If the array is empty, `PathLabels` creates
    ///     them.
    ///   - systems: The systems whose stores and requests are recognized.
    ///   - limit: The limit on the number of jobs.
    ///   - excluded: The files that must not be read, such as the output.
    ///   - salvagesDamagedBundles: Whether damaged bundles are read as far as possible.
    ///   - spool: The spool for the members of archives and the standard input.
    ///   - passwords: The passwords of encrypted backups. They are overwritten when all inputs are open.
    ///   - hashes: The hashes of the inputs that are single files, or `nil` if they are not needed.
    ///   - listsInventory: Whether the inventory is made, and captures with containers but without stores are accepted.
    public init(
        labels: [String] = [], systems: SystemTable, limit: JobLimit, excluded: Set<FileIdentity> = [],
        salvagesDamagedBundles: Bool = false, spool: Spool, passwords: BackupPasswords = BackupPasswords(),
        hashes: InputHashes? = nil, listsInventory: Bool = false
    ) {
        self.hashes = hashes
        self.listsInventory = listsInventory
        self.passwords = passwords
        self.labels = labels
        self.systems = systems
        self.limit = limit
        self.excluded = excluded
        self.salvagesDamagedBundles = salvagesDamagedBundles
        self.spool = spool
    }

    /// Returns the labels of the inputs at `paths`.
    public func labels(ofPaths paths: [String]) -> [String] {
        labels.isEmpty ? PathLabels.labels(ofPaths: paths) : labels
    }

    /// Opens the inputs at `paths`, and returns them in the same order.
    ///
    /// The path `-` is the standard input. If only some of several inputs contain no store, they are returned as captures
    /// with a problem.
    ///
    /// - Throws: `FileError`, or ``InputError`` for the first input that is damaged, or if no input contains a store.
    public func open(_ paths: [String]) async throws -> [CaptureInput] {
        defer { passwords.wipe() }
        var inputs: [CaptureInput] = []
        var errors: [InputError] = []
        for (path, label) in zip(paths, labels(ofPaths: paths)) {
            do {
                inputs.append(try await open(path, label: label))
            } catch let error as InputError {
                guard let problem = error.absenceOfStores(label: label) else { throw error }
                errors.append(error)
                inputs.append(.folder(CapturedFolder(withoutStores: problem, path: path, label: label)))
            }
        }
        if errors.count == inputs.count, let error = errors.first { throw error }
        return inputs
    }

    private func open(_ path: String, label: String) async throws -> CaptureInput {
        if path == "-" { return try await openStandardInput(label: label) }
        if let identity = FileIdentity(path: path), excluded.contains(identity) {
            throw InputError.wouldReplaceInput(path)
        }
        if BundleFile.volumeName(atPath: path) != nil, let input = try await openVolumes(path, label: label) {
            return input
        }
        do {
            let capture = try await CapturedFolder(
                path: path, label: label, systems: systems, excluding: excluded, spool: spool,
                passwords: passwords, listsInventory: listsInventory, limit: limit)
            if let store = capture.excludedStore { throw InputError.wouldReplaceInput("\(path)/\(store)") }
            return .folder(try requiringStores(capture, path))
        } catch let error as FileError where error.isNotAFolder && error.operation != .spool {
            return try await openFile(path, label: label)
        } catch let error as FileError where error.isNotFound {
            throw BundleFile.splitBundleError(atPath: path).map { InputError.bundle($0, path) } ?? error
        } catch let error as BackupError {
            throw InputError.backup(error, path)
        }
    }

    /// Opens the bundle or archive at `path`, which has the name of a volume.
    ///
    /// Returns `nil` for a single volume that is not a bundle, unless damaged bundles are salvaged.
    private func openVolumes(_ path: String, label: String) async throws -> CaptureInput? {
        var faults: [VolumeFault] = []
        let file = try Self.withInputErrors(of: path) { try BundleFile(path: path, noting: &faults) }
        let volumes = file.volumes?.identities ?? []
        guard excluded.isDisjoint(with: volumes) else { throw InputError.wouldReplaceInput(path) }
        if salvagesDamagedBundles {
            return .salvage(
                SalvagedBundle(
                    file.source, path: path, label: label, systems: systems, volumeFaults: faults.map(\.text)))
        }
        guard faults.isEmpty else { throw InputError.bundle(.volumes(faults), path) }
        let kind = InputKind(head: try InputKind.head(of: file.source))
        switch kind {
        case .bundle, .repackedBundle, .damagedZstd:
            return .bundle(try Self.withInputErrors(of: path) { try BundleReader(file, knowing: systems) })
        case .archive, .other:
            guard volumes.count > 1 else { return nil }
            return try await open(kind, .source(file.source), path, label: label)
        }
    }

    private func openFile(_ path: String, label: String) async throws -> CaptureInput {
        let source = ByteSource(try InputFile(path: path))
        // Checked first, because a log may be compressed like an archive or a bundle.
        if let log = try RequestLogKind(source, named: path, systems) {
            let name = Path.lastName(of: path)
            hashes?.startHashing(source, of: label)
            var log = RequestLog(source, kind: log, label: label, path: name, systems: systems)
            // A log in a folder that cannot be opened has no other files.
            let tree = try? FileTree(Folder(path: Path.folder(of: path)))
            log.attachedBodies = tree.map { AttachedBodies(tree: $0, folder: "") }
            return .log(log)
        }
        if UnreadFormat.isDiskImage(source) { throw InputError.unread(.diskImage, path) }
        let kind = InputKind(head: try InputKind.head(of: source))
        if case .other = kind, let capture = try CapturedFolder(file: path, label: label, systems: systems) {
            hashes?.startHashing(source, of: label, isReadByName: true)
            return .folder(capture)
        }
        if case .other = kind, BackupDetector.isManifest(Path.lastName(of: path).utf8) {
            throw InputError.partOfBackup(path)
        }
        return try await open(kind, .source(source), path, label: label)
    }

    /// Opens the standard input.
    ///
    /// The standard input is copied to the spool first, unless it is an archive that can be read sequentially.
    private func openStandardInput(label: String) async throws -> CaptureInput {
        let head = try Self.standardInputHead()
        if let log = try RequestLogKind(ByteSource(head), named: nil, systems) {
            let source = try spool.appendStandardInput(head: head)
            hashes?.startHashing(source, of: label)
            return .log(RequestLog(source, kind: log, label: label, path: "-", systems: systems))
        }
        let kind = InputKind(head: head)
        switch kind {
        case .archive where !ArchiveFormat.needsRandomAccess(head):
            let stream = hashes?.startStream(of: label, head: head)
            let input = try await open(kind, .standardInput(head: head, stream), Self.standardInput, label: label)
            try stream?.readRest()
            return input
        case .archive, .bundle, .repackedBundle, .damagedZstd:
            let source = try spool.appendStandardInput(head: head)
            return try await open(kind, .source(source), Self.standardInput, label: label)
        // The output of the program that sends a zip archive can precede it.
        case .other where ZipDirectory.firstMember(in: head) != nil:
            let source = try spool.appendStandardInput(head: head)
            return try await open(kind, .source(source), Self.standardInput, label: label)
        case .other: throw Self.unrecognized(Self.standardInput, head: head)
        }
    }

    /// Returns the error for a file in no supported format, which names the format if it is known.
    private static func unrecognized(_ path: String, head: [UInt8]) -> InputError {
        let format = UnreadFormat(head: head, isNamedForArchive: true)
        return (format ?? UnreadFormat(path: path)).map { .unread($0, path) } ?? .unrecognized(path)
    }

    /// Opens an input that is neither a folder, a request log nor a single store file.
    private func open(
        _ kind: InputKind, _ bytes: ArchiveBytes, _ path: String, label: String
    ) async throws -> CaptureInput {
        switch (kind, bytes) {
        case (.repackedBundle, _):
            throw InputError.bundle(.container(ContainerError(at: 0, .repacked)), path)
        case (.archive, _): return .folder(try await openArchive(bytes, path, label: label))
        case (.other, _) where !salvagesDamagedBundles && ArchiveFormat.isArchive(named: path.utf8):
            return .folder(try await openArchive(bytes, path, label: label))
        // The damage may affect the first bytes, so that the file does not look like a bundle.
        case (_, .source(let source)) where salvagesDamagedBundles:
            return .salvage(SalvagedBundle(source, path: path, label: label, systems: systems))
        case (.bundle, .source(let source)):
            return .bundle(
                try Self.withInputErrors(of: path) { try BundleReader(source, path: path, knowing: systems) })
        case (.damagedZstd, .source(let source)):
            do throws(BundleError) {
                return .bundle(try BundleReader(source, path: path, knowing: systems))
            } catch {
                // Without a seek table, the file is no bundle. Opening the archive reports why it cannot be read.
                guard case .container(let fault) = error, case .noSeekTable = fault.reason else {
                    throw InputError.bundle(error, path)
                }
                return .folder(try await openArchive(bytes, path, label: label))
            }
        case (.other, .source(let source))
        where UnreadFormat(head: try InputKind.head(of: source), isNamedForArchive: true) != nil
            || UnreadFormat(path: path) != nil:
            throw Self.unrecognized(path, head: try InputKind.head(of: source))
        // A program that unpacks a zip archive, or other bytes, can precede it.
        case (.other, .source(let source)) where try ZipDirectory.isAtEnd(of: source):
            return .folder(try await openArchive(bytes, path, label: label))
        // Larger files are not searched for a store.
        case (_, .source(let source)) where source.count > InputLimits.keyedArchiveSize: throw InputError.tooLarge(path)
        default: throw InputError.unrecognized(path)
        }
    }

    private func openArchive(_ bytes: ArchiveBytes, _ path: String, label: String) async throws -> CapturedFolder {
        if case .source(let source) = bytes { hashes?.startHashing(source, of: label) }
        do {
            let capture = try await CapturedFolder(
                archive: bytes, path: path, label: label, systems: systems, spool: spool, passwords: passwords,
                listsInventory: listsInventory, limit: limit)
            if capture.stores.isEmpty, capture.backups.isEmpty, capture.backupErrors.isEmpty,
                !isListed(capture), let problem = capture.problems.first
            {
                throw InputError.noStores(path, problem)
            }
            return try requiringStores(capture, path)
        } catch let error as ArchiveError {
            if case .source(let source) = bytes, try ZipDirectory(of: source, entryLimit: 0)?.isLastPart == true {
                throw InputError.unread(.lastPart, path)
            }
            let isSplit = ArchiveLocation(label: label, path: path).isSplit
            throw isSplit ? InputError.unread(.splitArchive, path) : InputError.archive(error, path)
        } catch let error as BackupError {
            throw InputError.backup(error, path)
        } catch InputError.unrecognized(let path) where ArchiveLocation(label: label, path: path).isCellebriteReport {
            throw InputError.unread(.cellebriteReport, path)
        }
    }

    /// Returns whether the containers of `capture` are listed, even if they contain no stores.
    private func isListed(_ capture: CapturedFolder) -> Bool { listsInventory && !capture.inventory.isEmpty }

    /// Returns `capture`, or throws an error if `capture` contains nothing that can be read or reported.
    private func requiringStores(_ capture: CapturedFolder, _ path: String) throws -> CapturedFolder {
        // A backup without stores is valid. A locked backup is an error only if there is nothing else to read.
        if !capture.backups.isEmpty { return capture }
        if capture.stores.isEmpty, let error = capture.backupErrors.first as? BackupError,
            capture.backupErrors.allSatisfy({ ($0 as? BackupError)?.cause == .password })
        {
            throw InputError.backup(error, path)
        }
        guard !capture.stores.isEmpty || capture.isIncomplete || isListed(capture) else {
            throw capture.problems.first.map { InputError.noStores(path, $0) } ?? .unrecognized(path)
        }
        return capture
    }

    /// Opens a bundle without reading all segments, or returns `nil` if the file is not a bundle.
    ///
    /// - Throws: `FileError`, or ``InputError`` with the path of the bundle.
    public func openSegments(of path: String) throws -> BundleReader? {
        if let identity = FileIdentity(path: path), excluded.contains(identity) {
            throw InputError.wouldReplaceInput(path)
        }
        let name = Self.name(of: path)
        if path != "-", BundleFile.volumeName(atPath: path) != nil {
            return try Self.withInputErrors(of: name) {
                try BundleReader(path: path, knowing: systems)
            }
        }
        guard let source = try path == "-" ? standardInputBundle() : bundleFile(path) else { return nil }
        return try Self.withInputErrors(of: name) { try BundleReader(source, path: name, knowing: systems) }
    }

    private func standardInputBundle() throws -> ByteSource? {
        let head = try Self.standardInputHead()
        return InputKind(head: head).isBundle ? try spool.appendStandardInput(head: head) : nil
    }

    private func bundleFile(_ path: String) throws(FileError) -> ByteSource? {
        do throws(FileError) {
            let source = ByteSource(try InputFile(path: path))
            // A log may be compressed like a bundle.
            if try RequestLogKind(source, named: path, systems) != nil { return nil }
            return InputKind(head: try InputKind.head(of: source)).isBundle ? source : nil
        } catch {
            guard error.isNotAFile else { throw error }
            return nil
        }
    }

    /// Opens the bundle at `path`.
    ///
    /// - Parameters:
    ///   - path: The path of the bundle, or `-` for the standard input.
    ///   - systems: The systems whose records are recognized.
    ///   - folder: The folder of the private file to which a bundle from the standard input is copied.
    ///   - signers: The accepted signing keys, or `nil` if a signature is not required.
    ///   - signature: The path of the signature. If it is `nil`, the signature is next to the bundle.
    /// - Returns: The bundle.
    /// - Throws: `FileError`, or ``InputError`` with the path of the bundle.
    public static func openBundle(
        _ path: String, systems: SystemTable, copyFolder folder: String, signedBy signers: AllowedSigners? = nil,
        signature: String? = nil
    ) throws -> BundleReader {
        guard path == "-" else {
            return try withInputErrors(of: path) {
                try BundleReader(
                    try BundleFile(path: path), knowing: systems, signedBy: signers, signature: signature)
            }
        }
        let head = try standardInputHead()
        // Inputs that are not bundles are not copied.
        let isBundle = InputKind(head: head).isBundle
        guard isBundle || signers == nil else { throw InputError.bundle(.notABundle, standardInput) }
        let source = isBundle ? try Spool(folder: folder).appendStandardInput(head: head) : ByteSource(head)
        return try withInputErrors(of: standardInput) {
            try BundleReader(
                source, path: standardInput, knowing: systems, signedBy: signers, signature: signature)
        }
    }

    private static func standardInputHead() throws -> [UInt8] {
        try [UInt8](capacity: InputKind.headSize) { output in _ = try StandardInput.read(into: &output) }
    }

    /// Calls `body`, and rethrows a `BundleError` as an ``InputError`` with `path`.
    public static func withInputErrors<Value>(of path: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as BundleError {
            throw InputError.bundle(error, path)
        }
    }

    /// Returns the name by which messages identify `path`.
    public static func name(of path: String) -> String { path == "-" ? standardInput : path }

    private static let standardInput = "standard input"
}

extension InputKind {
    /// Whether the input is a bundle, or looks like a damaged bundle.
    fileprivate var isBundle: Bool {
        switch self {
        case .bundle, .repackedBundle, .damagedZstd: true
        case .archive, .other: false
        }
    }
}

// MARK: - CaptureInput

/// An opened input, from which records can be read.
public enum CaptureInput: Sendable {
    /// A folder from a device, an archive, a backup, or a single store file.
    case folder(CapturedFolder)
    /// An intact bundle.
    case bundle(BundleReader)
    /// A damaged bundle.
    case salvage(SalvagedBundle)
    /// A request log that was given as a single file.
    case log(RequestLog)

    /// Whether the input is an intact bundle, so that its problems were reported when the bundle was created.
    var isBundle: Bool {
        if case .bundle = self { true } else { false }
    }

    /// Returns the number of bytes to be read, or `nil` if it is unknown in advance.
    ///
    /// `segments` is the range of the bundle segments to be read, or `nil` for all of them.
    func byteCount(ofSegments segments: Range<Int>? = nil) -> Int? {
        switch self {
        case .bundle(let bundle): bundle.manifest.segments(in: segments).reduce(0) { $0 + $1.bytes }
        case .log(let log): PlainText.count(in: log.source)
        case .folder, .salvage: nil
        }
    }

    /// The approximate number of records: the number that a bundle states, the number of files in the stores of a
    /// capture, most of which contain one record, or 0 for other inputs.
    var approximateRecordCount: Int {
        switch self {
        case .bundle(let bundle): bundle.manifest.totals.records
        case .folder(let capture): capture.stores.reduce(0) { $0 + $1.store.fileCount }
        case .log, .salvage: 0
        }
    }

    /// Throws an error if files of a capture could not be opened because this process lacks resources.
    func checkResources() throws(FileError) {
        if case .folder(let capture) = self { try capture.tree.checkResources() }
    }

    /// The manifest of an intact bundle, or `nil` for other inputs.
    var manifest: Manifest? {
        if case .bundle(let bundle) = self { bundle.manifest } else { nil }
    }

    /// The id of the pseudonym key of a bundle.
    ///
    /// The id is `nil` if the input is not an intact bundle, or if not all of its contents have pseudonyms of one key.
    public var pseudonymKeyID: String? { manifest?.pseudonymKeyID }
}

extension Manifest {
    func segments(in range: Range<Int>?) -> ArraySlice<Segment> {
        segments[range?.clamped(to: segments.indices) ?? segments.indices]
    }
}

// MARK: - Errors

/// An error that prevents an input from being used.
public enum InputError: Error, Sendable {
    /// The file is not a bundle, or the bundle is damaged.
    case bundle(BundleError, String)
    /// An archive cannot be read.
    case archive(ArchiveError, String)
    /// A backup cannot be read.
    case backup(BackupError, String)
    /// The file is part of a backup, such as its manifest.
    case partOfBackup(String)
    /// The output would replace a part of the input.
    case wouldReplaceInput(String)
    /// No stores were found in a capture, possibly because of the included problem.
    case noStores(String, LocatedProblem)
    /// A single file is too large to be searched for a store.
    case tooLarge(String)
    /// A record of an input cannot be pseudonymized.
    case pseudonyms(PseudonymError, String)
    /// The input has a known format that is not read.
    case unread(UnreadFormat, String)
    /// The input has no supported format.
    case unrecognized(String)

    /// The path of the input.
    public var path: String {
        switch self {
        case .bundle(_, let path), .archive(_, let path), .backup(_, let path), .partOfBackup(let path),
            .wouldReplaceInput(let path), .noStores(let path, _), .tooLarge(let path), .pseudonyms(_, let path),
            .unread(_, let path), .unrecognized(let path):
            path
        }
    }

    /// A description of the error, with the path of the input.
    public var message: String {
        switch self {
        case .bundle(let error, let path): "\(path): \(error)"
        case .archive(let error, let path): "\(path): \(error)"
        case .backup(let error, let path): "\(path): \(error)"
        case .partOfBackup(let path): "\(path): B45 the file is part of a backup"
        case .wouldReplaceInput(let path): "cannot replace \(path): it is part of the input"
        case .noStores(let path, let problem):
            "\(path)\(problem.path.isEmpty ? "" : ": \(problem.path)"): \(problem.problem.text)"
        case .tooLarge(let path):
            "\(path): too-large: more than \(InputLimits.keyedArchiveSize >> 20) MiB, and its name is not that of a store"
        case .pseudonyms(let error, let path): "\(path): \(error)"
        case .unread(let format, let path): "\(path): not read: \(format.name)"
        case .unrecognized(let path): "\(path): no known store was found"
        }
    }

    /// Returns the problem that reports the error if the input contains no store and others are read, or `nil` if the error
    /// prevents all inputs from being read.
    fileprivate func absenceOfStores(label: String) -> LocatedProblem? {
        switch self {
        case .noStores(_, let problem):
            var problem = problem
            problem.problem.isLoss = true
            return problem
        case .unrecognized, .unread:
            let words = ["no known store was found", remedy].compactMap(\.self)
            return LocatedProblem(
                capture: label, path: "", problem: Problem("no-stores", words.joined(separator: "; "), isLoss: true))
        case .bundle, .archive, .backup, .partOfBackup, .wouldReplaceInput, .tooLarge, .pseudonyms: return nil
        }
    }

    /// The suggested next step for the user, or `nil` if there is none.
    public var remedy: String? {
        switch self {
        case .bundle(let error, _): error.remedy
        case .archive(let error, _): error.remedy
        case .backup(let error, _): error.remedy
        case .pseudonyms(let error, _): error.remedy
        case .partOfBackup: "pass the folder of the backup"
        case .wouldReplaceInput: "give the output another name"
        case .noStores: nil
        case .unread(let format, _): format.remedy
        case .tooLarge: "if it is a property list, pingferry inspect --max-size shows it"
        case .unrecognized: "pass the folder that was pulled from the device, with its Documents and Library folders"
        }
    }
}
