extension FrameScanner {
    /// A complete member that was found.
    public struct Member: Sendable, Equatable {
        /// The name of the member.
        public let name: String
        /// The contents of the member.
        public let contents: [UInt8]
        /// The offset, in the file, of the frame in which the member ends.
        public let frameOffset: Int
        /// Whether frame checksums verify the contents.
        ///
        /// The value is `false` if a frame of the member has no checksum, or if the last frame also contains later
        /// members or was not read to its end.
        public let isVerified: Bool
    }

    /// A part of a member that could not be read completely.
    public struct Part: Sendable, Equatable {
        /// The name of the member, or `nil` if its tar header could not be read.
        ///
        /// If the name is `nil`, the contents can include padding.
        public let name: String?
        /// The readable contents of the member.
        public let contents: [UInt8]
        /// The offset, in the file, of the last frame that was read before the part was reported.
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
        /// If a frame is damaged after some of its members, these members are reported before the gap. `reason` is the
        /// reason for the first error in the span.
        case gap(offset: Int, length: Int, reason: FrameError)
    }
}
