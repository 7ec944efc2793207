import ArgumentParser
import Bundle
import Capture
import Console
import Files
import JSONText

/// Where a bundle goes: a file or volumes that appear complete or not at all, a pipe, or the standard output.
///
/// A class, because what makes the bundle keeps a closure that writes to it.
final class BundleOutput {
    private let path: String
    private let stream: CommandOutput?
    private let hash: RunningHash?
    private var writer: VolumeWriter?
    /// The files that must not be read as input.
    let identities: Set<FileIdentity>
    /// The volumes that were written; none of a bundle in one piece.
    private(set) var volumes: [VolumeWriter.Volume] = []

    /// - Parameters:
    ///   - path: `-` for the standard output.
    ///   - size: that of volumes; nil for a bundle in one piece.
    ///   - permissions: the permissions of the files.
    ///   - replacing: whether files of that name may be replaced.
    ///   - isHashed: whether a receipt asks for the hashes of what is written.
    /// - Throws: `ValidationError` for a terminal, `FileError`.
    init(
        path: String, volumes size: VolumeSize?, permissions: FilePermissions, replacing: Bool, isHashed: Bool
    ) throws {
        self.path = path
        // Volumes are hashed for their list anyway.
        hash = isHashed && size == nil ? RunningHash() : nil
        if let size {
            let writer = try VolumeWriter(
                path: path, size: size, replacing: replacing, permissions: permissions.mode)
            identities = writer.identities
            self.writer = consume writer
            stream = nil
            return
        }
        let stream = try CommandOutput(path: path, replacing: replacing)
        guard !stream.isTerminal else { throw Self.terminalError }
        if permissions != .ownerOnly { try stream.setPermissions(permissions) }
        identities = stream.identities
        self.stream = stream
    }

    /// Why a bundle does not go to a terminal.
    static var terminalError: ValidationError {
        ValidationError("a bundle is nothing for a terminal: send it to a file or through a pipe")
    }

    /// Writes bytes; all of them, or an error.
    func write(_ bytes: Span<UInt8>) throws {
        hash?.take(bytes)
        if let stream { return try stream.write(bytes) }
        // Taken out: after an error it is gone, and with it what it has written.
        guard var writer = self.writer.take() else { return }
        try writer.write(bytes)
        self.writer = consume writer
    }

    /// Gives files their names.
    /// - Returns: what a receipt tells of each file, or of the stream.
    func commit() throws -> [Receipt.File] {
        try stream?.commit()
        if let volumes = try writer.take()?.commit() {
            self.volumes = volumes
            return volumes.map { Receipt.File(name: Path.lastName(of: $0.path), sha256: $0.sha256) }
        }
        let name = path == "-" ? "stdout" : Path.lastName(of: path)
        return hash.map { [Receipt.File(name: name, sha256: $0.value)] } ?? []
    }
}

extension VolumeWriter.Volume {
    /// The volume for machines.
    var json: [UInt8] {
        var object = CanonicalObject()
        object.set("bytes", integer: bytes)
        object.set("path", string: path)
        object.set("sha256", string: sha256.hex)
        return object.bytes
    }
}
