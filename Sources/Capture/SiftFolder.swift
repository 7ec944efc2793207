import Telemetry

/// The folder of Sift's SDK: what is in it, in the order in which it is read.
public struct SiftFolder: Sendable {
    /// A file of the SDK.
    public struct File: Sendable {
        /// What it is.
        public let file: SiftFile
        /// Its name, as a path below the folder.
        public let name: [UInt8]
    }

    /// Path below the root of the capture; empty for the root itself.
    public let path: String
    /// What the paths of its entries begin with.
    let base: String
    /// Keys, collector and uploader, then the queues by the UTF-8 bytes of their identifiers.
    public let files: [File]

    init(path: String, base: String, files: [File]) {
        self.path = path
        self.base = base
        self.files = files.sorted { left, right in
            let (leftRank, rightRank) = (Self.rank(left.file), Self.rank(right.file))
            return leftRank == rightRank ? left.name.lexicographicallyPrecedes(right.name) : leftRank < rightRank
        }
    }

    private static func rank(_ file: SiftFile) -> Int {
        switch file {
        case .keys: 0
        case .collector: 1
        case .uploader: 2
        case .queue: 3
        }
    }

    /// The path of a file in the capture.
    public func path(of file: File) -> String {
        base + String(decoding: file.name, as: UTF8.self)
    }

    /// The stores in the folder that records come from, as reports list them: the uploader and each queue. A folder with
    /// none of them is listed as the uploader that it would have.
    public var parts: [FoundStore.Part] {
        var parts: [FoundStore.Part] = []
        for file in files where file.file == .uploader || file.file.kind == .siftQueue {
            parts.append(FoundStore.Part(kind: file.file.kind, path: path(of: file)))
        }
        return parts.isEmpty ? [FoundStore.Part(kind: .siftUploader, path: path)] : parts
    }

    /// The place among ``parts`` of what a file belongs to.
    func part(ofFile index: Int) -> Int {
        let uploader = files.contains { $0.file == .uploader } ? 1 : 0
        let queuesBefore = files[..<index].count { $0.file.kind == .siftQueue }
        return files[index].file.kind == .siftQueue ? uploader + queuesBefore : 0
    }
}
