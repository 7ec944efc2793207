import Bytes
import Files

/// Salvage: finds what can still be read of a damaged container, front to back, without the seek table.
///
/// It looks for zstd frames by their magic number and reads them as a tar stream (several members a frame, if
/// somebody compressed the tar again). After damage it goes on with the next magic number behind the start of
/// the damaged frame. Of a member that lies in several frames, those that are intact are read.
///
/// Memory: two members of at most `memberLimit`, and a `FrameDecoder`. Time: linear in the file and what it
/// decodes to; also for files made of nested frames, because bytes decoded in vain are bounded (see
/// `maxWastedBytes`).
public struct FrameScanner: ~Copyable, Sendable {
    /// Whether the end of the tar archive was found. If not at the end of the scan, members may be missing
    /// there without a gap.
    public private(set) var sawEnd = false

    /// How many bytes are searched at once.
    private static let window = 64 << 10

    private let source: ByteSource
    private let memberLimit: Int
    private let end: Int
    /// The offsets at which frames begin, if there is a seek table that says so.
    private let knownStarts: [Int]?
    private var decoder: FrameDecoder
    private var findings: [Finding] = []
    private var position = 0
    private var isInFrame = false
    private var frameOffset = 0
    private var tar: TarStream
    /// The number of headers and of unconfirmed bytes that `tar` had when the frame began.
    private var atFrameStart = (headers: 0, bytes: 0)
    /// Whether the frame begins within a member that `tar` has read the header of.
    private var isContinued = false
    /// Whether all frames of the member in which the frame began had checksums.
    private var allChecked = true
    /// The contents of a frame that begins within a member whose header was not read.
    private var fragment: [UInt8]?
    /// Whether the frame may begin within a member whose header was not read.
    private var mayBeFragment = false
    private var gap: (offset: Int, reason: FrameError)?
    private var wastedBytes = 0

    /// How many bytes may be decoded in vain, in compressed form or a sixteenth of the contents. After that a damaged frame is
    /// skipped as far as it was decoded: frames within it are not looked for any more.
    private var maxWastedBytes: Int { 16 * min(source.count, Int.max >> 5) + 1 << 20 }

    /// Begins a scan of a damaged container. The contents of members of more than `memberLimit` bytes are skipped.
    /// - Throws: `ContainerError` with reason `outOfMemory` or `file`.
    public init(_ source: ByteSource, memberLimit: Int) throws(ContainerError) {
        let table = try Self.table(of: source)
        decoder = try FrameDecoder()
        self.source = source
        self.memberLimit = memberLimit
        end = table?.start ?? source.count
        knownStarts = table?.frames
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
        guard fragment == nil else { return try extendFragment() }
        var events: [TarStream.Event] = []
        var damage: FrameError?
        do {
            try Self.consume(decoder, &tar, &events)
        } catch {
            damage = error
        }
        for event in events { report(event, isChecked: false) }
        guard let damage else { return }
        let isFirstChunk = decoder.contentCount == decoder.chunk.count
        guard tar.headerCount == 0, mayBeFragment, isFirstChunk else { throw ContainerError(at: frameOffset, damage) }
        fragment = []
        try extendFragment()
    }

    /// A separate function, because a chunk within `self` would keep all of `self` from being changed.
    private static func consume(
        _ decoder: borrowing FrameDecoder, _ tar: inout TarStream, _ events: inout [TarStream.Event]
    ) throws(FrameError) {
        try tar.consume(decoder.chunk, &events)
    }

    private mutating func extendFragment() throws(ContainerError) {
        guard var bytes = fragment else { return }
        fragment = nil
        bytes.append(copying: decoder.chunk)
        guard bytes.count <= memberLimit else { throw ContainerError(at: frameOffset, .overLimit(memberLimit)) }
        fragment = bytes
    }

