import Files

/// The reason why a container, or a part of it, cannot be read.
public struct ContainerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The offset, in the file, of the frame or seek table that cannot be read.
    public let offset: Int
    /// The reason why the frame or seek table cannot be read.
    public let reason: FrameError

    /// Creates an error for the frame or seek table at `offset`.
    public init(at offset: Int, _ reason: FrameError) {
        self.offset = offset
        self.reason = reason
    }

    /// A description without the name of the file, such as `byte 8192: no zstd frame`.
    public var description: String {
        if case .file(let error) = reason { return error.description }
        return "byte \(offset): \(reason.text)"
    }

    /// A hint on how to resolve the error, or `nil` if no hint is available.
    public var remedy: String? {
        switch reason {
        case .noSeekTable, .badSeekTable, .truncated, .damaged, .noFrame, .unexpectedFrame, .missingArchiveEnd,
            .unexpectedBytes, .invalidHeader:
            "use another copy of the file, or read what is left of this one with convert --salvage"
        case .repacked: "unpack it with tar, and convert the files in its folder records"
        case .overLimit: "use another copy of the file; no bundle of this program exceeds the limit"
        case .file, .notZstd, .outOfMemory: nil
        }
    }
}

/// The reason why a frame of a container, such as the seek table, cannot be read.
///
/// ``ContainerError`` adds the position in the file.
public enum FrameError: Error, Sendable, Equatable {
    /// The file cannot be read.
    case file(FileError)
    /// The file does not start with the magic number of zstd.
    case notZstd
    /// The file has no seek table at its end.
    case noSeekTable
    /// The seek table is malformed for the given reason.
    case badSeekTable(String)
    /// There is no zstd frame at the expected position.
    case noFrame
    /// The file ends within the frame.
    case truncated
    /// zstd cannot decode the frame, or the checksum of the frame is wrong.
    case damaged(String)
    /// The frame is intact, but it is not a valid frame of a bundle.
    case unexpectedFrame(String)
    /// The frame does not start with a tar header as this program writes it.
    case invalidHeader(TarHeaderError)
    /// The frame does not contain exactly the member that its header describes.
    case unexpectedBytes
    /// Another program has unpacked the container and packed it again.
    case repacked
    /// The last frame is not the end of a tar archive.
    case missingArchiveEnd
    /// The number of bytes exceeds the given limit.
    case overLimit(Int)
    /// There is not enough memory for a decoder.
    case outOfMemory
}

extension FrameError {
    /// A short description for messages.
    var text: String {
        switch self {
        case .file(let error): error.description
        case .notZstd: "not a bundle (not zstd data)"
        case .noSeekTable:
            "no seek table at the end: not a bundle, cut short, or compressed again by another tool"
        case .badSeekTable(let how): "bad seek table (\(how))"
        case .noFrame: "no zstd frame"
        case .truncated: "the file ends within a zstd frame"
        case .damaged(let words): "damaged zstd frame (\(words))"
        case .unexpectedFrame(let how): "not a frame of a bundle (\(how))"
        case .invalidHeader(let error): error.text
        case .unexpectedBytes: "the frame is not exactly one tar member"
        case .repacked: "a bundle that another program packed again"
        case .missingArchiveEnd: "the end of the tar archive is missing"
        case .overLimit(let limit): "more than the limit of \(limit) bytes"
        case .outOfMemory: "not enough memory"
        }
    }
}

extension TarHeaderError {
    fileprivate var text: String {
        switch self {
        case .wrongLength: "no room for a tar header"
        case .wrongChecksum: "no tar header (its checksum is wrong)"
        case .notUstar: "not a POSIX ustar header"
        case .unsupportedType(let flag): "a tar member that is not a regular file (type \(flag))"
        case .invalidName: "a member name that is not allowed"
        case .invalidSize: "a tar header with a bad size"
        case .unexpectedField: "a tar header that this program does not write"
        }
    }
}
