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
        case .overLimit: "use another copy of the file; no bundle of this program exceeds the limit"
        case .file, .notZstd, .duplicateName, .tooManyMembers, .outOfMemory: nil
        }
    }
}
