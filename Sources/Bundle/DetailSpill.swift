import Files
import Glibc

/// Lines that are stored until all records of a bundle have been written.
///
/// If there are many lines, they are moved from memory to an unnamed file.
public struct DetailSpill: Sendable {
    /// The number of lines.
    public private(set) var count = 0
    private let folder: String
    private let bufferLimit: Int
    private var file: SpoolFile?
    /// The size of the file in bytes.
    ///
    /// The file always contains whole lines.
    private var fileSize = 0
    private var buffer: [UInt8] = []

    /// The size, in bytes, of the header of each line, which contains the length and the tag of the line.
    private static let headerSize = 16

    /// Creates an empty list that moves lines to a file in `folder` when `bufferLimit` bytes are in memory.
    public init(folder: String, bufferLimit: Int = 1 << 20) {
        self.folder = folder
        self.bufferLimit = bufferLimit
    }

    /// Adds a line and its tag, and returns the position of the line for ``entry(at:)``.
    ///
    /// `line` has no line feed. `tag` is a number that is stored with the line.
    @discardableResult
    public mutating func append(_ line: [UInt8], tag: Int = 0) throws(FileError) -> Int {
        if buffer.count >= bufferLimit { try flush() }
        let position = fileSize + buffer.count
        for number in [line.count, tag] {
            for shift in stride(from: 0, to: 64, by: 8) { buffer.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        buffer += line
        count += 1
        return position
    }

    /// Returns the line and the tag at `position`, which ``append(_:tag:)`` returned.
    public func entry(at position: Int) throws(FileError) -> (line: [UInt8], tag: Int) {
        let header = try bytes(at: position, count: Self.headerSize)
        let line = try bytes(at: position + Self.headerSize, count: Self.number(in: header, at: 0))
        return (line, Self.number(in: header, at: 8))
    }

    /// Calls `body` with each line and its tag, in order.
    public func forEach(_ body: (_ line: ArraySlice<UInt8>, _ tag: Int) throws -> Void) throws {
        var window: [UInt8] = []
        var position = 0
        var next = 0
        let end = fileSize + buffer.count
        while true {
            let left = window.count - position
            let length = left < Self.headerSize ? 0 : Self.number(in: window, at: position)
            if left >= Self.headerSize, left - Self.headerSize >= length {
                let start = position + Self.headerSize
                try body(window[start..<start + length], Self.number(in: window, at: position + 8))
                position = start + length
            } else {
                guard next < end else { return }
                let missing = max(bufferLimit, Self.headerSize + length) - left
                // A read must not cross the end of the file, because the following bytes are in memory.
                let stop = next < fileSize ? min(fileSize, next + missing) : min(end, next + missing)
                window.removeFirst(position)
                window += try bytes(at: next, count: stop - next)
                (position, next) = (0, stop)
            }
        }
    }

    private mutating func flush() throws(FileError) {
        let file: SpoolFile
        if let present = self.file { file = present } else { file = try SpoolFile(in: folder) }
        self.file = file
        try file.write(buffer.span, at: fileSize)
        fileSize += buffer.count
        buffer.removeAll(keepingCapacity: true)
    }

    /// Returns `count` bytes at `position`.
    ///
    /// The bytes must be either all in the file or all in memory.
    private func bytes(at position: Int, count: Int) throws(FileError) -> [UInt8] {
        guard position < fileSize, let file else {
            let start = position - fileSize
            return Array(buffer[start..<start + count])
        }
        let bytes = try [UInt8](capacity: count) { output throws(FileError) in
            try file.read(at: position, upTo: count, into: &output)
        }
        guard bytes.count == count else { throw FileError(.spool, folder, code: EIO) }
        return bytes
    }

    private static func number(in bytes: [UInt8], at offset: Int) -> Int {
        (0..<8).reversed().reduce(0) { $0 << 8 | Int(bytes[offset + $1]) }
    }
}
