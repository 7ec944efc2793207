import Bytes
import Files

/// A scanner that salvages the readable members of a damaged container without relying on its seek table.
///
/// The scanner finds zstd frames by their magic number and reads them as a tar stream. A frame can contain several
/// members if another program has compressed the archive again. If a frame is damaged, the search continues at the next
/// magic number. If a member consists of several frames, the intact frames are read.
///
/// A scanner uses memory for two members of at most `memberSizeLimit` bytes and for a `FrameDecoder`. The running time
/// is linear in the size of the file and of the decoded contents. `maxWastedByteCount` ensures this for nested frames.
public struct FrameScanner: ~Copyable, Sendable {
    /// Whether the end of the tar archive was found.
    ///
    /// If the value is `false` after the scan, members at the end can be missing without being reported.
    public private(set) var hasFoundEnd = false

    /// The number of bytes that are searched at a time.
    private static let searchWindowSize = 64 << 10

    private let source: ByteSource
    private let memberSizeLimit: Int
    private let endOffset: Int
    /// The offsets of the frames according to the seek table, or `nil` if there is no valid seek table.
    private let knownFrameOffsets: [Int]?
    private var decoder: FrameDecoder
    private var findings: [Finding] = []
    private var position = 0
    private var isInFrame = false
    private var frameOffset = 0
    private var tar: TarStream
    /// The number of headers and the number of unconfirmed bytes of `tar` at the start of the frame.
    private var countsAtFrameStart = (headers: 0, bytes: 0)
    /// Whether the frame continues a member whose header has been read.
    private var frameContinuesMember = false
    /// Whether all frames of the current member had checksums.
    private var allFramesHaveChecksums = true
    /// The contents of a frame that continues a member with an unreadable header, or `nil` outside such a frame.
    private var fragment: [UInt8]?
    /// Whether the frame can be a continuation of a member whose header could not be read.
    private var frameMayBeFragment = false
    private var gap: (offset: Int, reason: FrameError)?
    private var wastedByteCount = 0

    /// The number of damaged bytes after which the decoded part of a damaged frame is no longer searched for frames.
    ///
    /// A damaged frame counts as the number of its bytes that were read, or as a sixteenth of its decoded size if that
    /// number is larger.
    private var maxWastedByteCount: Int { 16 * min(source.count, Int.max >> 5) + 1 << 20 }

    /// Creates a scanner that skips members larger than `memberSizeLimit` bytes.
    public init(_ source: ByteSource, memberSizeLimit: Int) throws(ContainerError) {
        let table = try Self.readSeekTable(of: source)
        decoder = try FrameDecoder()
        self.source = source
        self.memberSizeLimit = memberSizeLimit
        endOffset = table?.start ?? source.count
        knownFrameOffsets = table?.frames
        tar = TarStream(memberSizeLimit: memberSizeLimit)
    }

    /// Returns the next finding, or `nil` at the end of the container.
    ///
    /// Damage is reported as a gap.
    ///
    /// - Throws: ``ContainerError`` only if the source cannot be read.
    public mutating func next() throws(ContainerError) -> Finding? {
        while findings.isEmpty {
            do {
                if isInFrame {
                    try advance()
                } else if try !startNextFrame() {
                    break
                }
            } catch {
                if case .file = error.reason { throw error }
                abandonFrame(because: error.reason)
            }
        }
        return findings.isEmpty ? nil : findings.removeFirst()
    }
}

// MARK: - Within a frame

extension FrameScanner {
    private mutating func advance() throws(ContainerError) {
        guard try decoder.advance() else { return try finishFrame() }
        guard fragment == nil else { return try extendFragment() }
        var events: [TarStream.Event] = []
        var damage: FrameError?
        do {
            try Self.consume(decoder, &tar, &events)
        } catch {
            damage = error
        }
        for event in events { report(event, isVerified: false) }
        guard let damage else { return }
        let isFirstChunk = decoder.decodedByteCount == decoder.chunk.count
        guard tar.headerCount == 0, frameMayBeFragment, isFirstChunk else {
            throw ContainerError(at: frameOffset, damage)
        }
        fragment = []
        try extendFragment()
    }

