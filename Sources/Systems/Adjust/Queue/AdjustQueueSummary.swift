import JSONText
import Telemetry

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
        var parts = ["\(packages == 1 ? "1 package" : "\(packages) packages"): \(state.text)"]
        if attempts > 0 { parts.append("the first one failed \(attempts == 1 ? "once" : "\(attempts) times")") }
        if let oldest { parts.append("the oldest is of \(oldest)") }
        if sandboxPackages > 0 { parts.append("\(sandboxPackages) from a development build") }
        return parts.joined(separator: "; ")
    }

    func json(at instant: Int64) -> CanonicalObject {
        let state = state(at: instant)
        var object = CanonicalObject()
        object.set("attempts", integer: attempts)
        object.set("oldest", string: oldest?.description)
        object.set("packages", integer: packages)
        object.set("readiness", string: state.readiness.rawValue)
        object.set("reason", string: state.text)
        object.set("sandbox", integer: sandboxPackages)
        return object
    }
}
