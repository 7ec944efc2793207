/// The information in a report that is not in the exported tables.
public struct ReportFacts: Sendable {
    /// An input that was read.
    public struct Input: Sendable {
        /// The label of the input in records.
        public let label: String
        /// The kind of the input, such as `folder` or `bundle`.
        public let kind: String
        /// The digest of the input if it is a bundle.
        ///
        /// Otherwise, `nil`.
        public let digest: String?

        /// Creates an input.
        public init(label: String, kind: String, digest: String? = nil) {
            self.label = label
            self.kind = kind
            self.digest = digest
        }
    }

    /// The state of the queue in a store, according to the rules of the app.
    public struct Queue: Sendable {
        /// The name of the capture that contains the store.
        public let capture: String
        /// The path of the store in the capture.
        public let path: String
        /// The descriptions of the state, without full stops.
        public let sentences: [String]
        /// The number of pending events, or `nil` if it is unknown.
        public let pending: Int?

        /// Creates the state of a queue.
        public init(capture: String, path: String, sentences: [String], pending: Int?) {
            self.capture = capture
            self.path = path
            self.sentences = sentences
            self.pending = pending
        }
    }

    /// The facts of a pseudonymized report.
    ///
    /// They do not contain capture names, paths or parts of the input.
    ///
    /// Source: "Exports", section 4.
    public struct Pseudonymized: Sendable {
        /// The ID of the pseudonym key.
        public let keyID: String
        /// The number of quarantined items by code.
        public let quarantine: [String: Int]
        /// The number of problems by code.
        public let problems: [String: Int]

        /// Creates the facts.
        public init(keyID: String, quarantine: [String: Int], problems: [String: Int]) {
            self.keyID = keyID
            self.quarantine = quarantine
            self.problems = problems
        }
    }

    /// The name and the version of the program.
    public var tool: String
    /// The inputs in the given order.
    public var inputs: [Input]
    /// The number of records that were omitted because they equal another record.
    public var duplicates: Int
    /// Whether all input was read and parsed.
    public var isComplete: Bool
    /// The states of queues.
    public var queues: [Queue]
    /// The facts of a pseudonymized report, or `nil` if the records have no pseudonyms.
    public var pseudonymized: Pseudonymized?

    /// Creates facts.
    public init(
        tool: String, inputs: [Input], duplicates: Int, isComplete: Bool, queues: [Queue] = [],
        pseudonymized: Pseudonymized? = nil
    ) {
        self.tool = tool
        self.inputs = inputs
        self.duplicates = duplicates
        self.isComplete = isComplete
        self.queues = queues
        self.pseudonymized = pseudonymized
    }
}
