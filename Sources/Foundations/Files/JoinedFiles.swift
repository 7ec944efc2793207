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

        init(_ file: consuming InputFile) { self.file = file }
    }

    private let parts: [Part]
    /// Where each of them begins, and where the last one ends.
    private let starts: [Int]

    /// Opens the files, each of which stays open.
    /// - Throws: `FileError`, as `InputFile`.
    public init(_ paths: [String]) throws(FileError) {
        cfiles_allow_many_open_files()
        var parts: [Part] = []
        var starts = [0]
        for path in paths {
            let part = Part(try InputFile(path: path))
            parts.append(part)
            starts.append((starts.last ?? 0) + part.file.size)
        }
        self.parts = parts
        self.starts = starts
    }

    /// How many bytes all files have together.
    public var count: Int { starts.last ?? 0 }

    /// The size of each file when it was opened.
    public var sizes: [Int] { parts.map { $0.file.size } }

    /// Which file each of them is.
    public var identities: [FileIdentity] { parts.map { $0.file.identity } }

    /// The number of the file, from 0, in which a byte stands, and where in it; nil beyond the end.
    public func place(of offset: Int) -> (file: Int, offset: Int)? {
        guard (0..<count).contains(offset) else { return nil }
        let file = (0..<parts.count).firstSorted { starts[$0 + 1] > offset }
        return (file, offset - starts[file])
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
            let rest = starts[place.file + 1] - offset
            let wanted = min(rest, output.freeCapacity)
            guard try parts[place.file].file.read(at: place.offset, upTo: rest, into: &output) == wanted else { return }
            offset += wanted
        }
    }
}
