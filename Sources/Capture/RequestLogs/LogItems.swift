import Parallel
import Synchronization
import Telemetry

/// Reads the items of a request log in order.
///
/// Several jobs parse items while the next items are split off.
struct LogItems {
    private let cutter: LogCutter
    private let readers: SparePool<LogReader, Never>
    private let spread: Spread
    private var repeats: TimelessRepeats
    /// The items that were parsed and not returned yet.
    private var waiting: ArraySlice<LogItem> = []
    /// The items that were split off and not parsed yet.
    private var round: LogCutter.Round
    private let kind: RequestLogKind
    private let rejectLimit: Int
    private var rejectCount = 0
    /// The problem that ended the log early, or `nil` if there is none.
    private(set) var limitProblem: Problem?

    /// Creates a reader at the start of a log.
    ///
    /// With `onlyDelivered`, undelivered requests may be treated as other traffic.
    init(_ log: RequestLog, onlyDelivered: Bool = false, spread: @escaping Spread) throws(PlainTextError) {
        cutter = LogCutter(try LogCuts(log))
        round = cutter.nextRound()
        readers = SparePool { LogReader(log, onlyDelivered: onlyDelivered) }
        repeats = TimelessRepeats(log.systems)
        kind = log.kind
        rejectLimit = Self.rejectLimit(of: log)
        self.spread = spread
    }

    /// Returns the maximum number of rejected items in a log.
    ///
    /// The limit depends on the size of the file, because a few bytes can decompress to millions of lines. Real lines
    /// occupy at least 16 bytes of the file on average.
    private static func rejectLimit(of log: RequestLog) -> Int { min(10_000 + log.source.count / 16, 1_000_000) }

    /// The number of bytes of plain text that were parsed.
    private(set) var offset = 0

    mutating func next() -> LogItem? {
        if waiting.isEmpty { waiting = readOn()[...] }
        guard var item = waiting.popFirst() else { return nil }
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

    /// Ends the log before `item`.
    private mutating func stop(at item: LogItem) {
        waiting = []
        round.jobs = []
        let (code, items) =
            switch kind {
            case .httpArchive: ("entry_limit", "entries")
            case .lines: ("line_limit", "lines")
            }
        limitProblem = Problem(
            code, "more than \(rejectLimit) \(items) were rejected; the rest of the log is not read", at: item.start)
    }

    private mutating func readOn() -> [LogItem] {
        let jobs = round.jobs
        offset = round.offset
        guard !jobs.isEmpty else { return [] }
        let results = Mutex([[LogItem]](repeating: [], count: jobs.count))
        let next = Mutex(LogCutter.Round())
        spread(jobs.count + 1) { [cutter, readers] number in
            if number == 0 {
                let round = cutter.nextRound()
                next.withLock { $0 = round }
            } else {
                let items = readers.withSpare { reader in jobs[number - 1].map { LogReader.read($0, with: &reader) } }
                results.withLock { $0[number - 1] = items }
            }
        }
        round = next.withLock { $0 }
        return results.withLock { Array($0.joined()) }
    }
}

/// Splits a log into rounds of items that several jobs parse.
private final class LogCutter: Sendable {
    /// The items that several jobs parse at the same time.
    ///
    /// At the end there are no jobs.
    struct Round: Sendable {
        var jobs: [[LogCut]] = []
        /// The number of bytes of plain text that were split off so far.
        var offset = 0
    }

    private let cuts: Mutex<LogCuts>

    /// The number of bytes of text that one job parses, and that a round contains.
    ///
    /// The last item may exceed it.
    private static let bytesPerJob = 128 << 10
    private static let bytesPerRound = 2 << 20

    init(_ cuts: consuming sending LogCuts) {
        self.cuts = Mutex(cuts)
    }

    func nextRound() -> Round {
        cuts.withLock { cuts in
            var round = Round()
            var size = 0
            while size < Self.bytesPerRound, let job = Self.cutJob(from: &cuts) {
                size += job.reduce(0) { $0 + $1.size }
                round.jobs.append(job)
            }
            round.offset = cuts.offset
            return round
        }
    }

    /// Returns the items for one job, or `nil` at the end.
    private static func cutJob(from cuts: inout LogCuts) -> [LogCut]? {
        var job: [LogCut] = []
        var size = 0
        while size < bytesPerJob, let cut = cuts.next() {
            size += cut.size
            job.append(cut)
        }
        return job.isEmpty ? nil : job
    }
}

/// The splitter for the kind of a log.
private enum LogCuts: ~Copyable {
    case archive(HTTPArchiveScan)
    case lines(LineScan)

    init(_ log: RequestLog) throws(PlainTextError) {
        switch log.kind {
        case .httpArchive: self = .archive(try HTTPArchiveScan(log))
        case .lines: self = .lines(try LineScan(log))
        }
    }

    var offset: Int {
        switch self {
        case .archive(let scan): scan.offset
        case .lines(let scan): scan.offset
        }
    }

    mutating func next() -> LogCut? {
        switch consume self {
        case .archive(var scan):
            let cut = scan.next()
            self = .archive(scan)
            return cut
        case .lines(var scan):
            let cut = scan.next()
            self = .lines(scan)
            return cut
        }
    }
}

/// The parser for the kind of a log, which reuses its memory for each item.
private enum LogReader: Sendable {
    case archive(HTTPArchiveReader)
    case lines(PayloadLineReader)

    init(_ log: RequestLog, onlyDelivered: Bool) {
        switch log.kind {
        case .httpArchive:
            self = .archive(
                HTTPArchiveReader(
                    capture: log.label, path: log.path, systems: log.systems, onlyDelivered: onlyDelivered))
        case .lines: self = .lines(PayloadLineReader(capture: log.label, path: log.path, systems: log.systems))
        }
    }

    static func read(_ cut: LogCut, with reader: inout LogReader) -> LogItem {
        let text: [UInt8]
        let index: Int
        switch cut.contents {
        case .fault(let reason): return LogItem(finding: .reject(reason), start: cut.start, end: cut.end)
        case .text(let bytes, let place): (text, index) = (bytes, place)
        }
        switch consume reader {
        case .archive(var archive):
            var finding = archive.read(text, index: index)
            if case .reject(let reason) = finding { finding = .reject("\(reason) (entry \(index))") }
            reader = .archive(archive)
            return LogItem(finding: finding, isPayload: true, start: cut.start, end: cut.end)
        case .lines(var lines):
            let finding = lines.read(text, index: index)
            let isPayload = lines.isPayload
            reader = .lines(lines)
            return LogItem(finding: finding, isPayload: isPayload, start: cut.start, end: cut.end)
        }
    }
}