    private mutating func finishFrame() throws(ContainerError) {
        if let contents = fragment {
            guard decoder.hasChecksum else { throw ContainerError(at: frameOffset, .header(.checksum)) }
            reportPart(of: nil, contents, isChecked: true)
        }
        allChecked = allChecked && decoder.hasChecksum
        closeGap(at: frameOffset)
        if let last = tar.confirm() { report(last, isChecked: allChecked) }
        if !tar.isWithinMember { allChecked = true }
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

    private mutating func reportPart(of name: String?, _ contents: [UInt8], isChecked: Bool) {
        guard !contents.isEmpty else { return }
        closeGap(at: frameOffset)
        findings.append(
            .part(Part(name: name, contents: contents, frameOffset: frameOffset, isChecked: isChecked)))
    }

    /// Reports what was read of the member that `tar` is in, and forgets it.
    private mutating func abandonMember() {
        defer { (tar, allChecked) = (TarStream(memberLimit: memberLimit), true) }
        guard let (name, contents) = tar.unconfirmed else { return }
        let beganBefore = tar.headerCount == atFrameStart.headers
        let proven = beganBefore && allChecked ? atFrameStart.bytes : 0
        reportPart(of: name, Array(contents.prefix(proven)), isChecked: true)
        reportPart(of: name, Array(contents.dropFirst(proven)), isChecked: false)
    }

    /// Stops reading the frame and sets the position for the search for the next one.
    private mutating func fail(_ reason: FrameError) {
        // A member that is whole in a frame that is cut short later is likely right, though unproven. Alone in a frame with a
        // wrong checksum it is likely wrong in some place; among others it is no worse than those.
        if !isContinued, reason == .truncated || tar.memberCount > 1, let held = tar.confirm() {
            report(held, isChecked: false)
        }
        abandonMember()
        if gap == nil { gap = (frameOffset, reason) }
        let used = max(decoder.position - frameOffset, FrameDecoder.magic.count)
        wastedBytes += max(used, decoder.contentCount / 16)
        isInFrame = false
        // The frame may be intact, but not the one that continues the member.
        guard !isContinued else { return }
        position = frameOffset + (wastedBytes > maxWastedBytes ? used : FrameDecoder.magic.count)
    }
}

// MARK: - Between frames

extension FrameScanner {
    /// Begins with the next frame.
    ///
    /// - Returns: false when there is none, and none of its findings.
    private mutating func findFrame() throws(ContainerError) -> Bool {
        guard position < end else {
            leaveMember()
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
        if found > position {
            leaveMember()
            if gap == nil { gap = (position, .noFrame) }
        }
        position = found
        guard position < end else { return true }
        mayBeFragment = (gap.map { $0.offset < position } ?? (fragment != nil)) && isKnownStart(position)
        fragment = nil
        isInFrame = true
        frameOffset = position
        isContinued = tar.isWithinMember
        if !isContinued { tar = TarStream(memberLimit: memberLimit) }
        atFrameStart = (tar.headerCount, tar.unconfirmedCount)
        try decoder.start(source, at: position, end: end, limit: Int.max)
        return true
    }

    /// Reports what was read of the member that the last frame ended in, because no frame follows that continues it.
    private mutating func leaveMember() {
        guard tar.isWithinMember else { return }
        atFrameStart = (tar.headerCount, tar.unconfirmedCount)
        abandonMember()
    }

    /// Whether a frame may begin at an offset. A frame within the contents of a damaged one is none of the container.
    private func isKnownStart(_ offset: Int) -> Bool {
        guard let knownStarts else { return true }
        let index = knownStarts.indices.firstSorted { knownStarts[$0] >= offset }
        return index < knownStarts.count && knownStarts[index] == offset
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

    /// Returns the offset of the seek table and those of its frames if there is one that looks right. It is not reported as a
    /// gap after damage in the last frame.
    private static func table(of source: ByteSource) throws(ContainerError) -> (start: Int, frames: [Int])? {
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