    // The method is static, because `self` cannot be changed while a chunk of `self` is in use.
    private static func consume(
        _ decoder: borrowing FrameDecoder, _ tar: inout TarStream, _ events: inout [TarStream.Event]
    ) throws(FrameError) {
        try tar.consume(decoder.chunk, &events)
    }

    private mutating func extendFragment() throws(ContainerError) {
        guard var bytes = fragment else { return }
        fragment = nil
        bytes.append(copying: decoder.chunk)
        guard bytes.count <= memberSizeLimit else { throw ContainerError(at: frameOffset, .overLimit(memberSizeLimit)) }
        fragment = bytes
    }

    private mutating func finishFrame() throws(ContainerError) {
        if let contents = fragment {
            guard decoder.hasChecksum else { throw ContainerError(at: frameOffset, .invalidHeader(.wrongChecksum)) }
            reportPart(of: nil, contents, isVerified: true)
        }
        allFramesHaveChecksums = allFramesHaveChecksums && decoder.hasChecksum
        closeGap(at: frameOffset)
        if let last = tar.confirm() { report(last, isVerified: allFramesHaveChecksums) }
        if !tar.isWithinMember { allFramesHaveChecksums = true }
        hasFoundEnd = hasFoundEnd || tar.hasFoundEnd
        position = decoder.position
        isInFrame = false
    }

    private mutating func report(_ event: TarStream.Event, isVerified: Bool) {
        closeGap(at: frameOffset)
        switch event {
        case .member(let name, let contents):
            findings.append(
                .member(Member(name: name, contents: contents, frameOffset: frameOffset, isVerified: isVerified)))
        case .tooLarge(let name, let size):
            findings.append(.tooLarge(name: name, size: size, frameOffset: frameOffset))
        }
    }

    private mutating func reportPart(of name: String?, _ contents: [UInt8], isVerified: Bool) {
        guard !contents.isEmpty else { return }
        closeGap(at: frameOffset)
        findings.append(.part(Part(name: name, contents: contents, frameOffset: frameOffset, isVerified: isVerified)))
    }

    /// Reports the readable part of the current member and resets the tar stream.
    private mutating func reportPartialMember() {
        defer { (tar, allFramesHaveChecksums) = (TarStream(memberSizeLimit: memberSizeLimit), true) }
        guard let (name, contents) = tar.unconfirmedMember else { return }
        let beganBefore = tar.headerCount == countsAtFrameStart.headers
        let proven = beganBefore && allFramesHaveChecksums ? countsAtFrameStart.bytes : 0
        reportPart(of: name, Array(contents.prefix(proven)), isVerified: true)
        reportPart(of: name, Array(contents.dropFirst(proven)), isVerified: false)
    }

    /// Stops reading the frame and sets the position at which the search continues.
    private mutating func abandonFrame(because reason: FrameError) {
        // A complete member of a truncated frame is probably intact. The only member of a frame with a wrong checksum
        // is probably damaged. If there are several members, each one is probably intact.
        if !frameContinuesMember, reason == .truncated || tar.memberCount > 1, let held = tar.confirm() {
            report(held, isVerified: false)
        }
        reportPartialMember()
        if gap == nil { gap = (frameOffset, reason) }
        let used = max(decoder.position - frameOffset, FrameDecoder.magic.count)
        wastedByteCount += max(used, decoder.decodedByteCount / 16)
        isInFrame = false
        // The frame is not a continuation of the member. It is read again as a new frame, so the position is unchanged.
        guard !frameContinuesMember else { return }
        position = frameOffset + (wastedByteCount > maxWastedByteCount ? used : FrameDecoder.magic.count)
    }
}

// MARK: - Between frames

