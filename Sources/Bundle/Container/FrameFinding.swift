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
        /// It is `false` for members of a frame that continues after them, that is truncated, or that has no checksum.
        public let isChecked: Bool
    }

    /// A part of a member that could not be read completely.
    public struct Part: Sendable, Equatable {
        /// The name of the member, or `nil` if the frame with the tar header is damaged.
        ///
        /// Without a name, the contents are those of whole frames, and can include padding.
        public let name: String?
        /// The contents that could be read.
        public let contents: [UInt8]
        /// The offset of the last frame in the file.
        public let frameOffset: Int
        /// Whether the checksums of frames verify the contents.
        public let isChecked: Bool
    }

    /// A member or a damaged span, in the order of the file.
    public enum Finding: Sendable, Equatable {
        /// A complete member.
        case member(Member)
        /// A part of a member.
        case part(Part)
        /// A complete member that was skipped because it exceeds the limit.
        case tooLarge(name: String, size: Int, frameOffset: Int)
        /// A span of bytes that could not be read, or not completely.
        ///
        /// The members of a frame that is damaged at a later position precede the gap of the frame. The reason is the
        /// one at the start of the gap.
        case gap(offset: Int, length: Int, reason: FrameError)
    }
}
