import Telemetry

/// The folder of the SDK as one store, with its files in the order in which they are read.
struct SiftFolder: Store {
    struct File: Sendable {
        let file: SiftFile
        /// The path of the file, relative to the folder.
        let name: [UInt8]
    }

    let path: String
    /// The path of the folder to which file names are relative.
    let folderPath: String
    /// The prefix of the paths of the files.
    private let base: String
    /// The files, sorted by kind and then by name.
    let files: [File]

    init(path: String, base: String, files: [File]) {
        self.path = path
        self.base = base
        folderPath = path
        self.files = files.sorted { left, right in
            let (leftRank, rightRank) = (Self.rank(left.file), Self.rank(right.file))
            return leftRank == rightRank ? left.name.lexicographicallyPrecedes(right.name) : leftRank < rightRank
        }
    }

    /// Creates a store that consists of one file in the root of the capture.
    init(single file: SiftFile, named name: String) {
        path = name
        base = ""
        folderPath = ""
        files = [File(file: file, name: Array(name.utf8))]
    }

    private static func rank(_ file: SiftFile) -> Int {
        switch file {
        case .keys: 0
        case .collector: 1
        case .uploader: 2
        case .queue: 3
        }
    }

    let system: SystemName? = .sift
    var kind: StoreKind { parts[0].kind }
    // Queues are compared with batches, and every file can contain facts about the app.
    let isReadByOneJob = true
    var fileCount: Int { files.count }

    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan {
        SiftScan(self, files, in: context)
    }
}

// MARK: - Files and parts

extension SiftFolder {
    /// The parts of the store: the uploader and each queue.
    ///
    /// If the folder contains neither, the only part stands for the missing uploader.
    var parts: [StorePart] {
        let parts = files.filter { $0.file.hasEvents }.map { StorePart(kind: $0.file.kind, path: path(of: $0)) }
        return parts.isEmpty ? [StorePart(kind: .siftUploader, path: folderPath)] : parts
    }

    /// Returns the index of the part that a file belongs to, which is 0 for files without events.
    func part(ofFile index: Int) -> Int {
        files[index].file.hasEvents ? files[..<index].count { $0.file.hasEvents } : 0
    }

    /// Returns the description of a file that is needed to read or quarantine it.
    func storeFile(_ index: Int) -> StoreFile {
        let file = files[index]
        // A copy of the file `sift` can have another name, but contains the same credential.
        let credentials: StoreFile.Credentials =
            file.file.containsCredential ? .always : .ifContaining(SiftFile.credentialMarker)
        return StoreFile(name: file.name, path: path(of: file), kind: file.file.kind, credentials: credentials)
    }

    private func path(of file: File) -> String { base + String(decoding: file.name, as: UTF8.self) }
}
