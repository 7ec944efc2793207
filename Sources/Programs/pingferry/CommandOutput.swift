import ArgumentParser
import Bundle
import CLibrary
import Capture
import Console
import Files

/// The checks of the location of an output.
enum OutputLocation {
    /// The names of the files that list the contents of an iOS backup.
    private static let manifestNames = ["Manifest.db", "Manifest.mbdb"]

    /// Returns the elements of `outputs` that exist in one of the captures `inputs`, except for bundles, which an earlier
    /// command can have written there.
    ///
    /// Such a file is evidence, even if it belongs to no store. In a backup, no file can be replaced.
    ///
    /// Source: "iOS backups", section 2.3.
    static func filesOfCaptures(among outputs: [String], inputs: [String]) -> [String] {
        let captures = inputs.compactMap { $0 == "-" ? nil : RealPath.of($0) }
        return outputs.filter { output in
            guard output != "-", let path = RealPath.of(output) else { return false }
            return captures.contains { capture in
                isInBackup(path, below: capture) || path.hasPrefix(prefix(of: capture)) && !isBundle(path)
            }
        }
    }

    /// Returns the beginning of the paths of all files in the folder `capture`.
    private static func prefix(of capture: String) -> String { capture == "/" ? capture : "\(capture)/" }

    private static func isBundle(_ path: String) -> Bool {
        guard let file = try? InputFile(path: path), let head = try? InputKind.head(of: ByteSource(file)) else {
            return false
        }
        if case .bundle = InputKind(head: head) { return true }
        return false
    }

    /// Returns whether a folder that contains `path` is a backup, and is the folder `capture` or is inside it.
    private static func isInBackup(_ path: String, below capture: String) -> Bool {
        let prefix = prefix(of: capture)
        var folder = Path.folder(of: path)
        while "\(folder)/".hasPrefix(prefix) {
            if manifestNames.contains(where: { FileIdentity(path: "\(folder)/\($0)") != nil }) { return true }
            guard folder != "/" else { return false }
            folder = Path.folder(of: folder)
        }
        return false
    }

    /// Prints a warning if `output` is inside a capture in `inputs`, because the next run would read the output.
    static func warnIfInsideCapture(_ output: String, inputs: [String], isQuiet: Bool) {
        guard !isQuiet, output != "-", let folder = RealPath.of(Path.folder(of: output)) else { return }
        for input in inputs where input != "-" {
            guard let capture = RealPath.of(input), "\(folder)/".hasPrefix(prefix(of: capture)) else { continue }
            StandardError.write("pingferry: \(output): the output is inside the capture \(input), and changes it")
            StandardError.write("hint: write the output to another folder")
            return
        }
    }
}

/// The journal files that SQLite stores beside a database.
///
/// If a journal file of a previous database remains, SQLite applies it to the new database and damages it.
struct DatabaseCompanions {
    /// The paths that journal files of the database have.
    let paths: [String]

    init(of database: String) { paths = ["-journal", "-wal", "-shm"].map { database + $0 } }

    /// The paths of the journal files that exist.
    var existingPaths: [String] { paths.filter { FileIdentity(path: $0) != nil } }

    /// Throws an error if a journal file exists.
    func requireAbsence() throws {
        guard let path = existingPaths.first else { return }
        throw CommandError(
            status: .cannotCreate, path: path, message: "belongs to another database and would damage the new one",
            remedy: "choose another name, or pass --force to remove the file")
    }

    func remove() throws {
        // A name that is too long for the file system is not the name of an existing file.
        for path in paths where unlink(path) != 0 && ![ENOENT, ENAMETOOLONG].contains(errno) {
            throw FileError(.remove, path)
        }
    }
}

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
