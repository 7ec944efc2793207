import Hashing

/// A compressed zstd frame of a container.
public struct EncodedFrame: Sendable, Equatable {
    /// The bytes of the frame.
    public let bytes: [UInt8]
    /// The number of bytes that the frame decodes to.
    public let contentSize: Int
}

/// A member of a container, compressed and ready to be written.
public struct EncodedMember: Sendable, Equatable {
    /// The name of the member.
    public let name: String
    /// The size of the contents in bytes.
    public let size: Int
    /// The SHA-256 hash of the contents.
    public let sha256: ContentHash
    /// The frames, which contain the tar header, the contents and the padding.
    public let frames: [EncodedFrame]
}
