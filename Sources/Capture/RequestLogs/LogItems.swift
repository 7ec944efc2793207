import Parallel
import Synchronization
import Telemetry

/// The items of a log of either kind, in order: cut out one after another, read several at the same time, while the next
/// ones are cut.
struct LogItems {
    private let cutter: LogCutter
    private let readers: SparePool<LogReader, Never>
    private let spread: Spread
    private var repeats: TimelessRepeats
    /// What was read and not asked for yet.
    private var waiting: ArraySlice<LogItem> = []
    /// What was cut and not read yet.
    private var round: LogCutter.Round
    private let kind: RequestLogKind
    private let rejectLimit: Int
    private var rejectCount = 0
    /// The problem that ended the log before its end; nil if there is none.
    private(set) var limitProblem: Problem?

    /// Begins at the start of a log.
    /// - Parameter onlyDelivered: whether requests that did not arrive may be left out as other traffic.
    init(_ log: RequestLog, onlyDelivered: Bool = false, spread: @escaping Spread) throws(PlainTextError) {
        cutter = LogCutter(try LogCuts(log))
        round = cutter.nextRound()
        readers = SparePool { LogReader(log, onlyDelivered: onlyDelivered) }
        repeats = TimelessRepeats(log.systems)
        kind = log.kind
        rejectLimit = Self.rejectLimit(of: log)
        self.spread = spread
    }

    /// The maximum number of items of a log that may be rejected. A few bytes can decompress to millions of lines, so the limit
    /// depends on the length of the file: no real line takes less than 16 bytes of it on average.
    private static func rejectLimit(of log: RequestLog) -> Int { min(10_000 + log.source.count / 16, 1_000_000) }

    /// How many bytes of plain text were cut and read.
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

    /// Ends the log in front of an item.
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

/// Cuts a log, as much at once as several jobs read.
private final class LogCutter: Sendable {
    /// What is read at once, by several jobs; none at the end.
    struct Round: Sendable {
        var jobs: [[LogCut]] = []
        /// How many bytes of plain text were cut by then.
        var offset = 0
    }

    private let cuts: Mutex<LogCuts>

    /// How many bytes of text one job reads, and how many a round has, but for the last item of them.
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

    /// What one job reads; nil at the end.
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

/// What cuts a log of either kind.
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

/// A reader of the items of a log of either kind. It keeps its memory from one item to the next.
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
