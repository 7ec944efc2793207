import JSONText

/// Cuts the decoded bytes of a frame into tar members, whatever chunks they come in. Pure.
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
        case contents(TarHeader)
        case padding(TarHeader, left: Int)
        case end
    }

    private let memberLimit: Int
    private var state = State.header
    private var block: [UInt8] = []
    private var contents: [UInt8] = []
    private var skipped = 0
    /// The last complete member, as yet unconfirmed.
    private(set) var held: Event?
    /// Whether the end of the archive (a zero block) was seen.
    private(set) var sawEnd = false

    init(memberLimit: Int) { self.memberLimit = memberLimit }

    /// Takes a chunk; appends the members that it confirms by going on after them.
    ///
    /// - Throws: `header` or `unexpectedBytes` when the bytes are not tar members of this format; what was
    ///   appended before stands.
    mutating func take(_ chunk: Span<UInt8>, _ events: inout [Event]) throws(ContainerError.Reason) {
        var position = 0
        while position < chunk.count {
            let rest = chunk.extracting(position..<chunk.count)
            switch state {
            case .header:
                position += try takeHeader(rest, &events)
            case .contents(let header):
                position += takeContents(rest, header)
            case .padding(let header, let left):
                let part = rest.extracting(first: left)
                guard part.isAllZero else { throw .unexpectedBytes }
                position += part.count
                endPadding(header, left: left - part.count)
            case .end:
                guard rest.isAllZero else { throw .unexpectedBytes }
                position = chunk.count
            }
        }
    }

    /// Ends the frame; returns the member that was held back.
    ///
    /// - Throws: `truncated` when the frame ends within a member.
    mutating func finish() throws(ContainerError.Reason) -> Event? {
        switch state {
        case .header where block.isEmpty, .end: break
        default: throw .truncated
        }
        defer { held = nil }
        return held
    }

    private mutating func takeHeader(
        _ bytes: Span<UInt8>, _ events: inout [Event]
    ) throws(ContainerError.Reason) -> Int {
        let part = bytes.extracting(first: TarHeader.blockSize - block.count)
        block.append(copying: part)
        guard block.count == TarHeader.blockSize else { return part.count }
        defer { block.removeAll(keepingCapacity: true) }
        guard !block.span.isAllZero else {
            sawEnd = true
            state = .end
            return part.count
        }
        let header: TarHeader
        do {
            header = try TarHeader.decode(block.span)
        } catch {
            throw .header(error)
        }
        if let held { events.append(held) }
        held = nil
        contents = []
        skipped = 0
        state = .contents(header)
        endContents(header)
        return part.count
    }

    private mutating func takeContents(_ bytes: Span<UInt8>, _ header: TarHeader) -> Int {
        let part = bytes.extracting(first: header.size - contents.count - skipped)
        if header.size <= memberLimit {
            contents.append(copying: part)
        } else {
            skipped += part.count
        }
        endContents(header)
        return part.count
    }

    private mutating func endContents(_ header: TarHeader) {
        guard contents.count + skipped == header.size else { return }
        endPadding(header, left: header.padding)
    }

    private mutating func endPadding(_ header: TarHeader, left: Int) {
        guard left == 0 else {
            state = .padding(header, left: left)
            return
        }
        held =
            header.size <= memberLimit
            ? .member(name: header.name, contents: contents)
            : .tooLarge(name: header.name, size: header.size)
        contents = []
        state = .header
    }
}
