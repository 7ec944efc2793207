import ArgumentParser
import Bundle
import CLibrary
import Console
import Files

/// The output of a command: a file, the volumes of a bundle, a pipe, a device, or standard output.
///
/// Files and volumes appear complete or not at all. The type is a class because the writers of formats keep closures
/// that write to the output.
final class CommandOutput {
    private let path: String
    private let isSplitIntoVolumes: Bool
    private var file: AtomicOutput?
    private var volumeWriter: VolumeWriter?
    private let stream: StreamOutput?
    /// The rewriter that escapes unprintable characters, or `nil` if the output is not a terminal.
    private var terminalRewriter: PrintableJSON?
    /// The running hash of the written bytes, or `nil` if no hash is needed.
    private let runningHash: RunningHash?
    /// Whether nothing is written.
    private var isRehearsal = false
    /// The number of bytes passed to ``write(_:)``.
    private(set) var byteCount = 0
    /// The volumes that were written, or an empty array if the output is not split.
    private(set) var volumes: [VolumeWriter.Volume] = []
    /// The files that must not be read as input, which are the files being written and the files that they replace.
    let identities: Set<FileIdentity>

    /// Opens an output that is not split into volumes, or standard output if `path` is `-`.
    init(path: String, replacing: Bool, isHashed: Bool = false) throws {
        self.path = path
        isSplitIntoVolumes = false
        runningHash = isHashed ? RunningHash() : nil
        let stream = path != "-" ? try StreamOutput(path: path) : nil
        let isFile = stream == nil && path != "-"
        let isTerminal =
            switch stream {
            case .some(let stream): stream.isTerminal
            case .none: !isFile && StandardOutput.isTerminal
            }
        terminalRewriter = isTerminal ? PrintableJSON() : nil
        self.stream = consume stream
        guard isFile else {
            identities = []
            return
        }
        let file = try AtomicOutput(path: path, replacing: replacing)
        identities = file.identities
        self.file = consume file
    }

    /// Creates an output that only counts the bytes that would be written to `path`.
    init(rehearsing path: String) {
        self.path = path
        isSplitIntoVolumes = false
        runningHash = nil
        stream = nil
        terminalRewriter = nil
        identities = []
        isRehearsal = true
    }

    /// Opens an output that is split into volumes.
    init(path: String, volumes size: VolumeSize, permissions: FilePermissions, replacing: Bool) throws {
        self.path = path
        isSplitIntoVolumes = true
        // Volumes are always hashed for the list of volumes.
        runningHash = nil
        stream = nil
        let writer = try VolumeWriter(path: path, size: size, replacing: replacing, permissions: permissions.mode)
        identities = writer.identities
        volumeWriter = consume writer
    }

    var isTerminal: Bool { terminalRewriter != nil }

    /// Sets the permissions of the file, or throws a usage error if the output is not a file.
    func setPermissions(_ permissions: FilePermissions) throws {
        switch file {
        case .some(let file): try file.setPermissions(permissions.mode)
        case .none: throw ValidationError("--mode requires an output that is a file")
        }
    }

    /// Writes bytes, with unprintable characters escaped if the output is a terminal.
    func write(_ bytes: Span<UInt8>) throws {
        byteCount += bytes.count
        guard !isRehearsal else { return }
        runningHash?.update(bytes)
        if isSplitIntoVolumes {
            // The writer is removed from the property during the call. An error then destroys the writer, which removes
            // its incomplete files.
            guard var writer = volumeWriter.take() else { preconditionFailure("nothing is written after an error") }
            try writer.write(bytes)
            volumeWriter = consume writer
            return
        }
        switch file {
        case .some(let file): try file.write(bytes)
        case .none:
            guard let shown = terminalRewriter?.output(for: bytes) else { return try writeToStream(bytes) }
            try writeToStream(shown.span)
        }
    }

    private func writeToStream(_ bytes: Span<UInt8>) throws {
        switch stream {
        case .some(let stream): try stream.write(bytes)
        case .none: try StandardOutput.write(bytes)
        }
    }

    /// Completes the output, so that its files appear under their names.
    func commit() throws {
        try file.take()?.commit()
        if let written = try volumeWriter.take()?.commit() { volumes = written }
    }

    /// The names and hashes of the written files, or of the stream, for a receipt.
    ///
    /// Volumes are always hashed. The array is empty for any other output unless a hash was requested with `isHashed`.
    var hashedFiles: [Receipt.File] {
        guard let runningHash else {
            return volumes.map { Receipt.File(name: Path.lastName(of: $0.path), sha256: $0.sha256) }
        }
        return [Receipt.File(name: path == "-" ? "stdout" : Path.lastName(of: path), sha256: runningHash.value)]
    }
}

/// The permissions of an output file, given as octal digits such as `0640`.
struct FilePermissions: ExpressibleByArgument, Equatable {
    let mode: mode_t

    /// The permissions of a file that only its owner can read and write.
    static let ownerOnly = Self(mode: S_IRUSR | S_IWUSR)

    private init(mode: mode_t) { self.mode = mode }

    /// Parses octal digits, or returns `nil` unless the owner can read and write the file and no one can execute it.
    init?(argument: String) {
        let digits = argument.utf8
        guard (3...4).contains(digits.count), digits.first != UInt8(ascii: "+"),
            let mode = mode_t(argument, radix: 8), mode & ~0o066 == Self.ownerOnly.mode
        else { return nil }
        self.mode = mode
    }

    var defaultValueDescription: String { "0600" }
}
