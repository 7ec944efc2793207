import JSONText

/// Cuts the decoded bytes of a frame into tar members, whatever chunks they come in. Pure.
///
/// Headers may be those of any tar program: somebody may have unpacked a bundle and packed it again.
///
/// A complete member is held back until the next header, or `finish`, so that a frame of one member gives it
/// only after the frame's checksum was right.
struct TarStream {
    enum Event: Equatable {
        case member(name: String, contents: [UInt8])
        /// A member beyond the limit, skipped.
        case tooLarge(name: String, size: Int)
    }

    private enum State {
        case header
        case contents(Entry)
        case padding(Entry, left: Int)
        case end
    }

    /// What stands behind a header.
    private struct Entry {
        let purpose: ForeignTarHeader.Purpose
        let name: String
        let size: Int

        var padding: Int { (TarHeader.blockSize - size % TarHeader.blockSize) % TarHeader.blockSize }
    }

    /// The most bytes of an entry that only tells of the next one.
    private static let mostExtended = 1 << 20

    private let memberLimit: Int
    private var state = State.header
    private var block: [UInt8] = []
    private var contents: [UInt8] = []
    private var skipped = 0
    /// The last complete member, as yet unconfirmed.
    private(set) var held: Event?
    /// How many members are complete.
    private(set) var memberCount = 0
    /// What a header of an extended form says of the entry behind it.
    private var next: (path: String?, size: Int?)
    /// Whether the end of the archive (a zero block) was seen.
    private(set) var sawEnd = false

    init(memberLimit: Int) { self.memberLimit = memberLimit }

    /// Takes a chunk; appends the members that it confirms by going on after them.
    ///
    /// - Throws: `header` or `unexpectedBytes` when the bytes are not tar members of this format; what was
    ///   appended before stands.
    mutating func take(_ chunk: Span<UInt8>, _ events: inout [Event]) throws(FrameError) {
        var position = 0
        while position < chunk.count {
            let rest = chunk.extracting(position..<chunk.count)
            switch state {
            case .header:
                position += try takeHeader(rest, &events)
            case .contents(let entry):
                position += takeContents(rest, entry)
            case .padding(let entry, let left):
                let part = rest.extracting(first: left)
                guard part.isAllZero else { throw .unexpectedBytes }
                position += part.count
                endPadding(entry, left: left - part.count)
            case .end:
                guard rest.isAllZero else { throw .unexpectedBytes }
                position = chunk.count
            }
        }
    }

    /// Ends the frame; returns the member that was held back.
    ///
    /// - Throws: `truncated` when the frame ends within a member.
    mutating func finish() throws(FrameError) -> Event? {
        switch state {
        case .header where block.isEmpty, .end: break
        default: throw .truncated
        }
        defer { held = nil }
        return held
    }

    private mutating func takeHeader(
        _ bytes: Span<UInt8>, _ events: inout [Event]
    ) throws(FrameError) -> Int {
        let part = bytes.extracting(first: TarHeader.blockSize - block.count)
        block.append(copying: part)
        guard block.count == TarHeader.blockSize else { return part.count }
        defer { block.removeAll(keepingCapacity: true) }
        guard !block.span.isAllZero else {
            sawEnd = true
            state = .end
            return part.count
        }
        let entry = try entry()
        if let held { events.append(held) }
        held = nil
        contents = []
        skipped = 0
        state = .contents(entry)
        endContents(entry)
        return part.count
    }

    /// The entry whose header is in the block.
    private mutating func entry() throws(FrameError) -> Entry {
        let own: TarHeaderError
        do {
            let header = try TarHeader.decode(block.span)
            next = (nil, nil)
            return Entry(purpose: .file, name: header.name, size: header.size)
        } catch {
            own = error
        }
        guard let header = ForeignTarHeader(block) else { throw .header(own) }
        guard case .file = header.purpose else {
            return Entry(purpose: header.purpose, name: header.name, size: header.size)
        }
        defer { next = (nil, nil) }
        return Entry(purpose: .file, name: next.path ?? header.name, size: next.size ?? header.size)
    }

    private func keeps(_ entry: Entry) -> Bool {
        switch entry.purpose {
        case .file: entry.size <= memberLimit
        case .extended, .longName: entry.size <= Self.mostExtended
        case .other: false
        }
    }

    private mutating func takeContents(_ bytes: Span<UInt8>, _ entry: Entry) -> Int {
        let part = bytes.extracting(first: entry.size - contents.count - skipped)
        if keeps(entry) {
            contents.append(copying: part)
        } else {
            skipped += part.count
        }
        endContents(entry)
        return part.count
    }

    private mutating func endContents(_ entry: Entry) {
        guard contents.count + skipped == entry.size else { return }
        endPadding(entry, left: entry.padding)
    }

    private mutating func endPadding(_ entry: Entry, left: Int) {
        guard left == 0 else {
            state = .padding(entry, left: left)
            return
        }
        switch entry.purpose {
        case .file:
            memberCount += 1
            held =
                keeps(entry)
                ? .member(name: entry.name, contents: contents) : .tooLarge(name: entry.name, size: entry.size)
        case .extended:
            let told = ForeignTarHeader.extended(contents)
            next = (told.path ?? next.path, told.size ?? next.size)
        case .longName: next.path = String(decoding: contents.prefix { $0 != 0 }, as: UTF8.self)
        case .other: break
        }
        contents = []
        state = .header
    }
}
