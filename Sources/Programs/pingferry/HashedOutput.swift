import Bundle
import Capture
import Files

/// A new file that appears complete or not at all, and what a receipt tells of it.
struct HashedOutput: ~Copyable {
    private let file: AtomicOutput
    private let hash: RunningHash?

    /// - Parameter isHashed: whether somebody asks for the hash.
    init(_ file: consuming AtomicOutput, isHashed: Bool) {
        self.file = file
        hash = isHashed ? RunningHash() : nil
    }

    /// The files that must not be read as input.
    var identities: Set<FileIdentity> { file.identities }

    /// Appends bytes; all of them, or an error.
    func write(_ bytes: Span<UInt8>) throws(FileError) {
        hash?.take(bytes)
        try file.write(bytes)
    }

    /// Gives the file its name.
    /// - Returns: what a receipt tells of each file that there is now; nothing where nobody asks.
    consuming func commit() throws(FileError) -> [Receipt.File] {
        let (name, sha256) = (CapturedFolder.lastPart(of: file.path), hash?.value)
        try file.commit()
        return sha256.map { [Receipt.File(name: name, sha256: $0)] } ?? []
    }
}
