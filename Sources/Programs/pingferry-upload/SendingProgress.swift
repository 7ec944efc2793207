import Console
import Delivery
import Synchronization

/// The progress line of a job on a terminal.
///
/// A class, because all clients of a job report to it.
final class SendingProgress: Sendable {
    private let state: Mutex<State>
    private let total: Int

    private struct State {
        let line: ProgressLine
        var done = 0
        var undelivered = 0
    }

    init(total: Int, isQuiet: Bool) {
        self.total = total
        state = Mutex(State(line: ProgressLine("sending", isQuiet: isQuiet)))
    }

    /// Changes `settings` to update the line after each upload, if standard error is a terminal.
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
            state.done += 1
            if case .delivered = event.outcome {} else { state.undelivered += 1 }
            let (done, undelivered) = (state.done, state.undelivered)
            let failed = undelivered > 0 ? ", \(undelivered) not delivered" : ""
            state.line.update("sending: \(done) of \(total) uploads (\(done * 100 / max(total, 1)) %)\(failed)")
        }
    }

    func clear() { state.withLock { $0.line.clear() } }
}
