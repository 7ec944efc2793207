import Files
import Telemetry

/// Reads all files of the SDK's folder at once, for they tell of each other, and then hands out their records.
struct SiftScan: StoreScan {
    private let folder: SiftFolder
    private let context: StoreContext
    private let files: Range<Int>
    private var hasReadFiles = false
    /// The records that are still to be handed out, in reverse: the next one stands at the end.
    private var waiting: [(part: Int, record: Record)] = []

    init(_ folder: SiftFolder, _ files: Range<Int>, in context: StoreContext) {
        self.folder = folder
        self.files = files
        self.context = context
    }

    mutating func read(into output: inout ScanOutput) throws(FileError) -> Bool {
        if !hasReadFiles, !files.isEmpty { readFiles(into: &output) }
        hasReadFiles = true
        while !output.isFull, let next = waiting.popLast() { output.add(next.record, part: next.part) }
        return !waiting.isEmpty
    }

    /// A keyed archive may be large, and is quarantined like any other file beyond its limit.
    private static let sizeLimit = FileSizeLimit(bytes: StoreLimits.archive, code: FileSizeLimit.usual.code)

    private mutating func readFiles(into output: inout ScanOutput) {
        var store = SiftStore(
            capture: context.capture, applicationID: context.container.applicationID,
            comparesEvents: context.options.reportsQueues, spread: context.options.spread)
        readFiles(into: &store, &output)
        // The bytes of the files are freed before: the records are as large as they.
        let contents = store.finish()
        output.report(contents.report)
        waiting = contents.found.reversed()
    }

    private func readFiles(into store: inout SiftStore, _ output: inout ScanOutput) {
        var reading = StoreFileReading()
        do throws(FileError) {
            let tree = try context.tree.folder(at: folder.folderPath)
            for index in files {
                let file = folder.storeFile(index)
                guard reading.read(file, limit: Self.sizeLimit, in: tree, context.options, into: &output) else {
                    continue
                }
                output.path = file.path
                let part = folder.part(ofFile: index)
                store.read(reading.contents, of: folder.files[index].file, part: part, into: &output)
                reading.quarantineRejects(of: file, in: &output)
            }
        } catch {
            output.report(Problem("unreadable", error.description), path: folder.path)
        }
    }
}
