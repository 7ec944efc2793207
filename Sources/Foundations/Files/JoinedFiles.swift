import Bytes
import CFiles

/// A sequence of files that is read like one concatenated file.
///
/// ```swift
/// let joined = ByteSource(try JoinedFiles([first, second]))
/// ```
public final class JoinedFiles: ByteProvider {
    private final class Part: Sendable {
        let file: InputFile
        /// The offset of the file in the sequence.
        let start: Int
        var end: Int { start + file.size }

        init(_ file: consuming InputFile, at start: Int) {
            self.file = file
            self.start = start
        }
    }

    private let parts: [Part]

    /// Opens the files.
    public init(_ paths: [String]) throws(FileError) {
        cfiles_raise_open_file_limit()
        var parts: [Part] = []
        for path in paths { parts.append(Part(try InputFile(path: path), at: parts.last?.end ?? 0)) }
        self.parts = parts
    }

    /// The total size of the files, in bytes.
    public var count: Int { parts.last?.end ?? 0 }

    /// The size of each file when it was opened.
    public var sizes: [Int] { parts.map { $0.file.size } }

    /// The device and inode of each file.
    public var identities: [FileIdentity] { parts.map { $0.file.identity } }

    /// Returns the index of the file that contains the byte at `offset`, and the offset of the byte in that file.
    ///
    /// Returns `nil` if `offset` is negative or beyond the end.
    public func location(of offset: Int) -> (file: Int, offset: Int)? {
        guard (0..<count).contains(offset) else { return nil }
        let file = parts.indices.partitioningIndex { parts[$0].end > offset }
        return (file, offset - parts[file].start)
    }

    /// Returns whether all files are unchanged since they were opened.
    public func isUnchanged(checkingPath checksPath: Bool) throws(FileError) -> Bool {
        for part in parts {
            guard try part.file.isUnchanged(), !checksPath || part.file.isStillAtItsPath else { return false }
        }
        return true
    }

    /// Appends the bytes from `offset` onward to `output`, until `output` is full or the last file ends.
    ///
    /// Reading stops at the end of a file that was truncated meanwhile. Bytes that were appended to a file are ignored.
    public func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FileError) {
        var offset = offset
        while !output.isFull, let location = location(of: offset) {
            let part = parts[location.file]
            let requested = min(part.end - offset, output.freeCapacity)
            guard try part.file.read(at: location.offset, upTo: requested, into: &output) == requested else { return }
            offset += requested
        }
    }
}
