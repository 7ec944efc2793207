extension FrameScanner {
    /// A member that was found.
    public struct Member: Sendable, Equatable {
        /// The member's name.
        public let name: String
        /// Its contents.
        public let contents: [UInt8]
        /// Where its frame begins in the file.
        public let frameOffset: Int
        /// Whether a frame's checksum proved the contents right. False for members of a frame that goes on
        /// after them, that is cut short, or that has no checksum.
        public let isChecked: Bool
    }

    /// A part of a member that could not be read completely.
    public struct Part: Sendable, Equatable {
        /// The member's name. It is `nil` if the frame with the tar header is damaged: then the contents are those of whole
        /// frames, maybe with the padding behind them.
        public let name: String?
        /// The contents that could be read.
        public let contents: [UInt8]
        /// The offset in the file at which the frame begins, or the last of them.
        public let frameOffset: Int
        /// Whether the checksums of frames prove the contents.
        public let isChecked: Bool
    }

    /// A member or a damaged span, in the order of the file.
    public enum Finding: Sendable, Equatable {
        /// A whole member.
        case member(Member)
        /// A part of a member.
        case part(Part)
        /// A whole member that is larger than the limit and was skipped.
        case tooLarge(name: String, size: Int, frameOffset: Int)
        /// Bytes that could not be read, or not completely: members of a frame that is damaged later on come
        /// before the gap that the frame belongs to. The reason is that of the gap's beginning.
        case gap(offset: Int, length: Int, reason: FrameError)
    }
}
