import Bytes
import JSONText
import PropertyList
import Telemetry

/// A reader of the packages of a queue, which skips damaged packages.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", sections 3, 7 and 9; "Keyed archives:
/// container, object graph, hostile input", D.3.
package struct AdjustQueueReader: Sequence, IteratorProtocol {
    /// The summary of the packages that have been read so far.
    var summary: AdjustQueueSummary
    /// The problem that the property list contains repeated keys, or `nil` if no key is repeated.
    let problem: Problem?
    /// The files that apply to the queue.
    let context: AdjustContext
    var archive: AdjustArchive
    /// The parameters of the current package.
    var parameters = AdjustParameterText()
    /// The values that JSON cannot represent, by UID, and whether a credential was found in each of them.
    ///
    /// Many parameters can share one large value, which is examined only once.
    var unrepresentableValues: [UInt32: Bool] = [:]

    private let elements: KeyedElements
    private var source: Source
    private var position = 0
    private var repeats = RepeatedPayloadCounter(.adjust)
    private var document = JSONDocument()
    /// The last record before it was numbered, with the reference to its package and the number of values in the
    /// package.
    private var last: (reference: UInt32, record: Record, valueCount: Int)?
    private var losses: (count: Int, firstPosition: Int, firstError: PropertyListError)?

    /// The maximum number of values in a package.
    private static let valueLimit = 100_000

    /// Opens the queue in `bytes`, or throws an error if `bytes` are not a queue.
    ///
    /// The limits on the expanded packages are multiples of the file size, because packages share almost all of their
    /// values.
    package init(_ bytes: [UInt8], source: Source, context: AdjustContext) throws(PropertyListError) {
        archive = try AdjustArchive(bytes)
        archive.budget = WorkBudget(nodes: 4 * bytes.count + 1_000_000, bytes: 64 * bytes.count + 64 << 20)
        elements = try archive.rootElements()
        problem = archive.document.repeatedKeys.map { Problem($0.code.rawValue, $0.reason, at: $0.offset) }
        self.source = source
        self.context = context
        summary = AdjustQueueSummary(packages: elements.count, state: context.state)
    }

    /// Returns the record of the next package, or `nil` if there are no more.
    package mutating func next() -> Record? {
        while position < elements.count {
            defer { position += 1 }
            do throws(PropertyListError) {
                return try record()
            } catch {
                losses = losses.map { ($0.count + 1, $0.firstPosition, $0.firstError) } ?? (1, position, error)
            }
        }
        return nil
    }

    /// The reject that reports the damaged packages, or `nil` if no package is damaged.
    package var reject: Reject? {
        guard let (count, position, error) = losses else { return nil }
        let others = count == 1 ? "" : "the first of \(count) lost elements: "
        return Reject("A3 \(others)element \(position): \(error.code.rawValue) \(error.reason)", offset: error.offset)
    }

    private mutating func record() throws(PropertyListError) -> Record {
        let stored = try archive.graph.element(at: position, of: elements)
        var record: Record
        // A package that is listed several times in a row is read only once.
        if let last, last.reference == archive.document.uid(of: stored) {
            // A repeated record with a time is a duplicate, which is omitted. Its values are therefore not counted
            // again.
            let valueCount = last.record.time == nil ? last.valueCount : 0
            try charge(nodes: valueCount, bytes: last.record.payload.count, "more values", at: stored)
            record = last.record
        } else {
            record = try read(stored)
        }
        record.source.index = position
        repeats.number(&record)
        return record
    }

    private mutating func read(_ stored: PropertyListNode) throws(PropertyListError) -> Record {
        let expansion = try archive.graph.expansion(of: stored)
        guard expansion.count <= Self.valueLimit else { throw budgetError("more values", at: stored) }
        try charge(nodes: expansion.count, "more values", at: stored)
        guard expansion.depth < Expansion.allowedDepth else {
            throw archive.document.error(.tooDeep, at: stored, "more than \(Expansion.allowedDepth) levels")
        }
        var upload = try readPackage(stored)
        // Names can be repeated, but the object is valid in all other respects.
        guard (try? document.read(parameters.text.bytes, policy: JSONReadingPolicy(duplicateKeys: .lastWins))) != nil
        else { throw budgetError("more values", at: stored) }
        defer { document.reset() }
        if document.memberCount(of: document.root) < parameters.memberCount {
            upload.findings.note("A4 names occur repeatedly; the first value of each applies")
            upload.findings.fault("a parameter occurs repeatedly")
        }
        let record = upload.record(from: &document, isStored: true, state: context.state, source: source)
        summary.add(record, attempts: upload.attempts, isFirst: position == 0, parameters: document)
        last = (archive.document.uid(of: stored), record, expansion.count)
        return record
    }

    /// Charges values and bytes to the budget of the queue, or throws an error if the budget is exhausted.
    mutating func charge(
        nodes: Int = 0, bytes: Int = 0, _ excess: String = "larger parameters", at node: PropertyListNode
    ) throws(PropertyListError) {
        guard archive.budget.reserve(nodes: nodes, bytes: bytes) else { throw budgetError(excess, at: node) }
    }

    private func budgetError(_ excess: String, at node: PropertyListNode) -> PropertyListError {
        archive.document.error(.budgetExceeded, at: node, "\(excess) than a queue of this size has")
    }
}

