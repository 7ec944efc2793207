import Files

/// Salvage: finds what can still be read of a damaged container, front to back, without the seek table.
///
/// It looks for zstd frames by their magic number and reads each as a tar stream (several members a frame, if
/// somebody compressed the tar again). After damage it goes on with the next magic number behind the start of
/// the damaged frame. A member must lie within one frame.
///
/// Memory: two members of at most `memberLimit`, and a `FrameDecoder`. Time: linear in the file and what it
/// decodes to; also for files made of nested frames, because bytes decoded in vain are bounded (see
/// `mostWaste`).
public struct FrameScanner: ~Copyable, Sendable {
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

    /// A member or a damaged span, in the order of the file.
    public enum Finding: Sendable, Equatable {
        /// A whole member.
        case member(Member)
        /// A whole member that is larger than the limit and was skipped.
        case tooLarge(name: String, size: Int, frameOffset: Int)
        /// Bytes that could not be read, or not completely: members of a frame that is damaged later on come
        /// before the gap that the frame belongs to. The reason is that of the gap's beginning.
        case gap(offset: Int, length: Int, reason: FrameError)
    }

    /// Whether the end of the tar archive was found. If not at the end of the scan, members may be missing
    /// there without a gap.
    public private(set) var sawEnd = false

    /// How many bytes are searched at once.
    private static let window = 64 << 10

    private let source: ByteSource
    private let memberLimit: Int
    private let end: Int
    private var decoder: FrameDecoder
    private var findings: [Finding] = []
    private var position = 0
    private var isInFrame = false
    private var frameOffset = 0
    private var tar: TarStream
    private var gap: (offset: Int, reason: FrameError)?
    private var wasted = 0

    /// How many bytes may be decoded in vain, in compressed form or a sixteenth of the contents. After that a damaged frame is
    /// skipped as far as it was decoded: frames within it are not looked for any more.
    private var mostWaste: Int { 16 * min(source.count, Int.max >> 5) + 1 << 20 }

    /// A scan of a source.
    ///
    /// - Parameters:
    ///   - source: the damaged container.
    ///   - memberLimit: the most bytes of contents of a member.
    /// - Throws: `ContainerError` with reason `outOfMemory` or `file`.
    public init(_ source: ByteSource, memberLimit: Int) throws(ContainerError) {
        let end = try Self.endOfFrames(source)
        decoder = try FrameDecoder()
        self.source = source
        self.memberLimit = memberLimit
        self.end = end
        tar = TarStream(memberLimit: memberLimit)
    }

    /// The next finding, or nil at the end.
    ///
    /// - Throws: `ContainerError` with reason `file` when the source cannot be read. Damage is not thrown.
    public mutating func next() throws(ContainerError) -> Finding? {
        while findings.isEmpty {
            do {
                if isInFrame {
                    try advance()
                } else if try !findFrame() {
                    break
                }
            } catch {
                if case .file = error.reason { throw error }
                fail(error.reason)
            }
        }
        return findings.isEmpty ? nil : findings.removeFirst()
    }
}

// MARK: - Within a frame

extension FrameScanner {
    private mutating func advance() throws(ContainerError) {
        guard try decoder.advance() else { return try finishFrame() }
        var events: [TarStream.Event] = []
        var damage: FrameError?
        do {
            try Self.take(decoder, &tar, &events)
        } catch {
            damage = error
        }
        for event in events { report(event, isChecked: false) }
        if let damage { throw ContainerError(at: frameOffset, damage) }
    }

    /// A function of its own because a chunk within `self` would keep all of `self` from being changed.
    private static func take(
        _ decoder: borrowing FrameDecoder, _ tar: inout TarStream, _ events: inout [TarStream.Event]
    ) throws(FrameError) {
        try tar.take(decoder.chunk, &events)
    }

    private mutating func finishFrame() throws(ContainerError) {
        let last: TarStream.Event?
        do {
            last = try tar.finish()
        } catch {
            throw ContainerError(at: frameOffset, error)
        }
        closeGap(at: frameOffset)
        if let last { report(last, isChecked: decoder.hasChecksum) }
        sawEnd = sawEnd || tar.sawEnd
        position = decoder.position
        isInFrame = false
    }

