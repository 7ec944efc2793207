import Bytes
import CFiles

/// Several files that are read as one, each behind the other.
///
/// ```swift
/// let joined = ByteSource(try JoinedFiles([first, second]))
/// ```
public final class JoinedFiles: ByteMaking {
    /// One of the files.
    private final class Part: Sendable {
        let file: InputFile
        /// The offset of its first byte.
        let start: Int
        /// The offset behind its last byte.
        var end: Int { start + file.size }

        init(_ file: consuming InputFile, at start: Int) {
            self.file = file
            self.start = start
        }
    }

    private let parts: [Part]

    /// Opens the files, each of which stays open.
    /// - Throws: `FileError`, as `InputFile`.
    public init(_ paths: [String]) throws(FileError) {
        cfiles_allow_many_open_files()
        var parts: [Part] = []
        for path in paths { parts.append(Part(try InputFile(path: path), at: parts.last?.end ?? 0)) }
        self.parts = parts
    }

    /// How many bytes all files have together.
    public var count: Int { parts.last?.end ?? 0 }

    /// The size of each file when it was opened.
    public var sizes: [Int] { parts.map { $0.file.size } }

    /// Which file each of them is.
    public var identities: [FileIdentity] { parts.map { $0.file.identity } }

    /// The number of the file, from 0, in which a byte stands, and where in it; nil beyond the end.
    public func place(of offset: Int) -> (file: Int, offset: Int)? {
        guard (0..<count).contains(offset) else { return nil }
        let file = parts.indices.firstSorted { parts[$0].end > offset }
        return (file, offset - parts[file].start)
    }

    /// Whether each file is what it was when it was opened.
    public func isUnchanged(isAtItsPath: Bool) throws(FileError) -> Bool {
        for part in parts {
            guard try part.file.isUnchanged(), !isAtItsPath || part.file.isStillAtItsPath else { return false }
        }
        return true
    }

    /// Appends bytes from `offset` on. A file that has become shorter ends what can be read there; one that has grown has the
    /// bytes that it had.
    public func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FileError) {
        var offset = offset
        while !output.isFull, let place = place(of: offset) {
            let part = parts[place.file]
            let wanted = min(part.end - offset, output.freeCapacity)
            guard try part.file.read(at: place.offset, upTo: wanted, into: &output) == wanted else { return }
            offset += wanted
        }
    }
}
