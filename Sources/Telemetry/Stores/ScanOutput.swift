import Hashing

/// The output of a scan since it was last taken: records, rejects, problems and reports, in the order of the store. Those who
/// read the bytes of files fill it.
public struct ScanOutput: Sendable {
    /// A record, and the place of the part of the store that it came from among ``Store/parts``.
    public struct Found: Sendable {
        /// The part.
        public let part: Int
        /// The record.
        public fileprivate(set) var record: Record
    }

    /// The records, with their parts.
    public private(set) var found: [Found] = []
    /// What could not be understood of the file that is being read. It goes to quarantine with the bytes of the file.
    public var rejects: [Reject] = []
    /// The path, in the capture, of the file that is being read.
    public var path: String
    /// What went to quarantine.
    public private(set) var quarantined: [Quarantined] = []
    /// The problems.
    public private(set) var problems: [PlacedProblem] = []
    /// The reports of the store about itself.
    public private(set) var reports: [StoreReport] = []
    /// Bytes that were read.
    public var bytesRead = 0
    /// Bytes of payloads, and an allowance for each thing that was found: what fills the output.
    private var size = 0
    private let capture: String
    /// Memory of payloads that were handed on, to be filled again: to ask an allocator for the larger ones is slow.
    private var spare: [[UInt8]] = []

    /// How many pieces of memory are kept, and how large each may be.
    private static let mostSpare = 8
    private static let largestSpare = 16 << 10

    /// An output is handed on when it holds this many bytes, so that memory does not grow with the input.
    public static let sizeGoal = 4 << 20
    /// How many bytes a reject or a problem counts for: about as many as its texts take.
    private static let detailSize = 1 << 10
    /// How many bytes a record counts for beside its payload and its notes: about as many as it and its line take.
    private static let recordSize = 1 << 10

    /// Begins with nothing in it.
    /// - Parameters:
    ///   - capture: the label of the capture.
    ///   - path: the path of the first file that is read.
    public init(capture: String, path: String = "") {
        self.capture = capture
        self.path = path
    }

    /// The records alone.
    public var records: [Record] { found.map(\.record) }

    /// Whether it is time to hand on what was read.
    public var isFull: Bool { size >= Self.sizeGoal }

    /// How many more bytes fill the output.
    public var room: Int { max(0, Self.sizeGoal - size) }

    /// How many rejects and problems fill the output.
    var roomForDetails: Int { (room + Self.detailSize - 1) / Self.detailSize }

    /// Adds a record.
    public mutating func add(_ record: consuming Record, part: Int = 0) {
        // A payload of little requests has more notes than bytes.
        size += record.notes.reduce(Self.recordSize + record.payload.count) {
            $0 + $1.utf8.count + MemoryLayout<String>.stride
        }
        found.append(Found(part: part, record: record))
    }

    /// Adds a problem with the file that is being read.
    public mutating func report(_ problem: Problem) { report(problem, path: path) }

    /// Adds a problem with a file or folder.
    /// - Parameter path: the path in the capture.
    public mutating func report(_ problem: Problem, path: String) {
        size += Self.detailSize
        problems.append(PlacedProblem(capture: capture, path: path, problem: problem))
    }

    /// Adds what a store tells of itself.
    public mutating func report(_ report: StoreReport) { reports.append(report) }

    /// Adds a span or a file that could not be understood.
    public mutating func quarantine(_ item: Quarantined) {
        size += Self.detailSize
        quarantined.append(item)
    }

    /// Adds a span of a file that could not be understood.
    /// - Parameters:
    ///   - contents: all bytes of the file.
    ///   - path: the path of the file in the capture.
    ///   - carriesCredentials: whether only its hash is listed.
    public mutating func quarantine(
        _ reject: Reject, of contents: [UInt8], path: String, kind: StoreKind, carriesCredentials: Bool
    ) {
        let bytes = contents[reject.range(inFileOf: contents.count)]
        let sha256: String
        if let last = quarantined.last, last.path == path, last.size == contents.count, bytes.count == contents.count {
            // A file with many faults is hashed once.
            sha256 = last.sha256
        } else {
            sha256 = SHA256.hash(bytes.span).hex
        }
        quarantine(
            Quarantined(
                capture: capture, path: path, store: kind, reject: reject, size: bytes.count, sha256: sha256,
                isStored: !carriesCredentials))
    }

    /// Hands the records on, one after another in their order, and forgets them; they count as before.
    /// - Parameter body: is lent each in its place, so that none is copied.
    public mutating func handOnRecords(_ body: (inout Found) -> Void) {
        for index in found.indices {
            body(&found[index])
            if spare.count < Self.mostSpare { keepMemory(ofRecord: index) }
        }
        found.removeAll(keepingCapacity: found.count <= Self.mostSpare)
    }

    /// Memory for a payload: that of one that was handed on, where there is some, without its bytes.
    public mutating func takeSpareMemory() -> [UInt8] { spare.popLast() ?? [] }

    /// Takes the rejects of the file that was read.
    public mutating func takeRejects() -> [Reject] {
        let taken = rejects
        rejects = []
        return taken
    }

    /// Forgets what was read, and keeps memory for payloads.
    public mutating func removeAll() {
        handOnRecords { _ in }
        (rejects, quarantined, problems, reports) = ([], [], [], [])
        (path, bytesRead, size) = ("", 0, 0)
    }

    private mutating func keepMemory(ofRecord index: Int) {
        var payload: [UInt8] = []
        swap(&payload, &found[index].record.payload)
        guard payload.capacity <= Self.largestSpare else { return }
        payload.removeAll(keepingCapacity: true)
        spare.append(payload)
    }
}