    private mutating func report(_ event: TarStream.Event, isChecked: Bool) {
        closeGap(at: frameOffset)
        switch event {
        case .member(let name, let contents):
            let member = Member(
                name: name, contents: contents, frameOffset: frameOffset, isChecked: isChecked)
            findings.append(.member(member))
        case .tooLarge(let name, let size):
            findings.append(.tooLarge(name: name, size: size, frameOffset: frameOffset))
        }
    }

    /// Gives the frame up and sets the position for the search for the next one.
    private mutating func fail(_ reason: FrameError) {
        // A member that is whole in a frame that is cut short later is likely right, though unproven. Alone in a
        // frame with a wrong checksum it is likely wrong; among others it is no worse than those.
        if reason == .truncated || tar.memberCount > 1, let held = tar.held { report(held, isChecked: false) }
        if gap == nil { gap = (frameOffset, reason) }
        let used = max(decoder.position - frameOffset, FrameDecoder.magic.count)
        wasted += max(used, decoder.contentCount / 16)
        position = frameOffset + (wasted > mostWaste ? used : FrameDecoder.magic.count)
        isInFrame = false
    }
}

// MARK: - Between frames

extension FrameScanner {
    /// Begins with the next frame.
    ///
    /// - Returns: false when there is none, and none of its findings.
    private mutating func findFrame() throws(ContainerError) -> Bool {
        guard position < end else {
            closeGap(at: end)
            return !findings.isEmpty
        }
        if gap == nil, let size = try skippableSize(at: position) {
            position += size
            return true
        }
        // Tar programs fill the last block with zero bytes, behind the compression too.
        if gap == nil, sawEnd, try isZero(from: position) {
            position = end
            return true
        }
        let found = try findMagic(from: position)
        if found > position, gap == nil { gap = (position, .noFrame) }
        position = found
        guard position < end else { return true }
        isInFrame = true
        frameOffset = position
        tar = TarStream(memberLimit: memberLimit)
        try decoder.start(source, at: position, end: end, limit: Int.max)
        return true
    }

    private mutating func closeGap(at offset: Int) {
        guard let gap else { return }
        self.gap = nil
        guard offset > gap.offset else { return }
        findings.append(.gap(offset: gap.offset, length: offset - gap.offset, reason: gap.reason))
    }

    /// The size of the skippable frame at `offset` (RFC 8878, 3.1.2), if there is a whole one.
    private func skippableSize(at offset: Int) throws(ContainerError) -> Int? {
        guard end - offset >= 8 else { return nil }
        let header = try source.read(at: offset, count: 8)
        guard let magic = header.littleEndian32(at: 0), magic & ~0xf == 0x184d_2a50,
            let size = header.littleEndian32(at: 4), Int(size) <= end - offset - 8
        else { return nil }
        return 8 + Int(size)
    }

    /// Whether nothing but zero bytes stands from `offset` on.
    private func isZero(from offset: Int) throws(ContainerError) -> Bool {
        var start = offset
        while start < end {
            let bytes = try source.read(at: start, count: min(Self.window, end - start))
            guard !bytes.isEmpty, bytes.span.isAllZero else { return false }
            start += bytes.count
        }
        return true
    }

    /// The offset of the first zstd magic number from `offset` on, or the end.
    private func findMagic(from offset: Int) throws(ContainerError) -> Int {
        let magic = FrameDecoder.magic
        var start = offset
        while end - start >= magic.count {
            let bytes = try source.read(at: start, count: min(Self.window, end - start))
            let found = (0...bytes.count - magic.count).first { index in
                bytes[index] == magic[0] && bytes[index...].starts(with: magic)
            }
            if let found { return start + found }
            // The last bytes may be the first ones of a magic number.
            start += bytes.count - magic.count + 1
        }
        return end
    }

    /// Where the seek table begins if there is one that looks right, so that it is not reported as a gap after
    /// damage in the last frame.
    private static func endOfFrames(_ source: ByteSource) throws(ContainerError) -> Int {
        do {
            _ = try SeekTable.read(from: source)
            return try SeekTable.start(in: source) ?? source.count
        } catch {
            if case .file = error.reason { throw error }
            return source.count
        }
    }
}
