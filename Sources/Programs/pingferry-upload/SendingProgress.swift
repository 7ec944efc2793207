import Console
import Delivery
import Synchronization

/// The progress of a job: a line on a terminal, and messages on request (SIGUSR1) or at intervals.
///
/// The type is a class, because the uploads of all clients of a job update the same instance.
final class SendingProgress: Sendable {
    private let state: Mutex<State>
    private let totalUploads: Int
    /// The time between two messages, or `nil` for messages on request only.
    private let interval: Duration?

    private struct State {
        let progressLine: ProgressLine
        var timer: Task<Void, any Error>?
        var finishedCount = 0
        var undeliveredCount = 0
    }

    init(total: Int, isQuiet: Bool, interval: Duration?) {
        totalUploads = total
        self.interval = interval
        state = Mutex(State(progressLine: ProgressLine("sending", isQuiet: isQuiet)))
    }

    /// Adds a log function to `settings` that counts each upload and updates the line.
    func observe(_ settings: inout JobSettings) {
        StopSignal.onProgressRequest { [weak self] in self?.writeMessage() }
        if let interval, interval > .zero {
            let timer = Task { [weak self] in
                while true {
                    try await Task.sleep(for: interval)
                    self?.writeMessage()
                }
            }
            state.withLock { $0.timer = timer }
        }
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
            state.progressLine.update(text(state.finishedCount, state.undeliveredCount))
            // An interval of zero reports each upload.
            if interval == .zero { write(state.finishedCount, state.undeliveredCount) }
        }
    }

    private func writeMessage() { state.withLock { write($0.finishedCount, $0.undeliveredCount) } }

    private func write(_ done: Int, _ undelivered: Int) {
        StandardError.write("\(PingferryUpload.name): \(text(done, undelivered))", .information)
    }

    private func text(_ done: Int, _ undelivered: Int) -> String {
        let failed = undelivered > 0 ? ", \(undelivered) not delivered" : ""
        return "sending: \(done) of \(totalUploads) uploads (\(done * 100 / max(totalUploads, 1)) %)\(failed)"
    }

    /// Removes the line from the terminal, and ends the messages at intervals.
    func clear() {
        state.withLock { state in
            state.progressLine.clear()
            state.timer?.cancel()
        }
    }
}
