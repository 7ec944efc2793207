import Files

/// Where a command's result goes: a file that appears complete or not at all, or the standard output.
///
/// A class, because the writers of formats keep a closure that writes to it.
final class CommandOutput {
    private var file: AtomicOutput?
    /// What must not be read as input: the file under construction, and one that it will replace.
    let identities: Set<FileIdentity>

    /// - Parameter path: `-` for the standard output.
    init(path: String, replacing: Bool) throws {
        guard path != "-" else {
            identities = []
            return
        }
        let file = try AtomicOutput(path: path, replacing: replacing)
        identities = Set([file.identity, FileIdentity(path: path)].compactMap(\.self))
        self.file = consume file
    }

    func write(_ bytes: Span<UInt8>) throws {
        switch file {
        case .some(let file): try file.write(bytes)
        case .none: try StandardOutput.write(bytes)
        }
    }

    /// Gives the file its name; nothing for the standard output.
    func commit() throws {
        try file.take()?.commit()
    }
}
