import Console
import Delivery
import Dispatch
import Synchronization

/// A monitor that reports the start and the end of a job to a monitoring service, if one is configured.
///
/// If the service does not accept a message, a line on standard error reports this, even with `--quiet`. The job and
/// its exit status do not depend on the service.
///
/// The type is a class, because the job and the signal handler share an instance.
final class JobMonitor: Sendable {
    private struct State {
        var phase = Phase.unmonitored
        var text = ""
    }

    private enum Phase {
        case unmonitored
        case running(MonitoringService)
        /// The exit status is known, and is being reported.
        case ending
        /// A signal arrived before the job handled signals itself, and is ending the process.
        case interrupted
    }

    private let state = Mutex(State())

    /// Sets the text that the service receives at the end of the job.
    func setText(_ text: String) { state.withLock { $0.text = text } }

    /// Runs `body`, and sets the text to the message of its error, unless `body` has set a text.
    func describingErrors(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            if let message = CommandError(error)?.message {
                state.withLock { if $0.text.isEmpty { $0.text = message } }
            }
            throw error
        }
    }

    /// Reports the start of the job to `service`, or does nothing if `service` is `nil`.
    ///
    /// From then on, a signal that ends the process is also reported, until a job handles signals itself.
    func start(_ service: MonitoringService?) async throws {
        guard let service else { return }
        state.withLock { $0.phase = .running(service) }
        try StopSignal.handle { self.interrupt($0) }
        await Self.reportErrors { () async throws(MonitoringError) in try await service.reportStart() }
    }

    /// Reports the exit status of the program, or never returns if a signal is ending the process.
    func finish(status: Int32) async {
        let (phase, text) = state.withLock { state in
            let phase = state.phase
            if case .running = phase { state.phase = .ending }
            return (phase, state.text)
        }
        switch phase {
        case .running(let service): await Self.reportEnd(to: service, status: status, text: text)
        case .unmonitored, .ending: return
        // The signal handler ends the process.
        case .interrupted: await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        }
    }

    /// Reports `signal` to the service, and then ends the process with it.
    private func interrupt(_ signal: Int32) {
        let service = state.withLock { state -> MonitoringService? in
            guard case .running(let service) = state.phase else { return nil }
            state.phase = .interrupted
            return service
        }
        guard let service else { return }
        let isDone = DispatchSemaphore(value: 0)
        Task {
            await Self.reportEnd(to: service, status: 128 + signal, text: "")
            isDone.signal()
        }
        // If no thread is free for the task, the wait times out and the signal ends the process without a report.
        _ = isDone.wait(timeout: .now() + .seconds(MonitoringService.totalLimit + 1))
        StopSignal.endProcess(signal)
    }

    private static func reportEnd(to service: MonitoringService, status: Int32, text: String) async {
        await reportErrors { () async throws(MonitoringError) in
            try await service.reportEnd(status: status, text: text)
        }
    }

    private static func reportErrors(_ body: () async throws(MonitoringError) -> Void) async {
        do throws(MonitoringError) {
            try await body()
        } catch {
            StandardError.write("\(PingferryUpload.name): \(error)")
        }
    }
}
