import Bundle
import Capture
import Console
import Files
import Parallel
import Telemetry

/// Finds out what the given paths are and opens them.
struct InputOpening {
    let label: String?
    let limit: JobLimit
    var excluded: Set<FileIdentity> = []
    var isSalvage = false
    let spool: Spool

    /// Opens all inputs.
    /// - Throws: ``Failure`` for the first that is missing, unreadable, damaged, or nothing that is known.
    func open(_ paths: [String]) async throws -> [CaptureInput] {
        var inputs: [CaptureInput] = []
        for path in paths { inputs.append(try await open(path)) }
        return inputs
    }

    private func open(_ path: String) async throws -> CaptureInput {
        let label = label ?? CapturedFolder.lastPart(of: path)
        if path == "-" { return try await openStandardInput(label: label) }
        if let identity = FileIdentity(path: path), excluded.contains(identity) { throw Self.isOutput(path) }
        do {
            let capture = try await CapturedFolder(
                path: path, label: label, leavingOut: excluded, spool: spool, limit: limit)
            if let store = capture.leftOutStore { throw Self.isOutput("\(path)/\(store)") }
            return .folder(try Self.withStores(capture, path))
        } catch let error as FileError where error.isNotAFolder {
            return try await openFile(path, label: label)
        }
    }

    private func openFile(_ path: String, label: String) async throws -> CaptureInput {
        let source = ByteSource(try InputFile(path: path))
        // First, for a log can be compressed as archives and bundles are.
        if let log = RequestLogKind(source, named: path) {
            let name = CapturedFolder.lastPart(of: path)
            return .log(RequestLog(source, kind: log, label: label, path: name))
        }
        let kind = InputKind(head: try InputKind.head(of: source))
        if case .other = kind, let capture = try CapturedFolder(file: path, label: label) { return .folder(capture) }
        return try await open(kind, .source(source), path, label: label)
    }

    /// An archive in which the members come one after another is read as it comes; all else is spooled first.
    private func openStandardInput(label: String) async throws -> CaptureInput {
        let head = try Self.standardInputHead()
        if let log = RequestLogKind(ByteSource(head), named: nil) {
            return .log(RequestLog(try spool.takeStandardInput(head: head), kind: log, label: label, path: "-"))
        }
        let kind = InputKind(head: head)
        switch kind {
        // What may be a bundle that was packed again is looked through first.
        case .archive where !InputKind.isReadFromTheEnd(head: head) && !isSalvage:
            return try await open(kind, .standardInput(head: head), Self.standardInput, label: label)
        case .archive, .bundle, .damagedZstd:
            let source = try spool.takeStandardInput(head: head)
            return try await open(kind, .source(source), Self.standardInput, label: label)
        case .other: throw Self.nothingKnown(Self.standardInput)
        }
    }

    /// Opens what is neither a folder nor a single store file.
    private func open(
        _ kind: InputKind, _ bytes: ArchiveBytes, _ path: String, label: String
    ) async throws -> CaptureInput {
        switch (kind, bytes) {
        case (.archive, .source(let source)) where try isSalvage && isPackedBundle(source, path):
            return .salvage(SalvagedBundle(source, path: path, label: label))
        case (.archive, _): return .folder(try await archive(bytes, path, label: label))
        case (.other, _) where !isSalvage && InputKind.isArchive(named: path):
            return .folder(try await archive(bytes, path, label: label))
        // The first bytes of a bundle may be what is damaged.
        case (_, .source(let source)) where isSalvage: return .salvage(SalvagedBundle(source, path: path, label: label))
        case (.bundle, .source(let source)), (.damagedZstd, .source(let source)):
            return .bundle(try Self.naming(path) { try BundleReader(source, path: path) })
        // Not even an archive of a store is looked into.
        case (_, .source(let source)) where source.count > CapturedFolder.largestArchive: throw Self.tooLarge(path)
        default: throw Self.nothingKnown(path)
        }
    }

    private func isPackedBundle(_ source: ByteSource, _ path: String) throws -> Bool {
        guard InputKind.isZstd(try InputKind.head(of: source)) else { return false }
        return try Self.naming(path) { try SalvagedBundle.isPacked(in: source) }
    }

    private func archive(_ bytes: ArchiveBytes, _ path: String, label: String) async throws -> CapturedFolder {
        do {
            let capture = try await CapturedFolder(archive: bytes, path: path, label: label, spool: spool, limit: limit)
            if capture.stores.isEmpty, let problem = capture.problems.first { throw Self.withoutStores(path, problem) }
            return try Self.withStores(capture, path)
        } catch let error as ArchiveError {
            let failure = Failure(error)
            // What the operating system refused names the file already.
            if case .file = error.reason { throw failure }
            throw Failure(status: .badData, message: "\(path): \(failure.message)", remedy: failure.remedy)
        }
    }

    /// A capture that has something to read, or something to report.
    private static func withStores(_ capture: CapturedFolder, _ path: String) throws -> CapturedFolder {
        guard !capture.stores.isEmpty || capture.isIncomplete else {
            throw capture.problems.first.map { withoutStores(path, $0) } ?? nothingKnown(path)
        }
        return capture
    }

    /// Says of a capture without stores what may be why.
    private static func withoutStores(_ path: String, _ problem: PlacedProblem) -> Failure {
        let place = problem.path.isEmpty ? "" : ": \(problem.path)"
        return Failure(status: .badData, message: "\(path)\(place): \(problem.problem.text)")
    }

    /// Opens a bundle, of the standard input in a private copy; a fault names the file.
    static func bundle(_ path: String) throws -> BundleReader {
        guard path == "-" else { return try naming(path) { try BundleReader(path: path) } }
        let head = try standardInputHead()
        // What cannot be a bundle is not worth a copy.
        guard InputKind(head: head).isBundle else {
            return try naming(standardInput) { try BundleReader(ByteSource(head), path: standardInput) }
        }
        let source = try Spool(folder: CommonOptions.temporaryFolder).takeStandardInput(head: head)
        return try naming(standardInput) { try BundleReader(source, path: standardInput) }
    }

    private static func standardInputHead() throws -> [UInt8] {
        try [UInt8](capacity: InputKind.headSize) { output in _ = try StandardInput.read(into: &output) }
    }

    /// Puts the name of a bundle in front of what is wrong with it.
    static func naming<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as BundleError {
            throw Failure(error, in: path)
        }
    }

    /// How a path is called in messages.
    static func name(of path: String) -> String { path == "-" ? standardInput : path }

    private static let standardInput = "standard input"

    private static func isOutput(_ path: String) -> Failure {
        Failure(
            status: .cannotCreate, message: "cannot replace \(path): it is part of the input",
            remedy: "give the output another name")
    }

    private static func tooLarge(_ path: String) -> Failure {
        Failure(
            status: .badData,
            message:
                "\(path): too-large: more than \(CapturedFolder.largestArchive >> 20) MiB, and no store by its name",
            remedy: "if it is a property list, pingferry inspect --max-size shows it")
    }

    private static func nothingKnown(_ path: String) -> Failure {
        Failure(
            status: .badData, message: "\(path): no store that is known",
            remedy: "give the folder that was pulled from the device, with its Documents and Library folders")
    }
}

extension InputKind {
    /// Whether it may be a bundle, whole or damaged.
    fileprivate var isBundle: Bool {
        switch self {
        case .bundle, .damagedZstd: true
        case .archive, .other: false
        }
    }
}
