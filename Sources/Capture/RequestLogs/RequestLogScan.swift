import Bundle
import Files
import Parallel
import Synchronization
import Telemetry

/// The reading of a request log. A class, because what it holds cannot be copied.
final class RequestLogScan: StoreScan {
    private let reading: Mutex<RequestLogReading>

    init(_ log: RequestLog, secret: RunSecret, spread: @escaping Spread = oneAfterAnother) {
        reading = Mutex(RequestLogReading(log, secret: secret, spread: spread))
    }

    func read(into output: inout ScanOutput) -> Bool {
        reading.withLock { reading in
            reading.read(into: &output)
            return !reading.isAtEnd
        }
    }
}

/// A request log and where it was found.
public struct RequestLog: Sendable {
    /// What it is.
    public let kind: RequestLogKind
    /// The label of the capture.
    public let label: String
    /// The path in the capture.
    public let path: String
    let source: ByteSource
    let systems: SystemTable
    let itemLimit: Int

    /// Describes a file that is a request log.
    /// - Parameter itemLimit: The maximum number of bytes of a line, or of the wanted part of an entry, that are kept in memory.
    public init(
        _ source: ByteSource, kind: RequestLogKind, label: String, path: String, systems: SystemTable,
        itemLimit: Int = 32 << 20
    ) {
        self.source = source
        self.systems = systems
        self.itemLimit = itemLimit
        self.kind = kind
        self.label = label
        self.path = path
    }

    /// Reads the whole log. Reads the next output while `consume` is called with one.
    ///
    /// - Parameter input: The index of the input.
    public func read(
        input: Int, _ options: ScanOptions, limit: JobLimit, _ consume: (ScanOutput) async throws -> Void
    ) async throws {
        let scan = RequestLogScan(self, secret: options.secret, spread: options.spread)
        var outputs = OrderedTasks<(ScanOutput, hasMore: Bool)>(limit: limit)
        let readOn = { @Sendable in
            var output = ScanOutput(capture: label, input: input, writingWith: options)
            let hasMore = scan.read(into: &output)
            return (output, hasMore: hasMore)
        }
        outputs.add(readOn)
        while let (output, hasMore) = try await outputs.next() {
            if hasMore { outputs.add(readOn) }
            try await consume(output)
        }
    }
}

/// The state of reading a request log.
private struct RequestLogReading: ~Copyable {
    private let log: RequestLog
    private let secret: RunSecret
    private let spread: Spread
    private var items: LogItems?
    private var isBegun = false
    private(set) var isAtEnd = false
    private var others: [OtherTraffic: Int] = [:]
    /// What was rejected and is still to be hashed.
    private var rejects: [SpanReject] = []
    private var hashes: SpanHashes
    private var bytesCounted = 0
    /// The requests that arrived, once it matters whether an equal one did, and the status of their answers.
    private var delivered: [RecordKey: Int]?

    private static let rejectsAtOnce = 1024

    init(_ log: RequestLog, secret: RunSecret, spread: @escaping Spread) {
        self.log = log
        self.secret = secret
        self.spread = spread
        hashes = SpanHashes(of: log.source)
    }

    mutating func read(into output: inout ScanOutput) {
        if !isBegun { begin() }
        defer {
            output.bytesRead += (items?.offset ?? bytesCounted) - bytesCounted
            bytesCounted = items?.offset ?? bytesCounted
        }
        while !output.isFull {
            guard let item = items?.next() else {
                isAtEnd = true
                return finish(&output)
            }
            switch item.finding {
            case .upload(let record, let status): take(record, status, into: &output)
            case .other(let traffic): others[traffic, default: 0] += 1
            case .reject(let reason):
                rejects.append(SpanReject(reason: reason, start: item.start, end: item.end))
                if rejects.count >= Self.rejectsAtOnce { quarantineRejects(&output) }
            }
        }
    }

    private mutating func begin() {
        isBegun = true
        do throws(PlainTextError) {
            items = try LogItems(log, spread: spread)
        } catch {
            rejects.append(SpanReject(reason: "har_damaged \(error.reason)", start: nil, end: nil))
        }
    }

    private mutating func take(_ record: Record, _ status: Int?, into output: inout ScanOutput) {
        var record = record
        if status != nil, record.deliveredStatus == nil, let other = statusOfDelivery(of: record) {
            record.notes.append("an equal request of this log was answered \(other)")
            record.held.append(.delivered(status: other))
        }
        output.add(record)
    }

    /// How a request equal to one that did not arrive was answered, when it did: a retry comes later in the log, so the log
    /// is read ahead, once.
    private mutating func statusOfDelivery(of record: Record) -> Int? {
        if delivered == nil {
            var found: [RecordKey: Int] = [:]
            // What cannot be read is reported in its turn.
            if var ahead = try? LogItems(log, onlyDelivered: true, spread: spread) {
                while let item = ahead.next() {
                    guard case .upload(let record, _) = item.finding, let status = record.deliveredStatus else {
                        continue
                    }
                    found[RecordKey(record, secret: secret)] = status
                }
            }
            delivered = found
        }
        return delivered?[RecordKey(record, secret: secret)]
    }

    private mutating func finish(_ output: inout ScanOutput) {
        for (traffic, count) in others.sorted(by: { $0.key < $1.key }) {
            let requests = "\(count) request\(count == 1 ? "" : "s")"
            output.report(Problem(traffic.code, "\(requests) \(traffic.words)"), path: log.path)
        }
        quarantineRejects(&output)
        if let problem = items?.limitProblem { output.report(problem, path: log.path) }
    }

    private mutating func quarantineRejects(_ output: inout ScanOutput) {
        do throws(PlainTextError) {
            for span in try hashes.hash(rejects) {
                output.quarantine(
                    Quarantined(
                        capture: log.label, path: log.path, store: log.kind.store, reject: span.reject,
                        size: span.size, sha256: span.sha256, isStored: false))
            }
        } catch {
            output.report(Problem("unreadable", error.reason), path: log.path)
        }
        rejects = []
    }
}
