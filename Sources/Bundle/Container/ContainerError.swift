import Files

/// Why a container, or a part of it, cannot be read.
public struct ContainerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The offset in the file: where the frame or the table begins that the reason is about.
    public let offset: Int
    /// What is wrong.
    public let reason: FrameError

    /// An error at an offset.
    public init(at offset: Int, _ reason: FrameError) {
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
