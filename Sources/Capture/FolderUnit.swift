import Bundle
import Crypto
import Files
import Telemetry

/// A run of store files of one capture, read by one job.
struct FolderUnit: Sendable {
    /// Files of one store.
    struct Part: Sendable {
        let store: Int
        var files: Range<Int>
        /// The database, where reading it has begun.
        var database: LeanplumDatabase?
    }

    let input: Int
    let capture: CapturedFolder
    var parts: [Part]
    /// The reading of the request log that the first part is, once it is begun.
    var log: RequestLogScan?
    /// Records of a store that is read at once, still to be handed on; the next one is the last.
    var waiting: [WaitingRecord] = []
    /// Rejects of a file that has more than a batch takes.
    var rejects: WaitingRejects?

    /// Rejects of a file that are still to be handed on.
    struct WaitingRejects: Sendable {
        let store: Int
        let file: Int
        /// The bytes of the file.
        var contents: [UInt8]
        /// What is wrong with it.
        let rejects: [Reject]
        /// The place of the next one.
        var next = 0
    }

    /// A record that was read, and the part of its store that it belongs to.
    struct WaitingRecord: Sendable {
        let place: Batch.StorePlace
        let record: Record
    }

    /// So many files make a job worth its while.
    private static let filesPerUnit = 128

    /// Splits a capture into units, in order.
    static func split(_ capture: CapturedFolder, input: Int) -> [FolderUnit] {
        var units: [FolderUnit] = []
        var parts: [Part] = []
        var count = 0
        for (number, store) in capture.stores.enumerated() {
            var start = 0
            repeat {
                // A folder of Sift is read as one: its files tell of each other.
                let end = store.isReadAtOnce ? store.fileCount : min(store.fileCount, start + filesPerUnit - count)
                parts.append(Part(store: number, files: start..<end))
                count += end - start
                start = end
                if count >= filesPerUnit {
                    units.append(FolderUnit(input: input, capture: capture, parts: parts))
                    parts = []
                    count = 0
                }
            } while start < store.fileCount
        }
        if !parts.isEmpty { units.append(FolderUnit(input: input, capture: capture, parts: parts)) }
        return units
    }

    /// Reads the files until the batch is full.
    /// - Returns: the batch, and what is left to be read.
    /// - Throws: `FileError` with operation `spool` if there is no room for what has to be copied to be read.
    func read(_ options: HarvestOptions) throws(FileError) -> (Batch, rest: FolderUnit?) {
        var reading = FolderUnitReader(self, options)
        let result = reading.run()
        if let failure = reading.failure { throw failure }
        return result
    }
}

/// The state of reading a unit.
struct FolderUnitReader {
    let unit: FolderUnit
    let options: HarvestOptions
    private var stores: StoreReader
    var contents: [UInt8] = []
    private var extraction = Extraction()
    var batch = Batch()
    private var log: RequestLogScan?
    var waiting: [FolderUnit.WaitingRecord]
    private var rejects: FolderUnit.WaitingRejects?
    /// Why nothing that is read counts: it is not the capture's fault.
    private(set) var failure: FileError?

    init(_ unit: FolderUnit, _ options: HarvestOptions) {
        self.unit = unit
        self.options = options
        stores = StoreReader(unit.capture, secret: options.secret)
        log = unit.log
        waiting = unit.waiting
        rejects = unit.rejects
    }

    mutating func run() -> (Batch, rest: FolderUnit?) {
        handOnRejects()
        for position in unit.parts.indices {
            guard handOnWaiting(), !batch.isFull else { return (batch, rest(unit.parts[position...])) }
            if let part = read(unit.parts[position]) {
                return (batch, rest([part] + unit.parts[(position + 1)...]))
            }
        }
        let isDone = handOnWaiting() && rejects == nil
        return (batch, isDone ? nil : rest([]))
    }

    private func rest(_ parts: some Sequence<FolderUnit.Part>) -> FolderUnit {
        FolderUnit(
            input: unit.input, capture: unit.capture, parts: Array(parts), log: log, waiting: waiting, rejects: rejects)
    }

