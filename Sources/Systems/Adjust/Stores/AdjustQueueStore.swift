import Bytes
import Files
import PropertyList
import Telemetry

/// The file that contains the queue.
struct AdjustQueueStore: AdjustStore {
    let location: FileLocation
    let system: SystemName? = .adjust
    let kind = StoreKind.adjustQueue
    let fileCount = 1
    let isReadByOneJob = false

    var path: String { location.path }

    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan { AdjustQueueScan(self, in: context) }
}

/// A scan that reads a queue package by package.
///
/// Only the hash of a damaged queue is put into quarantine, because packages contain credentials.
private struct AdjustQueueScan: StoreScan {
    private let context: StoreContext
    private let folderPath: String
    private let file: StoreFile
    private var buffer = StoreFileBuffer()
    private var hasStarted = false
    /// The reader of the queue, or `nil` if the queue is not open yet or cannot be read.
    private var reader: AdjustQueueReader?
    /// The files that apply to the queue.
    private var surroundings = AdjustContext()
    /// The keys of the packages in the queue that the SDK uses instead, or `nil` if there is no such readable queue.
    private var livePackages: Set<RecordKey>?
    private var isSuperseded = false
    /// The client of the previous package.
    private var lastClient: CapturedText?

    init(_ store: AdjustQueueStore, in context: StoreContext) {
        self.context = context
        folderPath = store.location.folderPath
        file = StoreFile(name: store.location.name, path: store.path, kind: store.kind, credentials: .always)
    }

    mutating func read(into output: inout ScanOutput) throws(FileError) -> Bool {
        output.path = file.path
        if !hasStarted { start(&output) }
        hasStarted = true
        while !output.isFull {
            guard var record = reader?.next() else {
                finish(&output)
                return false
            }
            let client = record.client.map { CapturedText($0) }
            if client != lastClient { surroundings.reportForgotten(record.client, &output) }
            lastClient = client
            if let livePackages {
                guard !livePackages.contains(RecordKey(record, secret: context.options.secret)) else {
                    output.omit(duplicate: record)
                    continue
                }
                isSuperseded = true
                record.held.append(AdjustHold.superseded)
            }
            output.add(record)
        }
        return true
    }

    private mutating func start(_ output: inout ScanOutput) {
        do throws(FileError) {
            let folder = try context.tree.folder(at: folderPath)
            guard buffer.read(file, limit: AdjustStores.sizeLimit, in: folder, context.options, into: &output) else {
                return
            }
        } catch {
            return output.report(Problem("unreadable", error.description), path: file.path)
        }
        let place = AdjustFolders(of: .queue, at: file.path)
        surroundings = AdjustContext(place, in: context, &output)
        if place.container != nil, surroundings.liveFolder != place.own {
            livePackages = packages(ofQueueAt: surroundings.liveFolder + AdjustFile.queue.rawValue)
        }
        do throws(PropertyListError) {
            let reader = try reader(of: buffer.contents, at: file.path)
            if let problem = reader.problem { output.report(problem) }
            self.reader = reader
        } catch {
            output.rejects.append(Reject("A1 \(error.code.rawValue) \(error.reason)", offset: error.offset))
        }
    }

    private func reader(
        of bytes: [UInt8], at path: String
    ) throws(PropertyListError) -> AdjustQueueReader {
        let source = Source(capture: context.capture, path: path, store: .adjustQueue, index: 0)
        return try AdjustQueueReader(bytes, source: source, context: surroundings)
    }

    /// Returns the keys of the packages in the queue at `path`, or `nil` if the queue is missing or cannot be read.
    private func packages(ofQueueAt path: String) -> Set<RecordKey>? {
        guard let bytes = context.contents(ofStoreAt: path),
            var reader = try? reader(of: bytes, at: path)
        else { return nil }
        var packages: Set<RecordKey> = []
        while let record = reader.next() { packages.insert(RecordKey(record, secret: context.options.secret)) }
        return packages
    }

    private mutating func finish(_ output: inout ScanOutput) {
        if let reject = reader?.reject { output.rejects.append(reject) }
        buffer.quarantineRejects(of: file, in: &output)
        guard var summary = reader?.summary else { return }
        summary.isSuperseded = isSuperseded
        output.report(
            StoreReport(
                facts: surroundings.requestToForget == nil
                    ? [] : ["the preferences state that the user asked Adjust to forget the device"],
                parts: [StoreReport.Part(part: 0, events: nil, queue: summary)],
                newest: summary.newest?.milliseconds ?? 0))
    }
}
