import Files
import JSONText
import PropertyList
import Telemetry

/// A builder that creates list requests from the files in the folder of the SDK.
///
/// The files must be read in this order: keys, collector, uploader, queues. Only pending events, which are the events
/// of batches and queues, become requests. The last accepted event of a queue is only used for its device properties.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 3 and 9.
package struct SiftStore {
    private let applicationID: String?
    /// Whether queues report the number of repeated events, which requires a comparison of all adjacent events.
    private let comparesEvents: Bool
    private let limit: JobLimit
    private var target: Target?
    private var requests: [SiftRequest] = []
    private var batchEntries = SiftBatchEntries()
    private var report = StoreReport()
    private var appProperties: AppProperties?

    /// The information about the app in the device properties of an event.
    private struct AppProperties {
        let time: Int64
        let name: String?
        let version: String?
        let build: String?
    }

    /// Creates a store from which no files have been read.
    package init(applicationID: String?, comparesEvents: Bool, limit: JobLimit = JobLimit(jobs: 1)) {
        self.comparesEvents = comparesEvents
        self.limit = limit
        self.applicationID = applicationID
    }

    /// Reads a file of the SDK, and keeps its requests for ``finish()``.
    package mutating func read(
        _ bytes: [UInt8], of file: SiftFile, part: Int, from source: Source, into output: inout ScanOutput
    ) throws {
        let reject: Reject?
        do throws(PropertyListError) {
            reject = try readContents(bytes, of: file, part: part, from: source, into: &output)
        } catch {
            reject = Reject("\(error.code.rawValue) \(error.reason)", offset: error.offset)
        }
        if let reject { try output.reject(reject) }
    }

    /// Reads a file, and returns the reject for the events that cannot be read, or `nil` if there are none.
    private mutating func readContents(
        _ bytes: [UInt8], of file: SiftFile, part: Int, from source: Source, into output: inout ScanOutput
    ) throws(PropertyListError) -> Reject? {
        var archive = try SiftArchive(bytes)
        if let repeated = archive.archive.document.repeatedKeys {
            output.report(Problem(repeated.code.rawValue, repeated.reason, at: repeated.offset))
        }
        switch file {
        case .keys: readKeys(&archive)
        case .collector: readCollector(&archive, into: &output)
        case .uploader:
            let lists = SiftListReader(archive, byteCount: bytes.count, limit: limit)
            return try readUploader(lists, part: part, from: source, into: &output)
        case .queue(let identifier):
            // The entries are moved into the reader and back, because a copy would be as large as all batches.
            let known = batchEntries
            batchEntries = SiftBatchEntries()
            let lists = SiftListReader(archive, byteCount: bytes.count, batchEntries: consume known, limit: limit)
            return try readQueue(lists, named: identifier, part: part, from: source, into: &output)
        }
        return nil
    }

    /// Returns the records of all files with the parts that they belong to, and the report on the store.
    package consuming func finish() -> (records: [(part: Int, record: Record)], report: StoreReport) {
        let app = App(
            id: applicationID, name: appProperties?.name, version: appProperties?.version, build: appProperties?.build)
        var records: [(part: Int, record: Record)] = []
        // A request is removed before its record is made, so that its payload is not copied.
        requests.reverse()
        while let request = requests.popLast() {
            let part = request.part
            if let record = (consume request).record(app: app, target: target) { records.append((part, record)) }
        }
        return (records, report)
    }
}

// MARK: - Keys and collector

extension SiftStore {
    /// Reads the account id, and reports whether the other keys are present.
    private mutating func readKeys(_ archive: inout SiftArchive) {
        let account = archive.text(forKey: "accountId")
        target = account.flatMap { SiftTarget.path(account: $0) }.map { Target(path: $0) }
        let keys = [
            ("account id", account != nil), ("beacon key", archive.text(forKey: "beaconKey") != nil),
            ("user id", archive.text(forKey: "userId") != nil),
        ]
        report.facts.append(keys.map { "\($0) \($1 ? "present" : "absent")" }.joined(separator: ", "))
    }

    private mutating func readCollector(_ archive: inout SiftArchive, into output: inout ScanOutput) {
        let collected = integerOrZero(forKey: "lastCollectedAt", of: &archive, into: &output)
        guard let last = Timestamp(milliseconds: collected), collected != 0 else {
            return report.facts.append("app states never collected")
        }
        updateNewestTime(collected)
        var fact = "app states last collected \(last)"
        if let tokens = archive.tokenDescription { fact += ", \(tokens)" }
        report.facts.append(fact)
    }

