import Bytes
import Files
import JSONText
import Telemetry

/// The format of a request log, which contains captured requests or their payloads.
public enum RequestLogKind: Sendable {
    /// An HTTP archive (HAR 1.2).
    case httpArchive
    /// NDJSON with a record, a payload or a request in each line.
    case lines

    /// The store kind that the records of the log state as their source.
    public var store: StoreKind { self == .httpArchive ? .harEntry : .ndjsonLine }

    /// The number of first bytes that are read to detect the format.
    private static let headSize = 256 << 10
    /// The maximum number of lines that are parsed to detect the format.
    private static let lineLimit = 8
    private static let compressions = ["", Compression.gzip.suffix, Compression.zstd.suffix]

    /// Detects the format of a file by its first bytes or its name, or returns `nil` if the file is not a request log.
    ///
    /// A file with a line that may also be a complete store file, such as a ping, is a request log only if its name
    /// identifies it as NDJSON, or if `name` is `nil`, as for the standard input.
    public init?(_ source: ByteSource, named name: String?, _ systems: SystemTable) throws(FileError) {
        let isNDJSON = name.map { Self.isNDJSON(named: $0) } ?? false
        switch try Self.detect(in: source, systems) {
        case .archive: self = .httpArchive
        case .line(let shape, let isRepeated)
        where isNDJSON || name == nil || isRepeated || !shape.mayBeStoreFile:
            self = .lines
        case _ where isNDJSON: self = .lines
        case _ where name.map { Self.isArchive(named: $0) } ?? false: self = .httpArchive
        default: return nil
        }
    }

    /// Detects the format of a file in a captured folder, or returns `nil` if the file is not a request log.
    ///
    /// Files that consist of records are ignored, because they are the output of an earlier command.
    init?(_ source: ByteSource, inFolderAs name: String, _ systems: SystemTable) throws(FileError) {
        if Self.isArchive(named: name) {
            self = .httpArchive
        } else if Self.isNDJSON(named: name) {
            guard case .line(let shape, _) = try Self.detect(in: source, systems), !shape.isRecord else { return nil }
            self = .lines
        } else {
            // Usually only a few bytes are read, because a capture can contain many JSON files.
            let head = try source.bytes(at: 0, count: min(source.count, Self.beginningSize))
            guard HTTPArchiveLayout(head) == nil else { self = .httpArchive; return }
            let isCompressed = PlainText.isCompressed(head)
            guard isCompressed || Self.mayBeginLines(head) else { return nil }
            // Most files are small, and were read as a whole.
            let isWhole = !isCompressed && head.count == source.count
            let text = try isWhole ? Self.readable(head) : Self.head(of: source)
            guard HTTPArchiveLayout(text) == nil else { self = .httpArchive; return }
            switch Self.detect(text, systems) {
            case .line(let shape, let isRepeated)
            where !shape.isRecord && (isRepeated || !shape.isRequest && !shape.mayBeStoreFile):
                self = .lines
            case .line, .archive, .nothing: return nil
            }
        }
    }

    /// Returns whether the first line of a text that begins with `head` may be a whole JSON object.
    private static func mayBeginLines(_ head: [UInt8]) -> Bool {
        if ByteOrderMark.otherEncoding(ofJSON: head) != nil { return true }
        let line = head.blankingByteOrderMark.drop(while: \.isBlank).prefix { $0 != UInt8(ascii: "\n") }
        guard line.first == UInt8(ascii: "{") else { return false }
        // The end of a long line is not in the head.
        return line.endIndex == head.count || line.last { !$0.isBlank } == UInt8(ascii: "}")
    }

    /// The number of first bytes that are read of a file that has only the name of a JSON or text file.
    private static let beginningSize = 4096

    /// Returns whether a file has the name of a request log.
    static func isLogName(_ name: String) -> Bool { isArchive(named: name) || isNDJSON(named: name) }

    /// Returns whether a file may be a request log, judged by its name and the names of its folders.
    static func mayBeLog(_ name: String, in folders: @autoclosure () -> [String]) -> Bool {
        isLogName(name) || containsInfix(name)
            || jsonSuffixes.contains(where: name.utf8.hasSuffixIgnoringCase)
                && !MemberNames.isInContainer(folders())
    }

