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

    /// What there is to say of a report that is given away without the people: it has no names of captures, no paths and no
    /// pieces of input in it.
    ///
    /// Source: "Exports", section 4.
    public struct Pseudonymized: Sendable {
        /// The id of the key that the pseudonyms were made with.
        public let keyID: String
        /// How many things could not be understood, by code.
        public let quarantine: [String: Int]
        /// How many problems there are, by code.
        public let problems: [String: Int]

        /// Describes what stands for that which is left out.
        public init(keyID: String, quarantine: [String: Int], problems: [String: Int]) {
            self.keyID = keyID
            self.quarantine = quarantine
            self.problems = problems
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
    /// What stands for that which is left out where the records have pseudonyms; nil where they are as they were stored.
    public var pseudonymized: Pseudonymized?

    /// Collects facts.
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
