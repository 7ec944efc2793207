import Crypto
import Files
import Telemetry

/// A run of store files of one capture, read by one job.
struct FolderUnit: Sendable {
    /// Files of one store.
    struct Part: Sendable {
        let store: Int
        var files: Range<Int>
    }

    let input: Int
    let capture: CapturedFolder
    var parts: [Part]

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
                let end = min(store.fileCount, start + filesPerUnit - count)
                parts.append(Part(store: number, files: start..<end))
                count += end - start
                start = end
                if count == filesPerUnit {
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
    func read(_ options: HarvestOptions) -> (Batch, rest: FolderUnit?) {
        var reading = FolderUnitReader(self, options)
        return reading.run()
    }
}

/// The state of reading a unit.
private struct FolderUnitReader {
    private let unit: FolderUnit
    private let options: HarvestOptions
    private var stores: StoreReader
    private var contents: [UInt8] = []
    private var extraction = Extraction()
    private var batch = Batch()

    init(_ unit: FolderUnit, _ options: HarvestOptions) {
        self.unit = unit
        self.options = options
        stores = StoreReader(unit.capture)
    }

    mutating func run() -> (Batch, rest: FolderUnit?) {
        for (position, part) in unit.parts.enumerated() {
            if let rest = read(part) {
                var unit = unit
                unit.parts = [rest] + unit.parts[(position + 1)...]
                return (batch, unit)
            }
        }
        return (batch, nil)
    }

    /// - Returns: what is left of the part when the batch is full.
    private mutating func read(_ part: FolderUnit.Part) -> FolderUnit.Part? {
        guard !part.files.isEmpty else { return nil }
        let store = unit.capture.stores[part.store]
        do throws(FileError) {
            let folder = try unit.capture.root.folder.folder(at: store.folderPath)
            var place = store.place(of: store.path, capture: unit.capture.label)
            for index in part.files {
                if batch.lines.count >= Batch.sizeGoal {
                    return FolderUnit.Part(store: part.store, files: index..<part.files.upperBound)
                }
                read(index, of: store, number: part.store, in: folder, at: &place)
            }
        } catch {
            report(Problem("unreadable", error.description), path: store.path)
        }
        return nil
    }

    private mutating func read(
        _ index: Int, of store: FoundStore, number: Int, in folder: borrowing Folder, at place: inout MozillaPlace
    ) {
        let file = store.file(index)
        place.path = file.path
        extraction.removeAll()
        do throws(FileError) {
            try folder.read(file.name, limit: CapturedFolder.storeFileLimit, into: &contents)
            stores.read(contents, of: store, at: place, into: &extraction)
        } catch {
            guard error.isTooLarge else { return report(Problem("unreadable", error.description), path: file.path) }
            quarantineTooLarge(file.name, path: file.path, of: store, in: folder)
            return
        }
        batch.bytesRead += contents.count
        for problem in extraction.problems { report(problem, path: file.path) }
        for reject in extraction.rejects { quarantine(reject, path: file.path, of: store) }
        // Taken from the end, a record is moved; a loop over the array would copy it, field by field.
        extraction.records.reverse()
        while let record = extraction.records.popLast() {
            guard options.filter.passes(record) else { continue }
            let key = RecordKey(record, secret: options.secret)
            batch.append(record, key: key, input: unit.input, store: number)
        }
    }

    private mutating func quarantineTooLarge(
        _ name: [UInt8], path: String, of store: FoundStore, in folder: borrowing Folder
    ) {
        do throws(FileError) {
            try folder.read(name, limit: options.quarantineFileLimit, into: &contents)
            quarantine(Reject("too-large more than \(CapturedFolder.storeFileLimit >> 20) MiB"), path: path, of: store)
        } catch {
            report(Problem("unreadable", error.description), path: path)
        }
    }

    private mutating func quarantine(_ reject: Reject, path: String, of store: FoundStore) {
        let bytes = contents[reject.range(inFileOf: contents.count)]
        batch.quarantined.append(
            Batch.QuarantineEntry(
                input: unit.input,
                item: Quarantined(
                    capture: unit.capture.label, path: path, store: store.kind, reject: reject, size: bytes.count,
                    sha256: SHA256.hash(data: bytes).hex, isStored: !store.carriesCredentials)))
    }

    private mutating func report(_ problem: Problem, path: String) {
        batch.problems.append(PlacedProblem(capture: unit.capture.label, path: path, problem: problem))
    }
}
