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
    /// A line can be a file of a store, such as a ping: only a name makes it NDJSON.
    /// - Parameter name: the name of the file; nil where it has none, as the standard input.
    public init?(_ source: ByteSource, named name: String?, _ systems: SystemTable) {
        let isLines = name.map { Self.isLines(named: $0) } ?? false
        switch Self.look(at: source, systems) {
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
    init?(_ source: ByteSource, inFolderAs name: String, _ systems: SystemTable) {
        if Self.isArchive(named: name) {
            self = .httpArchive
        } else if Self.isLines(named: name), case .line(let shape) = Self.look(at: source, systems), !shape.isRecord {
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

    private static func look(at source: ByteSource, _ systems: SystemTable) -> Look {
        guard var text = try? PlainText(source) else { return .nothing }
        var head: [UInt8] = []
        var piece: [UInt8] = []
        // What is damaged later on is reported when it is read.
        while head.count < headSize, (try? text.next(into: &piece)) != nil, !piece.isEmpty { head += piece }
        var skimmer = JSONSkimmer(
            path: HTTPArchiveReader.path, outline: HTTPArchiveReader.outline, limit: headSize)
        var index = 0
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
