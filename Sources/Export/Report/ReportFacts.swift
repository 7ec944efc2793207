/// What a report says besides what the tables tell.
public struct ReportFacts: Sendable {
    /// An input that was read.
    public struct Input: Sendable {
        /// What its records name it.
        public let label: String
        /// What it is: `folder`, `bundle`.
        public let kind: String
        /// The digest of a bundle.
        public let digest: String?

        /// Describes an input.
        public init(label: String, kind: String, digest: String? = nil) {
            self.label = label
            self.kind = kind
            self.digest = digest
        }
    }

    /// What a store tells of itself, such as what the app's own rules say of a queue.
    public struct Queue: Sendable {
        /// The capture that it lies in.
        public let capture: String
        /// Its path there.
        public let path: String
        /// Sentences without a full stop.
        public let sentences: [String]
        /// How many events wait in it, where it tells that.
        public let pending: Int?

        /// Describes a queue.
        public init(capture: String, path: String, sentences: [String], pending: Int?) {
            self.capture = capture
            self.path = path
            self.sentences = sentences
            self.pending = pending
        }
    }

    /// The program and its version.
    public var tool: String
    /// What was read.
    public var inputs: [Input]
    /// Records that were left out because an equal one came before.
    public var duplicates: Int
    /// Whether all was read, and understood.
    public var isComplete: Bool
    /// What stores tell of themselves.
    public var queues: [Queue]

    /// Collects facts.
    public init(
        tool: String, inputs: [Input], duplicates: Int, isComplete: Bool, queues: [Queue] = []
    ) {
        self.tool = tool
        self.inputs = inputs
        self.duplicates = duplicates
        self.isComplete = isComplete
        self.queues = queues
    }
}