    /// Returns whether a file outside of the folders of apps has the name of a text, which may be a request log.
    ///
    /// The first bytes of the file must show it.
    static func mayBeText(_ name: some BidirectionalCollection<UInt8>, in folders: [String]) -> Bool {
        textSuffixes.contains(where: name.hasSuffixIgnoringCase) && !MemberNames.isInContainer(folders)
    }

    /// Returns whether a file has the name of a request log with a compression that is not read.
    static func isNameOfUnreadLog(_ name: [UInt8]) -> Bool {
        unreadSuffixes.contains(where: name.hasSuffixIgnoringCase)
    }

    private static func isArchive(named name: String) -> Bool {
        archiveSuffixes.contains(where: name.utf8.hasSuffixIgnoringCase)
    }

    private static func isNDJSON(named name: String) -> Bool {
        lineSuffixes.contains(where: name.utf8.hasSuffixIgnoringCase)
    }

    private static let archiveSuffixes = compressions.flatMap { [".har\($0)", ".chlsj\($0)"] } + [".zhar"]
    private static let lineSuffixes = compressions.flatMap { [".ndjson\($0)", ".jsonl\($0)"] }
    private static let jsonSuffixes = compressions.map { ".json\($0)" }
    private static let textSuffixes = compressions.flatMap { [".txt\($0)", ".log\($0)"] }
    private static let unreadSuffixes = [".har", ".chlsj", ".ndjson", ".jsonl"].flatMap { log in
        ["br", "bz2", "lz4", "xz"].map { "\(log).\($0)" }
    }
    private static let infix = Array(".har.".utf8)

    /// Returns whether `.har.` is in the name, as in `a.har.txt`.
    private static func containsInfix(_ name: String) -> Bool {
        let name = name.utf8
        return name.indices.contains { start in
            name[start] == infix[0] && name[start...].prefix(infix.count).elementsEqual(infix) { $0.lowercased == $1 }
        }
    }

    private enum Detected {
        case archive
        /// A line was recognized. `isRepeated` states whether another line was, so that the file is no store file.
        case line(LineContents, isRepeated: Bool)
        case nothing
    }

    /// Returns the first bytes of the decompressed text, up to any damage.
    ///
    /// Damage is reported later, when the log is read.
    private static func head(of source: ByteSource) throws(FileError) -> [UInt8] {
        let start = try source.bytes(at: 0, count: min(source.count, headSize))
        if ByteOrderMark.otherEncoding(ofJSON: start) != nil { return readable(start) }
        var head: [UInt8] = []
        do {
            var text = try PlainText(source)
            var piece: [UInt8] = []
            repeat {
                try text.next(into: &piece)
                head += piece
            } while head.count < headSize && !piece.isEmpty
        } catch let error as FileError {
            throw error
        } catch {
            // The bytes before the damage suffice to recognize the log. The damage is reported when the log is read.
        }
        return head
    }

    /// Returns the first bytes of a text in UTF-8, even if they are in another encoding.
    ///
    /// The text of most logs is ASCII. Reading the log reports the encoding.
    private static func readable(_ start: [UInt8]) -> [UInt8] {
        ByteOrderMark.otherEncoding(ofJSON: start) == nil
            ? start.blankingByteOrderMark : start.filter { (1..<0x80).contains($0) }
    }

    private static func detect(in source: ByteSource, _ systems: SystemTable) throws(FileError) -> Detected {
        detect(try head(of: source), systems)
    }

    private static func detect(_ head: [UInt8], _ systems: SystemTable) -> Detected {
        var arrayReader = JSONArrayStreamReader(
            path: HTTPArchiveLayout.standard.path, outline: HTTPArchiveEntry.outline, limit: headSize)
        var index = 0
        // Malformed JSON ends the search like the end of the bytes.
        while (try? arrayReader.next(in: head.span, from: &index)) != nil {}
        if arrayReader.progress > 0 || HTTPArchiveLayout(head) != nil { return .archive }
        // A bundle contains lines of records too, but also the headers of its members, which contain zero bytes.
        guard !head.span.contains(0) else { return .nothing }
        let lines = head.split(maxSplits: lineLimit) { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        var first: LineContents?
        for line in lines.prefix(lineLimit) {
            guard let shape = LineContents(line: Array(line), systems) else { continue }
            if let first { return .line(first, isRepeated: true) }
            first = shape
        }
        return first.map { .line($0, isRepeated: false) } ?? .nothing
    }
}
