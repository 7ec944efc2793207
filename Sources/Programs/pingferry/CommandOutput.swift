import ArgumentParser
import Bundle
import Console
import Files
import JSONText

/// The output of a command: a file or volumes, which appear complete or not at all, a pipe or a device, or the standard output.
///
/// It is a class because writers of formats keep closures that write to it.
final class CommandOutput {
    private let path: String
    private let isSplit: Bool
    private var file: AtomicOutput?
    private var writer: VolumeWriter?
    private let stream: StreamOutput?
    /// Rewrites JSON for a terminal, so that no byte of a capture controls the terminal. `nil` if the output is not a terminal.
    private var rewriter: PrintableJSON?
    /// The hash of the bytes that are written, if it was asked for.
    private let hash: RunningHash?
    /// The volumes that were written. Empty if the output is not divided.
    private(set) var volumes: [VolumeWriter.Volume] = []
    /// The files that must not be read as input: the files under construction, and the files that they will replace.
    let identities: Set<FileIdentity>

    /// Opens an output in one piece.
    ///
    /// - Parameters:
    ///   - path: The path, or `-` for the standard output.
    ///   - replacing: Whether an existing file may be replaced.
    ///   - isHashed: Whether ``hashedFiles`` is needed.
    init(path: String, replacing: Bool, isHashed: Bool = false) throws {
        self.path = path
        isSplit = false
        hash = isHashed ? RunningHash() : nil
        let stream = path != "-" ? try StreamOutput(path: path) : nil
        let isFile = stream == nil && path != "-"
        let isTerminal =
            switch stream {
            case .some(let stream): stream.isTerminal
            case .none: !isFile && StandardOutput.isTerminal
            }
        rewriter = isTerminal ? PrintableJSON() : nil
        self.stream = consume stream
        guard isFile else {
            identities = []
            return
        }
        let file = try AtomicOutput(path: path, replacing: replacing)
        identities = file.identities
        self.file = consume file
    }

    /// Opens volumes.
    init(path: String, volumes size: VolumeSize, permissions: FilePermissions, replacing: Bool) throws {
        self.path = path
        isSplit = true
        // Volumes are always hashed, for their list.
        hash = nil
        stream = nil
        let writer = try VolumeWriter(path: path, size: size, replacing: replacing, permissions: permissions.mode)
        identities = writer.identities
        self.writer = consume writer
    }

    /// Whether the output is a terminal.
    var isTerminal: Bool { rewriter != nil }

    /// Sets the permissions of the file.
    ///
    /// - Throws: `ValidationError` if the output is not a file.
    func setPermissions(_ permissions: FilePermissions) throws {
        switch file {
        case .some(let file): try file.setPermissions(permissions.mode)
        case .none: throw ValidationError("--mode sets the permissions of a file, and this output is not a file")
        }
    }

    /// Writes bytes. JSON for a terminal is rewritten so that unprintable characters are visible.
    func write(_ bytes: Span<UInt8>) throws {
        hash?.take(bytes)
        if isSplit {
            // The writer is taken out, so that after an error it and the files that it has begun are gone.
            guard var writer = writer.take() else { preconditionFailure("nothing is written after an error") }
            try writer.write(bytes)
            self.writer = consume writer
            return
        }
        switch file {
        case .some(let file): try file.write(bytes)
        case .none:
            var shown: [UInt8] = []
            guard rewriter?.rewrite(bytes, to: &shown) != nil else { return try writeToStream(bytes) }
            try writeToStream(shown.span)
        }
    }

    private func writeToStream(_ bytes: Span<UInt8>) throws {
        switch stream {
        case .some(let stream): try stream.write(bytes)
        case .none: try StandardOutput.write(bytes)
        }
    }

    /// Gives files their names.
    func commit() throws {
        try file.take()?.commit()
        if let written = try writer.take()?.commit() { volumes = written }
    }

    /// The name and the hash of each file, or of the stream, for a receipt.
    ///
    /// Volumes are always hashed. They appear after ``commit()``. Any other output is hashed if this was asked for.
    var hashedFiles: [Receipt.File] {
        guard let hash else {
            return volumes.map { Receipt.File(name: Path.lastName(of: $0.path), sha256: $0.sha256) }
        }
        return [Receipt.File(name: path == "-" ? "stdout" : Path.lastName(of: path), sha256: hash.value)]
    }
}

extension VolumeWriter.Volume {
    /// The volume in `--json`.
    var json: [UInt8] {
        var object = CanonicalObject()
        object.set("bytes", integer: bytes)
        object.set("path", string: path)
        object.set("sha256", string: sha256.hex)
        return object.bytes
    }
}
