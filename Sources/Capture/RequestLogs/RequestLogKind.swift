import Files
import JSONText
import Telemetry

/// A file with captured requests or their payloads.
public enum RequestLogKind: Sendable {
    /// An HTTP archive (HAR 1.2).
    case httpArchive
    /// NDJSON: records of ours, payloads, or requests, a line each.
    case lines

    /// How records name the kind of store.
    public var store: StoreKind { self == .httpArchive ? .harEntry : .ndjsonLine }

    /// How many bytes of a file are looked at to find its kind.
    private static let headSize = 256 << 10
    /// How many lines are looked at until one is found that is not broken.
    private static let linesLooked = 8
    private static let compressions = ["", ".gz", ".zst"]

    /// Finds out what a file is by its first bytes, decompressed, and where these do not tell, by its name; nil if it is no
    /// request log.
    ///
    /// A line can be a file of a store, such as a ping: only a name makes it NDJSON. The standard input has no name.
    public init?(_ source: ByteSource, named name: String?, _ systems: SystemTable) throws(FileError) {
        let isLines = name.map { Self.isLines(named: $0) } ?? false
        switch try Self.look(at: source, systems) {
        case .archive: self = .httpArchive
        case .line(let shape) where isLines || name == nil || !shape.mayBeStoreFile: self = .lines
        case _ where isLines: self = .lines
        case _ where name.map { Self.isArchive(named: $0) } ?? false: self = .httpArchive
        default: return nil
        }
    }

    /// Finds out whether a file in a folder of other files is a request log: by its name and, for lines, by the first ones.
    ///
    /// Records of ours are none: a conversion that was written into the folder is no part of the capture.
    init?(_ source: ByteSource, inFolderAs name: String, _ systems: SystemTable) throws(FileError) {
        if Self.isArchive(named: name) {
            self = .httpArchive
        } else if Self.isLines(named: name), case .line(let shape) = try Self.look(at: source, systems), !shape.isRecord
        {
            self = .lines
        } else {
            return nil
        }
    }

    /// Whether a name is one that request logs have.
    static func isName(_ name: String) -> Bool { isArchive(named: name) || isLines(named: name) }

    private static func isArchive(named name: String) -> Bool {
        compressions.contains { name.hasSuffix(".har\($0)") } || name.hasSuffix(".zhar")
    }

    private static func isLines(named name: String) -> Bool {
        compressions.contains { name.hasSuffix(".ndjson\($0)") || name.hasSuffix(".jsonl\($0)") }
    }

    private enum Look {
        case archive
        case line(LineContents)
        case nothing
    }

    /// Reads the first bytes of the plain text. They end before damage, which is reported when the log is read.
    private static func head(of source: ByteSource) throws(FileError) -> [UInt8] {
        var head: [UInt8] = []
        do throws(PlainTextError) {
            var text = try PlainText(source)
            var piece: [UInt8] = []
            repeat {
                try text.next(into: &piece)
                head += piece
            } while head.count < headSize && !piece.isEmpty
        } catch {
            if case .file(let error) = error { throw error }
        }
        return head
    }

    private static func look(at source: ByteSource, _ systems: SystemTable) throws(FileError) -> Look {
        let head = try head(of: source)
        var skimmer = JSONSkimmer(
            path: HTTPArchiveReader.path, outline: HTTPArchiveEntry.outline, limit: headSize)
        var index = 0
        // Malformed JSON ends the search, as the end of the bytes does.
        while (try? skimmer.next(in: head.span, from: &index)) != nil {}
        if skimmer.progress > 0 { return .archive }
        // Records stand on lines in a bundle too, between the headers of its members.
        guard !head.contains(0) else { return .nothing }
        let lines = head.split(maxSplits: linesLooked) { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        for line in lines.prefix(linesLooked) {
            if let shape = LineContents(line: Array(line), systems) { return .line(shape) }
        }
        return .nothing
    }
}
