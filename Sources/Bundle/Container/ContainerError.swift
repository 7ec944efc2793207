import Files

/// Why a container, or a part of it, cannot be read.
public struct ContainerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong. An error of its own for the pure parts, which know no file offset.
    public enum Reason: Error, Sendable, Equatable {
        /// The file cannot be read.
        case file(FileError)
        /// The file does not begin as any zstd file does.
        case notZstd
        /// No seek table at the end of the file.
        case noSeekTable
        /// The seek table is there but wrong; how.
        case badSeekTable(String)
        /// No zstd frame where one must begin.
        case noFrame
        /// The bytes end before the frame does.
        case truncated
        /// zstd cannot decode the frame, or its checksum is wrong; zstd's words.
        case damaged(String)
        /// The frame is intact, but not as the bundle format wants it; how.
        case unexpectedFrame(String)
        /// The frame does not begin with a tar header of this format.
        case header(TarHeaderError)
        /// The contents of a tar member differ from its header, or more than one member's bytes follow.
        case unexpectedBytes
        /// The last frame is not the end of a tar archive.
        case noEnd
        /// Two members have this name.
        case duplicateName(String)
        /// More bytes than the caller's limit.
        case overLimit(Int)
        /// There is not enough memory for a decoder.
        case outOfMemory
    }

    /// The offset in the file: where the frame or the table begins that the reason is about.
    public let offset: Int
    /// What is wrong.
    public let reason: Reason

    /// An error at an offset.
    public init(at offset: Int, _ reason: Reason) {
        self.offset = offset
        self.reason = reason
    }

    /// One line without the file's name: `byte 8192: damaged zstd frame (Restored data doesn't match checksum)`.
    public var description: String {
        if case .file(let error) = reason { return error.description }
        return "byte \(offset): \(reason.text)"
    }

    /// What the user can do about it, where there is something.
    public var remedy: String? {
        switch reason {
        case .noSeekTable, .badSeekTable, .truncated, .damaged, .noFrame, .unexpectedFrame, .noEnd,
            .unexpectedBytes, .header:
            "use another copy of the file, or read what is left of this one with convert --salvage"
        case .overLimit: "raise the limit"
        case .file, .notZstd, .duplicateName, .outOfMemory: nil
        }
    }
}

extension ContainerError.Reason {
    fileprivate var text: String {
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
