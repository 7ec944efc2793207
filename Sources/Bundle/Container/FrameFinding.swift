extension FrameScanner {
    /// A complete member that was found.
    public struct Member: Sendable, Equatable {
        /// The name of the member.
        public let name: String
        /// The contents of the member.
        public let contents: [UInt8]
        /// The offset of the frame in the file.
        public let frameOffset: Int
        /// Whether the checksum of a frame verifies the contents.
        ///
        /// The value is `false` if the frame has no checksum or was not read to its end.
        public let isVerified: Bool
    }

    /// A part of a member that could not be read completely.
    public struct Part: Sendable, Equatable {
        /// The name of the member, or `nil` if the frame with the tar header is damaged.
        ///
        /// If the name is `nil`, the contents can include padding.
        public let name: String?
        /// The readable contents of the member.
        public let contents: [UInt8]
        /// The offset, in the file, of the last frame of the part.
        public let frameOffset: Int
        /// Whether the checksums of frames verify the contents.
        public let isVerified: Bool
    }

    /// A member, a part of a member, or a damaged span.
    public enum Finding: Sendable, Equatable {
        /// A complete member.
        case member(Member)
        /// A part of a member.
        case part(Part)
        /// A complete member that was skipped because it exceeds the limit.
        case tooLarge(name: String, size: Int, frameOffset: Int)
        /// A span of bytes that could not be read completely.
        ///
        /// If a frame is damaged after some of its members, these members are reported before the gap. The reason is
        /// that of the first error in the gap.
        case gap(offset: Int, length: Int, reason: FrameError)
    }
}
