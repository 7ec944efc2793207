import Console
import Delivery
import Synchronization

/// The progress line of a job on a terminal.
///
/// The type is a class, because the uploads of all clients of a job update the same instance.
final class SendingProgress: Sendable {
    private let state: Mutex<State>
    private let totalUploads: Int

    private struct State {
        let progressLine: ProgressLine
        var finishedCount = 0
        var undeliveredCount = 0
    }

    init(total: Int, isQuiet: Bool) {
        totalUploads = total
        state = Mutex(State(progressLine: ProgressLine("sending", isQuiet: isQuiet)))
    }

    /// Adds a log function to `settings` that updates the line after each upload, if standard error is a terminal.
    func observe(_ settings: inout JobSettings) {
        guard StandardError.isTerminal else { return }
        let log = settings.log
        settings.log = { event in
            self.add(event)
            log?(event)
        }
    }

    private func add(_ event: JobEvent) {
        state.withLock { state in
            state.finishedCount += 1
            if case .delivered = event.outcome {} else { state.undeliveredCount += 1 }
            let (done, undelivered) = (state.finishedCount, state.undeliveredCount)
            let failed = undelivered > 0 ? ", \(undelivered) not delivered" : ""
            state.progressLine.update(
                "sending: \(done) of \(totalUploads) uploads (\(done * 100 / max(totalUploads, 1)) %)\(failed)")
        }
    }

    func clear() { state.withLock { $0.progressLine.clear() } }
}
