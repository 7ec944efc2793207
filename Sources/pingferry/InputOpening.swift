import Bundle
import Capture
import Files
import Parallel

/// Finds out what the given paths are and opens them.
struct InputOpening {
    let label: String?
    let limit: JobLimit
    var excluded: Set<FileIdentity> = []
    var isSalvage = false

    /// Opens all inputs.
    /// - Throws: ``Failure`` for the first that is missing, unreadable, damaged, or nothing that is known.
    func open(_ paths: [String]) async throws -> [CaptureInput] {
        var inputs: [CaptureInput] = []
        for path in paths { inputs.append(try await open(path)) }
        return inputs
    }

    private func open(_ path: String) async throws -> CaptureInput {
        if path == "-" {
            throw Failure(status: .noInput, message: "standard input cannot be read as a capture")
        }
        let label = label ?? CapturedFolder.lastPart(of: path)
        if let identity = FileIdentity(path: path), excluded.contains(identity) { throw Self.isOutput(path) }
        do {
            let capture = try await CapturedFolder(path: path, label: label, leavingOut: excluded, limit: limit)
            if let store = capture.leftOutStore { throw Self.isOutput("\(path)/\(store)") }
            guard !capture.stores.isEmpty || capture.isIncomplete else { throw Self.nothingKnown(path) }
            return .folder(capture)
        } catch let error as FileError where error.isNotAFolder {
            return try openFile(path, label: label)
        }
    }

    private func openFile(_ path: String, label: String) throws -> CaptureInput {
        if try !Self.isZstd(path) {
            if let capture = try CapturedFolder(file: path, label: label) { return .folder(capture) }
            // The first bytes of a bundle may be what is damaged.
            guard isSalvage else { throw Self.nothingKnown(path) }
        }
        return isSalvage ? .salvage(try SalvagedBundle(path: path, label: label)) : .bundle(try Self.bundle(path))
    }

    /// Opens a bundle; a fault names the file.
    static func bundle(_ path: String) throws -> BundleReader {
        try naming(path) { try BundleReader(path: path) }
    }

    /// Puts the name of a bundle in front of what is wrong with it.
    static func naming<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as BundleError {
            throw named(error, path)
        }
    }

    /// A fault of a bundle with the name of its file.
    static func named(_ error: BundleError, _ path: String) -> Failure {
        let failure = Failure(error) ?? Failure(status: .badData, message: "\(error)")
        // What the operating system refused names the file already.
        if case .container(let error) = error, case .file = error.reason { return failure }
        return Failure(status: .badData, message: "\(path): \(failure.message)", remedy: failure.remedy)
    }

    private static func isZstd(_ path: String) throws -> Bool {
        let file = try InputFile(path: path)
        let start = try [UInt8](capacity: 4) { output in _ = try file.read(at: 0, into: &output) }
        return start == [0x28, 0xB5, 0x2F, 0xFD]
    }

    private static func isOutput(_ path: String) -> Failure {
        Failure(
            status: .cannotCreate, message: "cannot replace \(path): it is part of the input",
            remedy: "give the output another name")
    }

    private static func nothingKnown(_ path: String) -> Failure {
        Failure(
            status: .badData, message: "\(path): no store that is known",
            remedy: "give the folder that was pulled from the device, with its Documents and Library folders")
    }
}
