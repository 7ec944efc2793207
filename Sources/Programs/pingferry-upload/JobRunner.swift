import Bytes
import CFiles
import CLibrary
import Console
import Delivery
import Files
import Synchronization

/// A runner that executes a job and, after a signal or after its maximum duration, ends it within 5 seconds.
enum JobRunner {
    /// Runs `job`, and stops it at `deadline`, unless it is `nil`.
    static func run(
        _ job: Job, progress: SendingProgress, until deadline: ContinuousClock.Instant?
    ) async throws -> JobReport {
        defer { progress.clear() }
        // The job starts only after the signal handler is installed. Before that, a signal would end the process
        // immediately.
        let (start, starter) = AsyncStream.makeStream(of: Never.self)
        defer { starter.finish() }
        let task = Task {
            for await _ in start {}
            return try await job.run()
        }
        try StopSignal.handle { _ in
            // The task is cancelled first, so that no new request is sent after the message.
            task.cancel()
            progress.clear()
            StandardError.write(
                "\(PingferryUpload.name): stopping; requests under way have 3 seconds to receive their answers")
        }
        let timer = deadline.map { deadline in
            Task {
                try await Task.sleep(until: deadline, clock: .continuous)
                task.cancel()
            }
        }
        defer { timer?.cancel() }
        starter.finish()
        return try await task.value
    }
}

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
        return "sending: \(done) of \(totalUploads.counted("upload")) (\(done * 100 / max(totalUploads, 1)) %)\(failed)"
    }

    /// Removes the line from the terminal, and ends the messages at intervals.
    func clear() {
        state.withLock { state in
            state.progressLine.clear()
            state.timer?.cancel()
        }
    }
}

/// The first SIGINT, SIGTERM or SIGHUP that the process receives after ``handle(_:)`` was called, and each SIGUSR1.
///
/// A second signal ends the process immediately with the exit status 128 + n. A signal that was ignored when the
/// process started, as with `nohup`, stays ignored.
enum StopSignal {
    private struct State {
        var handler: (@Sendable (Int32) -> Void)?
        var received: Int32?
        var progressHandler: (@Sendable () -> Void)?
    }

    private static let state = Mutex(State())

    /// Calls `handler` on a separate thread when the signal arrives, or on this thread if it has already arrived.
    ///
    /// A handler that was set before is no longer called.
    static func handle(_ handler: @escaping @Sendable (Int32) -> Void) throws(FileError) {
        let (isFirst, received) = state.withLock { state in
            defer { state.handler = handler }
            return (state.handler == nil, state.received)
        }
        if let received { handler(received) }
        guard isFirst else { return }
        var code = cfiles_catch_stop()
        if code == 0 { code = BackgroundThread.start { waitForSignal() } }
        guard code == 0 else { throw FileError(.open, "signal handler", code: code) }
    }

    /// Calls `handler` on a separate thread for each SIGUSR1 that arrives after ``handle(_:)`` was called, too.
    static func onProgressRequest(_ handler: (@Sendable () -> Void)?) {
        state.withLock { $0.progressHandler = handler }
    }

    private static func waitForSignal() {
        var signal = cfiles_wait_for_stop()
        while signal == SIGUSR1 {
            state.withLock(\.progressHandler)?()
            signal = cfiles_wait_for_stop()
        }
        guard signal != 0 else { return }
        let handler = state.withLock { state in
            state.received = signal
            return state.handler
        }
        handler?(signal)
    }

    /// Ends the process as if `signal` had not been handled.
    ///
    /// The previous handler is restored, because it removes the unfinished file of a receipt.
    static func endProcess(_ signal: Int32) { cfiles_end_by_stop(signal) }
}
