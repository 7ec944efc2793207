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

    func makeReader(in context: StoreContext) -> any StoreReader { SiftReader(self, in: context) }
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

    /// The maximum size of a file, which is larger than usual because keyed archives can be large.
    private static let sizeLimit = FileSizeLimit(bytes: InputLimits.keyedArchiveSize, code: FileSizeLimit.usual.code)

    func file(at index: Int) -> StoreFile? {
        let file = files[index]
        // A copy of the file `sift` can have another name, but contains the same credential.
        let credentials: StoreFile.Credentials =
            file.sdkFile.containsCredential ? .always : .ifContaining(SiftFile.credentialMarker)
        return StoreFile(
            name: file.relativePath, path: path(of: file), kind: file.sdkFile.kind, credentials: credentials,
            sizeLimit: Self.sizeLimit)
    }

    private func path(of file: File) -> String { pathPrefix + String(decoding: file.relativePath, as: UTF8.self) }
}

// MARK: - Reading

/// A reader that reads all files in the folder of the SDK before it outputs records.
///
/// This order is necessary because records depend on several files.
private struct SiftReader: StoreReader {
    private let folder: SiftFolder
    /// The contents of the files, or `nil` if all files were read.
    private var store: SiftStore?
    /// The records to be output, in reverse order.
    private var records: [(part: Int, record: Record)] = []

    init(_ folder: SiftFolder, in context: StoreContext) {
        self.folder = folder
        store = SiftStore(
            applicationID: context.container.applicationID, comparesEvents: context.options.reportsQueues,
            limit: context.options.limit)
    }

    mutating func read(
        _ bytes: [UInt8], ofFile index: Int, from source: Source, into output: inout ScanOutput
    ) throws -> Bool {
        let part = folder.partIndex(ofFile: index)
        try store?.read(bytes, of: folder.files[index].sdkFile, part: part, from: source, into: &output)
        return false
    }

    mutating func finish(into output: inout ScanOutput) throws -> Bool {
        if let store = store.take() {
            let contents = store.finish()
            output.report(contents.report)
            records = contents.records.reversed()
        }
        if let next = records.popLast() { try output.add(next.record, part: next.part) }
        return !records.isEmpty
    }
}
