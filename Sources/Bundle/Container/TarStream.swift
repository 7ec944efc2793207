import Bytes
import JSONText
import Tar

/// A parser that splits decoded bytes into tar members.
///
/// The chunks can have any size. Headers of other tar programs are accepted, because users can repack a bundle.
///
/// A complete member is reported when the next header is read or `confirm` is called. Therefore, the only member of a
/// frame is reported after the checksum of the frame has been verified.
struct TarStream {
    enum Event: Equatable {
        case member(name: String, contents: [UInt8])
        /// A member that was skipped because it has more than `memberSizeLimit` bytes.
        case tooLarge(name: String, size: Int)
    }

    private enum State {
        case header
        case contents(Entry)
        case padding(Entry, left: Int)
        case end
    }

    /// The meaning of the bytes after a header.
    private enum Purpose {
        /// The contents of a file.
        case file
        /// Attributes of the next entry in the pax format.
        case extended
        /// The name of the next entry in the GNU format.
        case longName
        /// Data that is skipped, such as links and comments.
        case other
    }

    /// An entry of the archive, as its header describes it.
    private struct Entry {
        let purpose: Purpose
        let name: String
        let size: Int
    }

    /// The maximum size, in bytes, of an entry with the attributes or the name of the next entry.
    private static let maxExtendedHeaderSize = 1 << 20

    private let memberSizeLimit: Int
    private var state = State.header
    private var block: [UInt8] = []
    private var contents: [UInt8] = []
    private var skippedByteCount = 0
    /// The last complete member, or `nil` if it was confirmed or reported.
    private(set) var unconfirmedEvent: Event?
    private(set) var memberCount = 0
    /// The path and the size of the next file, as specified by the entries before it.
    ///
    /// A value is `nil` if no such entry specifies it.
    private var overrides: (path: String?, size: Int?)
    private(set) var headerCount = 0
    /// Whether the end of the archive, a block of zeros, was found.
    private(set) var hasFoundEnd = false

    init(memberSizeLimit: Int) { self.memberSizeLimit = memberSizeLimit }

    /// Consumes a chunk, and appends the confirmed members to `events`.
    ///
    /// Events that were appended before an error remain.
    mutating func consume(_ chunk: Span<UInt8>, _ events: inout [Event]) throws(FrameError) {
        var position = 0
        while position < chunk.count {
            let rest = chunk.extracting(position..<chunk.count)
            switch state {
            case .header:
                position += try consumeHeader(rest, &events)
            case .contents(let entry):
                position += consumeContents(rest, entry)
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

    /// Returns the last complete member, or `nil` if it was already returned or reported.
    ///
    /// Call this method after verifying the checksum of the frame in which the member ends.
    mutating func confirm() -> Event? {
        defer { unconfirmedEvent = nil }
        return unconfirmedEvent
    }

    /// Whether the consumed bytes end within a member.
    var isWithinMember: Bool {
        switch state {
        case .header: !block.isEmpty
        case .contents, .padding: true
        case .end: false
        }
    }

    /// The number of bytes of the current entry that have been kept.
    var unconfirmedByteCount: Int { contents.count }

    /// The name and the contents of the file that is being read, or of the last complete file if it was not confirmed.
    ///
    /// The value is `nil` if there is no such file.
    var unconfirmedMember: (name: String, contents: [UInt8])? {
        switch state {
        case .contents(let entry) where entry.purpose == .file, .padding(let entry, _) where entry.purpose == .file:
            return (entry.name, contents)
        default:
            guard case .member(let name, let contents)? = unconfirmedEvent else { return nil }
            return (name, contents)
        }
    }

    private mutating func consumeHeader(_ bytes: Span<UInt8>, _ events: inout [Event]) throws(FrameError) -> Int {
        let part = bytes.extracting(first: TarHeader.blockSize - block.count)
        block.append(copying: part)
        guard block.count == TarHeader.blockSize else { return part.count }
        defer { block.removeAll(keepingCapacity: true) }
        guard !block.span.isAllZero else {
            hasFoundEnd = true
            state = .end
            return part.count
        }
        let entry = try entry()
        headerCount += 1
        if let unconfirmedEvent { events.append(unconfirmedEvent) }
        unconfirmedEvent = nil
        contents = []
        skippedByteCount = 0
        state = .contents(entry)
        endContents(entry)
        return part.count
    }

    /// Parses the header in `block`, and returns the entry that it describes.
    private mutating func entry() throws(FrameError) -> Entry {
        let headerError: TarHeaderError
        do {
            let header = try TarHeader.decode(block.span)
            overrides = (nil, nil)
            return Entry(purpose: .file, name: header.name, size: header.size)
        } catch {
            headerError = error
        }
        guard let header = TarEntry(block.span) else { throw .invalidHeader(headerError) }
        let name = String(decoding: header.name, as: UTF8.self)
        switch header.kind {
        case TarEntry.Kind.extendedHeader: return Entry(purpose: .extended, name: name, size: header.size)
        case TarEntry.Kind.longName: return Entry(purpose: .longName, name: name, size: header.size)
        // Links, folders and devices have no contents, even if their header specifies a size.
        case TarEntry.Kind.hardLink...TarEntry.Kind.pipe: return Entry(purpose: .other, name: name, size: 0)
        case TarEntry.Kind.file, TarEntry.Kind.contiguousFile:
            defer { overrides = (nil, nil) }
            return Entry(purpose: .file, name: overrides.path ?? name, size: overrides.size ?? header.size)
        default: return Entry(purpose: .other, name: name, size: header.size)
        }
    }

    private func isKept(_ entry: Entry) -> Bool {
        switch entry.purpose {
        case .file: entry.size <= memberSizeLimit
        case .extended, .longName: entry.size <= Self.maxExtendedHeaderSize
        case .other: false
        }
    }

    private mutating func consumeContents(_ bytes: Span<UInt8>, _ entry: Entry) -> Int {
        let part = bytes.extracting(first: entry.size - contents.count - skippedByteCount)
        if isKept(entry) {
            contents.append(copying: part)
        } else {
            skippedByteCount += part.count
        }
        endContents(entry)
        return part.count
    }

    private mutating func endContents(_ entry: Entry) {
        guard contents.count + skippedByteCount == entry.size else { return }
        endPadding(entry, left: TarEntry.padding(of: entry.size))
    }

    private mutating func endPadding(_ entry: Entry, left: Int) {
        guard left == 0 else {
            state = .padding(entry, left: left)
            return
        }
        switch entry.purpose {
        case .file:
            memberCount += 1
            unconfirmedEvent =
                isKept(entry)
                ? .member(name: entry.name, contents: contents) : .tooLarge(name: entry.name, size: entry.size)
        case .extended:
            for record in PaxRecords(contents).records { apply(record) }
        case .longName: overrides.path = String(decoding: contents.prefix { $0 != 0 }, as: UTF8.self)
        case .other: break
        }
        contents = []
        state = .header
    }

    private mutating func apply(_ record: PaxRecords.Record) {
        if record.key.elementsEqual("path".utf8) {
            overrides.path = String(decoding: record.value, as: UTF8.self)
        } else if record.key.elementsEqual("size".utf8), let size = PaxRecords.number(record.value) {
            overrides.size = size
        }
    }
}