    /// Returns the integer for `key` in the root, or 0 if there is none.
    ///
    /// A value that is not a number is reported as a problem.
    private func integerOrZero(forKey key: String, of archive: inout SiftArchive, into output: inout ScanOutput)
        -> Int64
    {
        do throws(PropertyListError) {
            return try archive.integer(forKey: key) ?? 0
        } catch {
            let text = "\(error.reason), read as 0, at byte \(error.offset)"
            output.report(Problem(error.code.rawValue, text, at: error.offset))
            return 0
        }
    }

    /// Updates the newest time in the report with a time in milliseconds since 1970.
    private mutating func updateNewestTime(_ instant: Int64) {
        if instant > report.newest, Timestamp(milliseconds: instant) != nil { report.newest = instant }
    }
}

// MARK: - Uploader and queues

extension SiftStore {
    private mutating func readUploader(
        _ lists: consuming SiftListReader, part: Int, from source: Source, into output: inout ScanOutput
    ) throws(PropertyListError) -> Reject? {
        let batches = try lists.archive.list(forKey: "batches")
        for index in 0..<batches.count {
            let name = "batch \(index)"
            let list: KeyedElements
            do throws(PropertyListError) {
                list = try lists.archive.batch(at: index, of: batches)
            } catch {
                lists.addLostList(error, named: name)
                continue
            }
            try lists.read(list, depth: 3, named: name, source: source.record(at: index), part: part)
        }
        batchEntries = lists.takeBatchEntries()
        let rejections = integerOrZero(forKey: "numRejects", of: &lists.archive, into: &output)
        if rejections > 0 {
            report.facts.append("batch 0 was rejected \(rejections == 1 ? "once" : "\(rejections) times") so far")
        }
        return addResults(of: &lists, part: part, queue: nil, into: &output)
    }

    private mutating func readQueue(
        _ lists: consuming SiftListReader, named identifier: String, part: Int, from source: Source,
        into output: inout ScanOutput
    ) throws(PropertyListError) -> Reject? {
        defer { batchEntries = lists.takeBatchEntries() }
        let list = try lists.archive.list(forKey: "queue")
        try lists.read(list, depth: 2, named: "the queue", source: source, part: part)
        let (last, lastKey) = lists.readLastEvent()
        let era = Self.era(of: &lists, lastKey: lastKey)
        let clock = integerOrZero(
            forKey: era == .current ? "lastUploadTimestamp" : "lastEventTimestamp", of: &lists.archive, into: &output)
        updateNewestTime(clock)
        if let last { updateNewestTime(last) }
        var equality = SiftEventEquality(lists.archive)
        let repetitionCount = comparesEvents ? equality.repetitionCount(in: list, of: &lists.archive) : nil
        let queue = SiftQueue(
            identifier: identifier, pendingCount: list.count, era: era, clockTime: clock, lastEventTime: last,
            repetitionCount: repetitionCount)
        return addResults(of: &lists, part: part, queue: queue, into: &output)
    }

    /// Returns the era of the SDK version that wrote a queue, from the keys of the root or from device properties.
    private static func era(of lists: inout SiftListReader, lastKey: String?) -> SiftQueueRules.Era {
        guard (try? lists.archive.entry(forKey: "lastUploadTimestamp")) == nil,
            (try? lists.archive.entry(forKey: "lastEventTimestamp")) != nil
        else { return .current }
        if lastKey == "last_event" { return .first }
        guard let pairs = lists.newestProperties?.pairs,
            let version = lists.archive.text(forKey: "sdk_version", in: pairs)
        else { return .third }
        return ["v0.9.0", "v0.9.1", "v0.9.2", "v0.9.3"].contains(version) ? .second : .third
    }

    private mutating func addResults(
        of lists: inout SiftListReader, part: Int, queue: SiftQueue?, into output: inout ScanOutput
    ) -> Reject? {
        let assembler = lists.assembler
        requests += assembler.requests
        updateNewestTime(assembler.newestTime)
        if let (time, pairs) = lists.newestProperties, time >= appProperties?.time ?? 0 {
            appProperties = AppProperties(
                time: time, name: lists.archive.text(forKey: "app_name", in: pairs),
                version: lists.archive.text(forKey: "app_version_short", in: pairs),
                build: lists.archive.text(forKey: "app_version", in: pairs))
        }
        report.parts.append(StoreReport.Part(part: part, events: assembler.counts.byName, queue: queue))
        for problem in assembler.problems { output.report(problem) }
        return assembler.losses.isEmpty ? nil : Reject(assembler.rejectReason)
    }
}