/// A summary of the packages in a queue, and the rules by which the SDK sends the packages.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 8.
struct AdjustQueueSummary: QueueRules {
    /// The number of packages, including packages that cannot be read.
    let packages: Int
    /// The state of the SDK, or `nil` if it is unknown.
    let state: AdjustState?
    /// Whether another version of the SDK continued with its own queue.
    var isSuperseded = false
    /// The number of failed attempts to send the first package.
    private(set) var attempts = 0
    private(set) var sandboxPackages = 0
    private(set) var oldest: Timestamp?
    /// The time of the newest package, or `nil` if no package has a time.
    private(set) var newest: Timestamp?

    /// Adds the package that `record` was created from.
    mutating func add(_ record: Record, attempts: Int, isFirst: Bool, parameters: JSONDocument) {
        if isFirst { self.attempts = attempts }
        if parameters.text(AdjustParameters.environment, in: parameters.root) == "sandbox" { sandboxPackages += 1 }
        guard let time = record.time else { return }
        oldest = min(oldest ?? time, time)
        newest = max(newest ?? time, time)
    }

    func state(at instant: Int64) -> QueueState {
        if packages == 0 { return QueueState(.empty, "empty", "nothing is queued") }
        if isSuperseded {
            return QueueState(.notReady, "superseded", "another version of the SDK has continued with its own queue")
        }
        guard let state else { return QueueState(.unknown, "unknown", "the state of the SDK is not in the capture") }
        if state.isForgotten { return QueueState(.notReady, "forgotten", "the user asked Adjust to forget the device") }
        if !state.isEnabled { return QueueState(.notReady, "disabled", "the SDK is switched off") }
        if state.isDelayed { return QueueState(.notReady, "delayed", "the delayed start of the SDK is not over") }
        return QueueState(.ready, "ready", "the SDK sends the packages in order at its next start or session")
    }

    func sentence(at instant: Int64) -> String {
        let state = state(at: instant)
        var parts = ["\(packages.counted("package")): \(state.text)"]
        if attempts > 0 { parts.append("the first one failed \(attempts == 1 ? "once" : "\(attempts) times")") }
        if let oldest { parts.append("the oldest is of \(oldest)") }
        if sandboxPackages > 0 { parts.append("\(sandboxPackages) from a development build") }
        return parts.joined(separator: "; ")
    }

    func json(at instant: Int64) -> CanonicalObject {
        let state = state(at: instant)
        return [
            "attempts": attempts, "oldest": oldest?.description, "packages": packages,
            "readiness": state.readiness.rawValue, "reason": state.text, "sandbox": sandboxPackages,
        ]
    }
}
