import Bytes
import Files
import JSONText
import Synchronization
import Telemetry

/// A reader that provides the items of a request log in order.
///
/// Several jobs parse items while another job splits off the next items.
struct LogItems {
    private let batcher: LogBatcher
    private let readers: ValuePool<LogReader, Never>
    private let limit: JobLimit
    private var repeats: RepeatedPayloadCounter
    private var parsed: ArraySlice<LogItem> = []
    /// The items that were split off, but not parsed yet.
    private var batch: LogBatcher.Batch
    private let kind: RequestLogKind
    private let rejectLimit: Int
    private var rejectCount = 0
    /// The problem because of which the rest of the log is not read, or `nil` if there is none.
    private(set) var limitProblem: Problem?

    /// Creates a reader at the start of a log.
    ///
    /// If `onlyDelivered` is `true`, undelivered requests may be treated as other traffic.
    init(_ log: RequestLog, onlyDelivered: Bool = false, limit: JobLimit) throws {
        batcher = LogBatcher(try LogSplitter(log))
        batch = batcher.nextBatch()
        readers = ValuePool { LogReader(log, onlyDelivered: onlyDelivered) }
        repeats = RepeatedPayloadCounter(log.systems)
        kind = log.kind
        rejectLimit = Self.rejectLimit(of: log)
        self.limit = limit
    }

    /// Returns the maximum number of rejected items in a log.
    ///
    /// It grows by one for each 16 bytes of the file.
    private static func rejectLimit(of log: RequestLog) -> Int {
        let range = InputLimits.logRejectCount
        return min(range.lowerBound + log.source.count / 16, range.upperBound)
    }

    /// The number of bytes of decompressed text that were parsed.
    private(set) var offset = 0

    mutating func next() -> LogItem? {
        if parsed.isEmpty { parsed = parseBatch()[...] }
        guard var item = parsed.popFirst() else { return nil }
        if case .reject = item.finding {
            rejectCount += 1
            if rejectCount > rejectLimit {
                stop(at: item)
                return nil
            }
        }
        if item.isPayload, case .upload(var record, let status) = item.finding {
            repeats.number(&record)
            item.finding = .upload(record, status: status)
        }
        return item
    }

    private mutating func stop(at item: LogItem) {
        parsed = []
        batch.jobs = []
        let (code, items) =
            switch kind {
            case .httpArchive: ("entry_limit", "entries")
            case .lines: ("line_limit", "lines")
            }
        limitProblem = Problem(
            code, "more than \(rejectLimit) \(items) were rejected; the rest of the log is not read", at: item.start)
    }

    private mutating func parseBatch() -> [LogItem] {
        let jobs = batch.jobs
        offset = batch.offset
        guard !jobs.isEmpty else { return [] }
        let results = Mutex([[LogItem]](repeating: [], count: jobs.count))
        let next = Mutex(LogBatcher.Batch())
        limit.concurrentPerform(jobs.count + 1) { [batcher, readers] number in
            if number == 0 {
                let batch = batcher.nextBatch()
                next.withLock { $0 = batch }
            } else {
                let items = readers.withPooledValue { reader in
                    jobs[number - 1].map { LogReader.read($0, with: &reader) }
                }
                results.withLock { $0[number - 1] = items }
            }
        }
        batch = next.withLock { $0 }
        return results.withLock { Array($0.joined()) }
    }
}

/// A splitter that divides a log into batches of items, which several jobs parse.
private final class LogBatcher: Sendable {
    /// The items that are parsed at the same time, grouped by job.
    ///
    /// At the end of the log, there are no jobs.
    struct Batch: Sendable {
        var jobs: [[RawLogItem]] = []
        /// The number of bytes of decompressed text that were split off so far.
        var offset = 0
    }

    private let splitter: Mutex<LogSplitter>

    /// The minimum memory size, in bytes, of the items for one job, unless the log ends.
    private static let bytesPerJob = 128 << 10
    private static let bytesPerBatch = 2 << 20

    init(_ splitter: consuming sending LogSplitter) {
        self.splitter = Mutex(splitter)
    }

    func nextBatch() -> Batch {
        splitter.withLock { splitter in
            var batch = Batch()
            var size = 0
            while size < Self.bytesPerBatch, let job = Self.nextJob(from: &splitter) {
                size += job.reduce(0) { $0 + $1.size }
                batch.jobs.append(job)
            }
            batch.offset = splitter.offset
            return batch
        }
    }

    private static func nextJob(from splitter: inout LogSplitter) -> [RawLogItem]? {
        var job: [RawLogItem] = []
        var size = 0
        while size < bytesPerJob, let item = splitter.next() {
            size += item.size
            job.append(item)
        }
        return job.isEmpty ? nil : job
    }
}

/// The splitter for the format of a log.
private enum LogSplitter: ~Copyable {
    case archive(HTTPArchiveSplitter)
    case lines(LineSplitter)

    init(_ log: RequestLog) throws {
        switch log.kind {
        case .httpArchive: self = .archive(try HTTPArchiveSplitter(log))
        case .lines: self = .lines(try LineSplitter(log))
        }
    }

