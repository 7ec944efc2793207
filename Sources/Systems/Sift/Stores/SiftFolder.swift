import Telemetry

/// The folder of Sift's SDK as one store: its files, in the order in which they are read.
struct SiftFolder: Store {
    struct File: Sendable {
        let file: SiftFile
        /// Its name, as a path below the folder.
        let name: [UInt8]
    }

    let path: String
    /// The folder that its files are opened in.
    let folderPath: String
    /// The beginning of the paths of its files.
    private let base: String
    /// Keys, collector and uploader, then the queues by the UTF-8 bytes of their identifiers.
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

    /// Makes a store of a file in the root of the capture, as if it were alone in the SDK's folder.
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
    /// Queues are told apart from batches, and all of them tell of the app.
    let isReadAtOnce = true
    var fileCount: Int { files.count }

    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan {
        SiftScan(self, files, in: context)
    }
}

// MARK: - Files and parts

extension SiftFolder {
    /// The stores in the folder that records come from: the uploader and each queue. A folder with none of them is listed as
    /// the uploader that it would have.
    var parts: [StorePart] {
        let parts = files.filter { $0.file.hasEvents }.map { StorePart(kind: $0.file.kind, path: path(of: $0)) }
        return parts.isEmpty ? [StorePart(kind: .siftUploader, path: folderPath)] : parts
    }

    /// The place among ``parts`` of what a file belongs to: what holds no events goes with the first.
    func part(ofFile index: Int) -> Int {
        files[index].file.hasEvents ? files[..<index].count { $0.file.hasEvents } : 0
    }

    /// A file as it is read and quarantined, by its place among ``files``.
    func storeFile(_ index: Int) -> StoreFile {
        let file = files[index]
        // A key archive under another name is one all the same.
        let credentials: StoreFile.Credentials =
            file.file.isForCredentials ? .always : .ifItHolds(SiftFile.credentialText)
        return StoreFile(name: file.name, path: path(of: file), kind: file.file.kind, credentials: credentials)
    }

    private func path(of file: File) -> String { base + String(decoding: file.name, as: UTF8.self) }
}
