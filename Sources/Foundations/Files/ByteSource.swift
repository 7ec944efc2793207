/// The bytes that a container is read from, by position: an open file, a part of a spool file, memory (tests and
/// fuzzers), or what is made of other bytes as it is read.
///
/// A class because one open file is shared by all the threads that read members from it; it has no mutable
/// state.
public final class ByteSource: Sendable {
    private enum Backing: ~Copyable, Sendable {
        case file(InputFile)
        case spool(SpoolFile, start: Int)
        case memory([UInt8])
        case made(any ByteMaking)
    }

    private let backing: Backing
    /// The number of bytes: of a file, when it was opened.
    public let count: Int

    /// Reads from an open file.
    public init(_ file: consuming InputFile) {
        count = file.size
        backing = .file(file)
    }

    /// Reads `count` bytes of a spool file from `start` on.
    public init(_ spool: SpoolFile, at start: Int, count: Int) {
        self.count = count
        backing = .spool(spool, start: start)
    }

    /// Reads from memory.
    public init(_ bytes: [UInt8]) {
        count = bytes.count
        backing = .memory(bytes)
    }

    /// Reads bytes that are made when they are asked for.
    public init(_ maker: any ByteMaking) {
        count = maker.count
        backing = .made(maker)
    }

    /// Appends bytes from `offset` on to `output`, until it is full or the source ends.
    public func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FileError) {
        switch backing {
        case .file(let file):
            try file.read(at: offset, into: &output)
        case .spool(let file, let start):
            guard (0..<count).contains(offset) else { return }
            try file.read(at: start + offset, upTo: count - offset, into: &output)
        case .made(let maker):
            guard (0..<count).contains(offset) else { return }
            try maker.read(at: offset, into: &output)
        case .memory(let bytes):
            guard (0..<bytes.count).contains(offset) else { return }
            output.append(asMuchAsFitsOf: bytes.span.extracting(offset...))
        }
    }

    /// Whether a file has the size and the time of modification that it had when it was opened; other bytes do not change.
    /// - Parameter isAtItsPath: whether its path must still lead to it, too.
    public func isUnchanged(isAtItsPath: Bool = false) throws(FileError) -> Bool {
        switch backing {
        case .file(let file): try file.isUnchanged() && (!isAtItsPath || file.isStillAtItsPath)
        case .spool: true
        case .memory: true
        case .made(let maker): try maker.isUnchanged(isAtItsPath: isAtItsPath)
        }
    }

    /// At most `count` bytes from `offset` on; fewer only at the end.
    ///
    /// The caller bounds `count`.
    public func bytes(at offset: Int, count: Int) throws(FileError) -> [UInt8] {
        try [UInt8](capacity: count) { output throws(FileError) in
            try read(at: offset, into: &output)
        }
    }
}

extension OutputSpan<UInt8> {
    /// Appends bytes until it is full.
    /// - Returns: how many were appended.
    @discardableResult
    public mutating func append(asMuchAsFitsOf bytes: Span<UInt8>) -> Int {
        bytes.withUnsafeBufferPointer { bytes in
            withUnsafeMutableBufferPointer { buffer, initialized in
                let free = UnsafeMutableBufferPointer(rebasing: buffer[initialized...])
                let count = free.initialize(fromContentsOf: bytes.prefix(free.count))
                initialized += count
                return count
            }
        }
    }
}

/// Makes bytes of others when they are asked for, at any place: what is encrypted is decrypted so.
public protocol ByteMaking: Sendable {
    /// How many bytes there are.
    var count: Int { get }

    /// Appends bytes from `offset` on to `output`, until it is full or the last one is made.
    /// - Parameter offset: below ``count``.
    func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FileError)

    /// Whether the bytes that these are made of are what they were when they were opened.
    /// - Parameter isAtItsPath: whether the path of a file must still lead to it, too.
    func isUnchanged(isAtItsPath: Bool) throws(FileError) -> Bool
}