    var offset: Int {
        switch self {
        case .archive(let scan): scan.offset
        case .lines(let scan): scan.offset
        }
    }

    mutating func next() -> RawLogItem? {
        switch consume self {
        case .archive(var scan):
            let item = scan.next()
            self = .archive(scan)
            return item
        case .lines(var scan):
            let item = scan.next()
            self = .lines(scan)
            return item
        }
    }
}

/// The parser for the format of a log, which reuses its memory for each item.
private enum LogReader: Sendable {
    case archive(HTTPArchiveReader)
    case lines(PayloadLineReader)

    init(_ log: RequestLog, onlyDelivered: Bool) {
        switch log.kind {
        case .httpArchive:
            self = .archive(
                HTTPArchiveReader(
                    capture: log.label, path: log.path, systems: log.systems, attachedBodies: log.attachedBodies,
                    onlyDelivered: onlyDelivered))
        case .lines: self = .lines(PayloadLineReader(capture: log.label, path: log.path, systems: log.systems))
        }
    }

    static func read(_ item: RawLogItem, with reader: inout LogReader) -> LogItem {
        let text: [UInt8]
        let index: Int
        switch item.contents {
        case .fault(let reason): return LogItem(finding: .reject(reason), start: item.start, end: item.end)
        case .text(let bytes, let position): (text, index) = (bytes, position)
        }
        switch consume reader {
        case .archive(var archive):
            var finding = archive.read(text, index: index)
            if case .reject(let reason) = finding { finding = .reject("\(reason) (entry \(index))") }
            reader = .archive(archive)
            return LogItem(finding: finding, isPayload: true, start: item.start, end: item.end)
        case .lines(var lines):
            let finding = lines.read(text, index: index)
            let isPayload = lines.isPayload
            reader = .lines(lines)
            return LogItem(finding: finding, isPayload: isPayload, start: item.start, end: item.end)
        }
    }
}

// MARK: - Items

/// A finding in a request log, and its location in the decompressed text.
struct LogItem: Sendable {
    var finding: LogFinding
    /// Whether the finding is from a payload that is not in a record or a store file.
    ///
    /// Equal payloads without an ID and a time are numbered.
    var isPayload = false
    /// The offset of the first byte, or `nil` if the finding concerns the whole file.
    let start: Int?
    let end: Int?
}

/// An entry or a line of a request log before it is parsed, or a fault in the log.
struct RawLogItem: Sendable {
    enum Contents: Sendable {
        case text([UInt8], index: Int)
        case fault(String)
    }

    let contents: Contents
    /// The offset of the first byte, or `nil` if a fault concerns the whole file.
    let start: Int?
    let end: Int?

    /// The approximate memory size in bytes.
    ///
    /// Faults have a size too, because a hostile log may have many of them.
    var size: Int {
        if case .text(let bytes, _) = contents { bytes.count + 512 } else { 512 }
    }
}

// MARK: - LineSplitter

/// A splitter that divides an NDJSON file into its nonempty lines, which end with LF or CR LF.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", section 7.
private struct LineSplitter: ~Copyable {
    private var pieces: TextPieces
    private var line: LimitedBytes
    /// The offset of the current line, or `nil` before the first piece.
    private var lineStart: Int?
    private let itemLimit: Int
    private var index = 0
    private var isAtEnd = false

    var offset: Int { pieces.offset }

    init(_ log: RequestLog) throws {
        pieces = try TextPieces(log.source)
        itemLimit = log.itemLimit
        line = LimitedBytes(byteLimit: log.itemLimit)
    }

    /// Returns the next line or fault, or `nil` at the end.
    mutating func next() -> RawLogItem? {
        while !isAtEnd {
            if !pieces.isConsumed {
                let (part, isEnded) = pieces.advance(past: UInt8(ascii: "\n"))
                let piece = pieces.piece
                line.append(piece.span.extracting(part))
                if isEnded, let item = endLine(at: pieces.currentOffset - 1) { return item }
            } else if pieces.advance() {
                lineStart = lineStart ?? pieces.currentOffset
            } else {
                isAtEnd = true
                // The last line is cut off by the fault, and is reported together with the unreadable rest.
                if let fault = pieces.fault {
                    return RawLogItem(contents: .fault("line_damaged \(fault)"), start: lineStart, end: nil)
                }
                return endLine(at: pieces.offset)
            }
        }
        return nil
    }

    private mutating func endLine(at end: Int) -> RawLogItem? {
        let start = lineStart
        defer {
            line.removeAll()
            lineStart = end + 1
            index += 1
        }
        guard !line.isTooLong else {
            let fault = "line_too_large line \(index + 1): more than \(itemLimit) bytes"
            return RawLogItem(contents: .fault(fault), start: start, end: end)
        }
        if line.bytes.last == UInt8(ascii: "\r") { line.removeLast() }
        guard line.bytes.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) else { return nil }
        return RawLogItem(contents: .text(line.bytes.span.copied(), index: index), start: start, end: end)
    }
}
