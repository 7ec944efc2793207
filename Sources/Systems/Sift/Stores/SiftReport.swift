/// Counts of the events of a file, by what became of them.
public struct SiftCounts: Sendable, Equatable {
    /// Events in the file.
    public var pending = 0
    /// Events in requests.
    public var emitted = 0
    /// Events of a queue that a batch has too.
    public var absorbed = 0
    /// Events that the SDK's own check refuses.
    public var skipped = 0
    /// Events that could not be read.
    public var lost = 0

    /// Makes counts of nothing.
    public init() {}

    /// The counts by what reports call them.
    var byName: [String: Int] {
        ["absorbed": absorbed, "emitted": emitted, "lost": lost, "pending": pending, "skipped": skipped]
    }
}

/// The report on a folder of the SDK: all that it tells besides requests.
public struct SiftReport: Sendable {
    /// The uploader or a queue.
    public struct Source: Sendable, Equatable {
        /// The number of the file, in the order in which the files were read.
        public let file: Int
        /// Counts of its events, by what became of them.
        public let counts: SiftCounts
        /// The queue, if it is one.
        public let queue: SiftQueue?
    }

    /// The uploader and the queues, in the order in which they were read.
    public internal(set) var sources: [Source] = []
    /// The facts of the other files, in sentences.
    public internal(set) var facts: [String] = []
    /// The newest instant that any file of the folder tells, in milliseconds since 1970: a capture is not older.
    public internal(set) var newest: Int64 = 0
}
