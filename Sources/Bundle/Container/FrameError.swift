import Files

/// Why a frame of a container cannot be read; the seek table is its last frame.
///
/// Thrown by itself where no offset in a file is known: what cuts frames into members sees bytes alone.
public enum FrameError: Error, Sendable, Equatable {
    /// The file cannot be read.
    case file(FileError)
    /// The file does not begin as any zstd file does.
    case notZstd
    /// There is no seek table at the end of the file.
    case noSeekTable
    /// There is a seek table, but it is wrong. The text says what about it.
    case badSeekTable(String)
    /// There is no zstd frame where one must begin.
    case noFrame
    /// The bytes end before the frame does.
    case truncated
    /// zstd cannot decode the frame, or its checksum is wrong. The text is zstd's.
    case damaged(String)
    /// The frame is intact, but bundles have none like it. The text says what about it.
    case unexpectedFrame(String)
    /// The frame does not begin with a tar header of this format.
    case header(TarHeaderError)
    /// The contents of a tar member differ from its header, or bytes of another member follow.
    case unexpectedBytes
    /// The last frame is not the end of a tar archive.
    case noEnd
    /// Two members have this name.
    case duplicateName(String)
    /// There are more bytes than the caller's limit.
    case overLimit(Int)
    /// There is not enough memory for a decoder.
    case outOfMemory
}

extension FrameError {
    /// A few words for people.
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
        case .header(let error): error.text
        case .unexpectedBytes: "the frame is not exactly one tar member"
        case .noEnd: "the end of the tar archive is missing"
        case .duplicateName(let name): "a second member named \(name)"
        case .overLimit(let limit): "more than the limit of \(limit) bytes"
        case .outOfMemory: "not enough memory"
        }
    }
}

extension TarHeaderError {
    fileprivate var text: String {
        switch self {
        case .length: "no room for a tar header"
        case .checksum: "no tar header (its checksum is wrong)"
        case .notUstar: "not a POSIX ustar header"
        case .type(let flag): "a tar member that is not a regular file (type \(flag))"
        case .name: "a member name that is not allowed"
        case .size: "a tar header with a bad size"
        case .otherField: "a tar header that this program does not write"
        }
    }
}
