import ArgumentParser
import Console
import Files

/// Where a command's result goes: a file that appears complete or not at all, a pipe or a device, or the standard output.
///
/// A class, because the writers of formats keep a closure that writes to it.
final class CommandOutput {
    private var file: AtomicOutput?
    private let stream: StreamOutput?
    /// Where the bytes go to a terminal: what keeps them from steering it.
    private var rewriter: PrintableJSON?
    /// Whether the bytes go to a terminal.
    let isTerminal: Bool
    /// The files that must not be read as input: the one under construction, and the one that it will replace.
    let identities: Set<FileIdentity>

    /// - Parameters:
    ///   - path: `-` for the standard output.
    ///   - replacing: whether a file of that name may be replaced.
    init(path: String, replacing: Bool) throws {
        let stream = path != "-" ? try StreamOutput(path: path) : nil
        let isFile = stream == nil && path != "-"
        let isTerminal =
            switch stream {
            case .some(let stream): stream.isTerminal
            case .none: !isFile && StandardOutput.isTerminal
            }
        rewriter = isTerminal ? PrintableJSON() : nil
        self.isTerminal = isTerminal
        self.stream = consume stream
        guard isFile else {
            identities = []
            return
        }
        let file = try AtomicOutput(path: path, replacing: replacing)
        identities = file.identities
        self.file = consume file
    }

    /// Sets the permissions of the file.
    /// - Throws: `ValidationError` if the output is not a file.
    func setPermissions(_ permissions: FilePermissions) throws {
        switch file {
        case .some(let file): try file.setPermissions(permissions.mode)
        case .none: throw ValidationError("--mode sets the permissions of a file, and this output is not a file")
        }
    }

    /// Writes bytes: a file and a pipe get them as they are, a terminal gets JSON that shows what cannot be seen.
    func write(_ bytes: Span<UInt8>) throws {
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

    /// Gives the file its name; nothing for other outputs.
    func commit() throws {
        try file.take()?.commit()
    }
}