    /// - Returns: whether no record is waiting any more; false when the batch is full.
    private mutating func handOnWaiting() -> Bool {
        while !batch.isFull {
            guard let next = waiting.popLast() else { return true }
            append(next.record, place: next.place)
        }
        return waiting.isEmpty
    }

    private mutating func append(_ record: borrowing Record, place: Batch.StorePlace) {
        guard options.filter.passes(record) else { return }
        batch.append(record, key: RecordKey(record, secret: options.secret), input: unit.input, place: place)
    }

    /// - Returns: what is left of the part when the batch is full.
    private mutating func read(_ part: FolderUnit.Part) -> FolderUnit.Part? {
        guard !part.files.isEmpty else { return nil }
        let store = unit.capture.stores[part.store]
        if case .leanplumDatabase = store.contents { return readDatabase(part, store) }
        if case .requestLog(let kind) = store.contents { return read(kind, store, part) }
        if case .sift(let folder) = store.contents {
            readSift(folder, of: store, number: part.store)
            return nil
        }
        do throws(FileError) {
            let folder = try unit.capture.tree.folder(at: store.folderPath)
            var place = store.place(of: store.path, capture: unit.capture.label)
            for index in part.files {
                if batch.isFull {
                    return FolderUnit.Part(store: part.store, files: index..<part.files.upperBound)
                }
                read(index, of: store, number: part.store, in: folder, at: &place)
            }
        } catch {
            report(Problem("unreadable", error.description), path: store.path)
        }
        return nil
    }

    /// Reads a request log until the batch is full.
    private mutating func read(_ kind: RequestLogKind, _ store: FoundStore, _ part: FolderUnit.Part) -> FolderUnit.Part?
    {
        do throws(FileError) {
            let scan: RequestLogScan
            if let log { scan = log } else { scan = try begin(kind, store, part) }
            log = scan.read(into: &batch) ? scan : nil
            return log == nil ? nil : part
        } catch {
            report(Problem("unreadable", error.description), path: store.path)
            return nil
        }
    }

    private func begin(_ kind: RequestLogKind, _ store: FoundStore, _ part: FolderUnit.Part) throws(FileError)
        -> RequestLogScan
    {
        let source = try unit.capture.tree.source(store.path)
        return RequestLogScan(
            RequestLog(source, kind: kind, label: unit.capture.label, path: store.path), input: unit.input,
            store: part.store, options)
    }

    private mutating func read(
        _ index: Int, of store: FoundStore, number: Int, in folder: borrowing TreeFolder, at place: inout MozillaPlace
    ) {
        let file = store.file(index)
        place.path = file.path
        extraction.removeAll()
        guard read(index, of: store, limit: CapturedFolder.storeFileLimit, in: folder) else { return }
        stores.read(contents, of: store, at: place, into: &extraction)
        for problem in extraction.problems { report(problem, path: file.path) }
        if !extraction.rejects.isEmpty {
            rejects = FolderUnit.WaitingRejects(
                store: number, file: index, contents: contents, rejects: extraction.rejects)
            handOnRejects()
        }
        takeRecords(of: number)
    }

    /// Puts rejects in quarantine until the batch is full.
    private mutating func handOnRejects() {
        guard var waiting = rejects.take() else { return }
        let store = unit.capture.stores[waiting.store]
        swap(&contents, &waiting.contents)
        while !batch.isFull, waiting.next < waiting.rejects.count {
            quarantine(waiting.rejects[waiting.next], file: waiting.file, of: store)
            waiting.next += 1
        }
        guard waiting.next < waiting.rejects.count else { return }
        swap(&contents, &waiting.contents)
        rejects = waiting
    }

    private mutating func takeRecords(of store: Int) {
        // Taken from the end, a record is moved; a loop over the array would copy it, field by field.
        extraction.records.reverse()
        while let record = extraction.records.popLast() {
            append(record, place: Batch.StorePlace(store: store, part: 0))
        }
    }

