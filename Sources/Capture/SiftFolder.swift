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
    /// The stores in the folder that records come from, as reports list them: the uploader and each queue. A folder with
    /// none of them is listed as the uploader that it would have.
    public let parts: [FoundStore.Part]
    /// The place among ``parts`` of what each file belongs to.
    let partNumbers: [Int]

    init(path: String, base: String, files: [File]) {
        self.path = path
        self.base = base
        self.files = files.sorted { left, right in
            let (leftRank, rightRank) = (Self.rank(left.file), Self.rank(right.file))
            return leftRank == rightRank ? left.name.lexicographicallyPrecedes(right.name) : leftRank < rightRank
        }
        var parts: [FoundStore.Part] = []
        var numbers: [Int] = []
        for file in self.files {
            let isPart = file.file == .uploader || file.file.kind == .siftQueue
            numbers.append(isPart ? parts.count : 0)
            guard isPart else { continue }
            parts.append(FoundStore.Part(kind: file.file.kind, path: base + String(decoding: file.name, as: UTF8.self)))
        }
        self.parts = parts.isEmpty ? [FoundStore.Part(kind: .siftUploader, path: path)] : parts
        partNumbers = numbers
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
}