extension FrameScanner {
    /// Starts decoding the next frame, or returns `false` if there are no more frames and no findings.
    private mutating func startNextFrame() throws(ContainerError) -> Bool {
        guard position < endOffset else {
            reportInterruptedMember()
            closeGap(at: endOffset)
            return !findings.isEmpty
        }
        if gap == nil, let size = try skippableFrameSize(at: position) {
            position += size
            return true
        }
        // Tar programs can append zero bytes to the compressed data.
        if gap == nil, hasFoundEnd, try hasOnlyZeros(from: position) {
            position = endOffset
            return true
        }
        let found = try findMagic(from: position)
        if found > position {
            reportInterruptedMember()
            if gap == nil { gap = (position, .noFrame) }
        }
        position = found
        guard position < endOffset else { return true }
        frameMayBeFragment = (gap.map { $0.offset < position } ?? (fragment != nil)) && isKnownFrameOffset(position)
        fragment = nil
        isInFrame = true
        frameOffset = position
        frameContinuesMember = tar.isWithinMember
        if !frameContinuesMember { tar = TarStream(memberSizeLimit: memberSizeLimit) }
        countsAtFrameStart = (tar.headerCount, tar.unconfirmedByteCount)
        try decoder.start(source, at: position, end: endOffset, contentLimit: Int.max)
        return true
    }

    /// Reports the readable part of a member that is incomplete because no adjacent frame continues it.
    private mutating func reportInterruptedMember() {
        guard tar.isWithinMember else { return }
        countsAtFrameStart = (tar.headerCount, tar.unconfirmedByteCount)
        reportPartialMember()
    }

    /// Returns whether a frame of the container can start at `offset` according to the seek table.
    ///
    /// The check is needed because the contents of a damaged frame can contain frames that do not belong to the
    /// container.
    private func isKnownFrameOffset(_ offset: Int) -> Bool {
        guard let knownFrameOffsets else { return true }
        let index = knownFrameOffsets.indices.partitioningIndex { knownFrameOffsets[$0] >= offset }
        return index < knownFrameOffsets.count && knownFrameOffsets[index] == offset
    }

    private mutating func closeGap(at offset: Int) {
        guard let gap else { return }
        self.gap = nil
        guard offset > gap.offset else { return }
        findings.append(.gap(offset: gap.offset, length: offset - gap.offset, reason: gap.reason))
    }

    /// Returns the size of the complete skippable frame at `offset` (RFC 8878, 3.1.2), or `nil` if there is none.
    private func skippableFrameSize(at offset: Int) throws(ContainerError) -> Int? {
        guard endOffset - offset >= 8 else { return nil }
        let header = try source.read(at: offset, count: 8)
        guard let magic = header.littleEndian32(at: 0), magic & ~0xf == 0x184d_2a50,
            let size = header.littleEndian32(at: 4), Int(size) <= endOffset - offset - 8
        else { return nil }
        return 8 + Int(size)
    }

    /// Returns whether all bytes from `offset` to `endOffset` are zero.
    private func hasOnlyZeros(from offset: Int) throws(ContainerError) -> Bool {
        var start = offset
        while start < endOffset {
            let bytes = try source.read(at: start, count: min(Self.searchWindowSize, endOffset - start))
            guard !bytes.isEmpty, bytes.span.isAllZero else { return false }
            start += bytes.count
        }
        return true
    }

    /// Returns the offset of the first zstd magic number at or after `offset`, or `endOffset` if there is none.
    private func findMagic(from offset: Int) throws(ContainerError) -> Int {
        let magic = FrameDecoder.magic
        var start = offset
        while endOffset - start >= magic.count {
            let bytes = try source.read(at: start, count: min(Self.searchWindowSize, endOffset - start))
            let found = (0...bytes.count - magic.count).first { index in
                bytes[index] == magic[0] && bytes[index...].starts(with: magic)
            }
            if let found { return start + found }
            // A magic number can start in the last bytes and end in the next piece.
            start += bytes.count - magic.count + 1
        }
        return endOffset
    }

    /// Returns the offset of the seek table and of each frame that it lists, or `nil` if there is no valid seek table.
    ///
    /// The scan ends at the seek table, so that the table is not reported as a gap if the last frame is damaged.
    private static func readSeekTable(of source: ByteSource) throws(ContainerError) -> (start: Int, frames: [Int])? {
        do {
            let table = try SeekTable.read(from: source)
            var end = 0
            let frames = table.entries.map { entry in
                defer { end += Int(entry.compressedSize) }
                return end
            }
            return (end, frames)
        } catch {
            if case .file = error.reason { throw error }
            return nil
        }
    }
}