    /// Reads a file of a store into `contents`; what cannot be read is reported.
    mutating func read(_ index: Int, of store: FoundStore, limit: Int, in folder: borrowing TreeFolder) -> Bool {
        let file = store.file(index)
        do throws(FileError) {
            try folder.read(file.name, limit: limit, into: &contents)
            batch.bytesRead += contents.count
            return true
        } catch {
            guard error.isTooLarge else {
                report(Problem("unreadable", error.description), path: file.path)
                return false
            }
        }
        do throws(FileError) {
            try folder.read(file.name, limit: options.quarantineFileLimit, into: &contents)
            quarantine(Reject("too-large more than \(limit >> 20) MiB"), file: index, of: store)
        } catch {
            let reason =
                error.isTooLarge
                ? "too-large: more than \(limit >> 20) MiB; only files of \(options.quarantineFileLimit >> 20) MiB are kept"
                : error.description
            report(Problem("unreadable", reason), path: file.path)
        }
        return false
    }

    /// Takes what was found in a file besides its records.
    mutating func take(_ extraction: Extraction, ofFile index: Int, of store: FoundStore) {
        for problem in extraction.problems { report(problem, path: store.file(index).path) }
        for reject in extraction.rejects { quarantine(reject, file: index, of: store) }
    }

    private mutating func quarantine(_ reject: Reject, file index: Int, of store: FoundStore) {
        let bytes = contents[reject.range(inFileOf: contents.count)]
        let path = store.file(index).path
        let sha256: String
        if let last = batch.quarantined.last?.item, last.path == path, last.size == contents.count,
            bytes.count == contents.count
        {
            // A file with many faults is hashed once.
            sha256 = last.sha256
        } else {
            sha256 = SHA256.hash(data: bytes).hex
        }
        batch.quarantined.append(
            Batch.QuarantineEntry(
                input: unit.input,
                item: Quarantined(
                    capture: unit.capture.label, path: path, store: store.kind(ofFile: index),
                    reject: reject, size: bytes.count, sha256: sha256,
                    isStored: !store.carriesCredentials(file: index) && !isKeyArchive(of: store))))
    }

    /// Whether the contents are a key archive of Sift under another name.
    private func isKeyArchive(of store: FoundStore) -> Bool {
        store.system == .sift && contents.contains(text: SiftFile.credentialText)
    }

    mutating func report(_ problem: Problem, path: String) {
        batch.problems.append(PlacedProblem(capture: unit.capture.label, path: path, problem: problem))
    }
}

// MARK: - Databases

extension FolderUnitReader {
    /// - Returns: the part again when the batch is full.
    private mutating func readDatabase(_ part: FolderUnit.Part, _ store: FoundStore) -> FolderUnit.Part? {
        var part = part
        extraction.removeAll()
        do throws(FileError) {
            let database: LeanplumDatabase
            if let begun = part.database { database = begun } else { database = try openDatabase(store) }
            part.database = database
            let isFinished = database.read(upTo: max(Batch.sizeGoal - batch.lines.count, 1), into: &extraction)
            for problem in extraction.problems { report(problem, path: store.path) }
            takeRecords(of: part.store)
            if !extraction.rejects.isEmpty { try quarantineFiles(of: database, store) }
            return isFinished ? nil : part
        } catch {
            if error.operation == .spool { failure = error }
            report(Problem("unreadable", error.description), path: store.path)
            return nil
        }
    }

    private mutating func openDatabase(_ store: FoundStore) throws(FileError) -> LeanplumDatabase {
        let database = try LeanplumDatabase(
            store, in: unit.capture, folder: options.copyFolder, secret: options.secret)
        batch.bytesRead += database.size
        return database
    }

    /// Quarantines the database for each fault, and what lies beside it once, for that is where some of its rows may be.
    private mutating func quarantineFiles(of database: LeanplumDatabase, _ store: FoundStore) throws(FileError) {
        let isFirst = !database.isQuarantined
        for file in try database.digests(in: unit.capture) {
            let isMain = file.path == store.path
            guard isMain || isFirst else { continue }
            for reject in isMain ? extraction.rejects : [Reject("companion of a database in quarantine")] {
                batch.quarantined.append(
                    Batch.QuarantineEntry(
                        input: unit.input,
                        item: Quarantined(
                            capture: unit.capture.label, path: file.path, store: store.kind, reject: reject,
                            size: file.size, sha256: file.sha256, isStored: !store.carriesCredentials(file: 0))))
            }
        }
    }
}
