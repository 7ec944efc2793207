import Bytes
import JSONText
import PropertyList
import Telemetry

/// A reader of the packages of a queue, which skips damaged packages.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", sections 3, 7 and 9; "Keyed archives:
/// container, object graph, hostile input", D.3.
package struct AdjustQueueReader {
    /// The summary of the packages that have been read so far.
    private(set) var summary: AdjustQueueSummary
    /// The problem that the property list contains repeated keys, or `nil` if no key is repeated.
    let problem: Problem?

    private var archive: AdjustArchive
    private let elements: KeyedElements
    private let context: AdjustContext
    private var source: Source
    private var position = 0
    private var repeats = RepeatedPayloadCounter(.adjust)
    private var document = JSONDocument()
    /// The budget for the values and bytes of all packages.
    private(set) var budget: WorkBudget
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
        elements = try archive.rootElements()
        problem = archive.archive.document.repeatedKeys.map { Problem($0.code.rawValue, $0.reason, at: $0.offset) }
        self.source = source
        self.context = context
        summary = AdjustQueueSummary(packages: elements.count, state: context.state)
        budget = WorkBudget(nodes: 4 * bytes.count + 1_000_000, bytes: 64 * bytes.count + 64 << 20)
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
        let stored = try archive.archive.element(at: position, of: elements)
        let reference = archive.archive.document.uid(of: stored)
        // A package that is listed several times in a row is read only once.
        if last?.reference == reference { try charge(last, at: stored) } else { last = try read(stored, reference) }
        guard var record = last?.record else { throw budgetError(at: stored) }
        record.source.index = position
        repeats.number(&record)
        return record
    }

    /// Charges the repeated record `last` to the budget, or throws an error if the budget is exhausted.
    private mutating func charge(
        _ last: (reference: UInt32, record: Record, valueCount: Int)?, at stored: PropertyListNode
    ) throws(PropertyListError) {
        guard let last else { return }
        // A repeated record with a time is a duplicate, which is omitted. Its values are therefore not counted again.
        let valueCount = last.record.time == nil ? last.valueCount : 0
        guard budget.reserve(nodes: valueCount, bytes: last.record.payload.count) else {
            throw budgetError(at: stored)
        }
    }

    private mutating func read(
        _ stored: PropertyListNode, _ reference: UInt32
    ) throws(PropertyListError) -> (reference: UInt32, record: Record, valueCount: Int) {
        let expansion = try archive.archive.expansion(of: stored)
        guard expansion.count <= Self.valueLimit, budget.reserve(nodes: expansion.count) else {
            throw budgetError(at: stored)
        }
        guard expansion.depth < Expansion.allowedDepth else {
            throw PropertyListError(
                .tooDeep, at: archive.archive.document.offset(of: stored), "more than \(Expansion.allowedDepth) levels")
        }
        var package = try AdjustPackage(stored, in: &archive, context, budget: &budget)
        // Names can be repeated, but the object is valid in all other respects.
        guard (try? document.read(package.parameters, policy: JSONReadingPolicy(duplicateKeys: .lastWins))) != nil
        else { throw budgetError(at: stored) }
        defer { document.reset() }
        if document.memberCount(of: document.root) < package.parameterCount {
            package.upload.findings.note("A4 names occur repeatedly; the first value of each applies")
            package.upload.findings.fault("a parameter occurs repeatedly")
        }
        var record = package.upload.record(from: &document, isStored: true, state: context.state, source: source)
        record.target = package.upload.target
        if record.target == nil { record.held.append(.noTarget) }
        summary.add(record, attempts: package.attempts, isFirst: position == 0, parameters: document)
        return (reference, record, expansion.count)
    }

    private func budgetError(at node: PropertyListNode) -> PropertyListError {
        PropertyListError(
            .budgetExceeded, at: archive.archive.document.offset(of: node), "more values than a queue of this size has")
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
    private var attempts = 0
    private var sandboxPackages = 0
    private var oldest: Timestamp?
    /// The time of the newest package, or `nil` if no package has a time.
    private(set) var newest: Timestamp?

    init(packages: Int, state: AdjustState?) {
        self.packages = packages
        self.state = state
    }

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
            return QueueState(
                .notReady, "superseded", "another version of the SDK has continued with its own queue")
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
