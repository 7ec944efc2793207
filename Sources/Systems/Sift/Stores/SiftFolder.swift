import Bytes
import Files
import Telemetry

/// The folder of the SDK as one store, with its files in the order in which they are read.
struct SiftFolder: Store {
    struct File: Sendable {
        let sdkFile: SiftFile
        /// The path of the file, relative to the folder.
        let relativePath: [UInt8]
    }

    let path: String
    /// The path of the folder to which file names are relative.
    let folderPath: String
    /// The prefix of the paths of the files.
    private let pathPrefix: String
    /// The files, sorted by kind and then by name.
    let files: [File]

    init(path: String, pathPrefix: String, files: [File]) {
        self.path = path
        self.pathPrefix = pathPrefix
        folderPath = path
        self.files = files.sorted { left, right in
            let (leftRank, rightRank) = (Self.readingRank(of: left.sdkFile), Self.readingRank(of: right.sdkFile))
            return leftRank == rightRank
                ? left.relativePath.lexicographicallyPrecedes(right.relativePath) : leftRank < rightRank
        }
    }

    /// Creates a store that consists of one file in the root of the capture.
    init(single file: SiftFile, named name: String) {
        path = name
        pathPrefix = ""
        folderPath = ""
        files = [File(sdkFile: file, relativePath: Array(name.utf8))]
    }

    private static func readingRank(of file: SiftFile) -> Int {
        switch file {
        case .keys: 0
        case .collector: 1
        case .uploader: 2
        case .queue: 3
        }
    }

    let system: SystemName? = .sift
    var kind: StoreKind { parts[0].kind }
    // One job reads all files, because queues are compared with batches and every file can contain facts about the app.
    let isReadByOneJob = true
    var fileCount: Int { files.count }

    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan {
        SiftScan(self, files, in: context)
    }
}

// MARK: - Files and parts

extension SiftFolder {
    /// The parts of the store, which are the uploader and each queue.
    ///
    /// If the folder contains neither, the only part represents the missing uploader.
    var parts: [StorePart] {
        let parts = files.filter { $0.sdkFile.canContainEvents }.map {
            StorePart(kind: $0.sdkFile.kind, path: path(of: $0))
        }
        return parts.isEmpty ? [StorePart(kind: .siftUploader, path: folderPath)] : parts
    }

    /// Returns the index of the part that a file belongs to, which is 0 for files without events.
    func partIndex(ofFile index: Int) -> Int {
        files[index].sdkFile.canContainEvents ? files[..<index].count { $0.sdkFile.canContainEvents } : 0
    }

    /// Returns the description of a file that is needed to read or quarantine it.
    func storeFile(at index: Int) -> StoreFile {
        let file = files[index]
        // A copy of the file `sift` can have another name, but contains the same credential.
        let credentials: StoreFile.Credentials =
            file.sdkFile.containsCredential ? .always : .ifContaining(SiftFile.credentialMarker)
        return StoreFile(
            name: file.relativePath, path: path(of: file), kind: file.sdkFile.kind, credentials: credentials)
    }

    private func path(of file: File) -> String { pathPrefix + String(decoding: file.relativePath, as: UTF8.self) }
}

// MARK: - Scan

/// A scan that reads all files in the folder of the SDK before it outputs records.
///
/// This order is necessary because records depend on several files.
private struct SiftScan: StoreScan {
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
    private static let sizeLimit = FileSizeLimit(bytes: InputLimits.keyedArchiveSize, code: FileSizeLimit.usual.code)

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
