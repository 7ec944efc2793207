import Bytes
import Telemetry

/// The information in a report that is not in the exported tables.
public struct ReportFacts: Sendable {
    /// An input that was read.
    public struct Input: Sendable {
        /// The label that identifies the input in the report.
        public let label: String
        /// The kind of the input, such as `folder` or `bundle`.
        public let kind: String
        /// The digest of the input, or `nil` if the input is not an intact bundle or the report is pseudonymized.
        public let digest: String?
        /// Sentences, without full stops, that state the filters with which the input was made.
        public let filters: [String]

        /// Creates an input.
        public init(label: String, kind: String, digest: String? = nil, filters: [String] = []) {
            self.label = label
            self.kind = kind
            self.digest = digest
            self.filters = filters
        }
    }

    /// The queues of a store, and their states according to the rules of the app.
    public struct Queue: Sendable {
        /// The name of the capture that contains the store.
        public let capture: String
        /// The path of the store in the capture.
        public let path: String
        /// Sentences, without full stops, that describe the store and the states of its queues.
        public let sentences: [String]
        /// The state of each queue in the store whose state is known.
        public let states: [QueueState]
        /// The number of pending events, or `nil` if it is unknown.
        public let pendingEventCount: Int?

        /// Creates the facts about the queues of a store.
        public init(
            capture: String, path: String, sentences: [String], states: [QueueState], pendingEventCount: Int?
        ) {
            self.capture = capture
            self.path = path
            self.sentences = sentences
            self.states = states
            self.pendingEventCount = pendingEventCount
        }
    }

    /// The facts of a pseudonymized report.
    ///
    /// These facts do not contain capture names, paths or parts of the input.
    ///
    /// Source: "Exports", section 4.
    public struct PseudonymizedFacts: Sendable {
        /// The ID of the pseudonym key.
        public let keyID: String
        /// The unit to which times were rounded down, or `nil` if they were kept.
        public let timeUnit: TimeUnit?
        /// The number of quarantined items by code.
        public let quarantineCounts: [CapturedText: Int]
        /// The number of problems by code.
        public let problemCounts: [CapturedText: Int]

        /// Creates the facts of a pseudonymized report.
        public init(
            keyID: String, timeUnit: TimeUnit? = nil, quarantineCounts: [CapturedText: Int],
            problemCounts: [CapturedText: Int]
        ) {
            self.keyID = keyID
            self.timeUnit = timeUnit
            self.quarantineCounts = quarantineCounts
            self.problemCounts = problemCounts
        }
    }

    /// The name and the version of the program that creates the report.
    public var generator: String
    /// The inputs in the given order.
    public var inputs: [Input]
    /// The number of records that were omitted because they equal another record.
    public var duplicateCount: Int
    /// Whether all input was read and parsed.
    public var isComplete: Bool
    /// The queues of each store, and their states.
    public var queues: [Queue]
    /// The number of app containers for each state of usage data.
    public var usageDataCounts: [UsageDataState: Int] = [:]
    /// The facts of a pseudonymized report, or `nil` if the records have no pseudonyms.
    public var pseudonymizedFacts: PseudonymizedFacts?

    /// Creates the facts of a report.
    public init(
        generator: String, inputs: [Input], duplicateCount: Int, isComplete: Bool, queues: [Queue] = [],
        pseudonymizedFacts: PseudonymizedFacts? = nil
    ) {
        self.generator = generator
        self.inputs = inputs
        self.duplicateCount = duplicateCount
        self.isComplete = isComplete
        self.queues = queues
        self.pseudonymizedFacts = pseudonymizedFacts
    }
}
