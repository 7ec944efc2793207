import Files
import Telemetry

/// A scan that reads all files in the folder of the SDK before it outputs records.
///
/// This order is necessary because records depend on several files.
struct SiftScan: StoreScan {
    private let folder: SiftFolder
    private let context: StoreContext
    private let fileIndexes: Range<Int>
    private var hasReadFiles = false
    /// The records to be output, in reverse order.
    private var pendingRecords: [(part: Int, record: Record)] = []

    init(_ folder: SiftFolder, _ files: Range<Int>, in context: StoreContext) {
        self.folder = folder
        fileIndexes = files
        self.context = context
    }

    mutating func read(into output: inout ScanOutput) throws(FileError) -> Bool {
        if !hasReadFiles, !fileIndexes.isEmpty { readFiles(into: &output) }
        hasReadFiles = true
        while !output.isFull, let next = pendingRecords.popLast() { output.add(next.record, part: next.part) }
        return !pendingRecords.isEmpty
    }

    /// The maximum size of a file, which is larger than usual because keyed archives can be large.
    private static let sizeLimit = FileSizeLimit(bytes: StoreLimits.archive, code: FileSizeLimit.usual.code)

    private mutating func readFiles(into output: inout ScanOutput) {
        var store = SiftStore(
            capture: context.capture, applicationID: context.container.applicationID,
            comparesEvents: context.options.reportsQueues, parallelFor: context.options.parallelFor)
        readFiles(into: &store, &output)
        // The file contents are freed before the records are created, because both need the same amount of memory.
        let contents = store.finish()
        output.report(contents.report)
        pendingRecords = contents.records.reversed()
    }

    private func readFiles(into store: inout SiftStore, _ output: inout ScanOutput) {
        var fileBuffer = StoreFileBuffer()
        do throws(FileError) {
            let tree = try context.tree.folder(at: folder.folderPath)
            for index in fileIndexes {
                let file = folder.storeFile(at: index)
                guard fileBuffer.read(file, limit: Self.sizeLimit, in: tree, context.options, into: &output) else {
                    continue
                }
                output.path = file.path
                let part = folder.partIndex(ofFile: index)
                store.read(fileBuffer.contents, of: folder.files[index].sdkFile, part: part, into: &output)
                fileBuffer.quarantineRejects(of: file, in: &output)
            }
        } catch {
            output.report(Problem("unreadable", error.description), path: folder.path)
        }
    }
}
