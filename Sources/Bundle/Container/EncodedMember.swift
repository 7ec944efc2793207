import Hashing

/// A member of a container, compressed and ready to be written.
public struct EncodedMember: Sendable, Equatable {
    /// The member's name.
    public let name: String
    /// The size of its contents in bytes.
    public let size: Int
    /// SHA-256 of the contents.
    public let sha256: ContentHash
    /// One zstd frame: tar header, contents, padding.
    public let frame: [UInt8]
    /// What the frame decodes to in bytes: header, contents and padding.
    public let contentSize: Int
}

/// The end of a container's tar archive (two zero blocks), compressed and ready to be written.
public struct EncodedEnd: Sendable, Equatable {
    /// One zstd frame.
    public let frame: [UInt8]
    /// What the frame decodes to: 1024 bytes.
    public let contentSize: Int
}
