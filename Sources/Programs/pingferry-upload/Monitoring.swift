import ArgumentParser
import Console
import Delivery
import Dispatch
import Essentials
import Files
import Synchronization
import Systems
import Telemetry

/// The options that select the monitoring service.
struct MonitoringOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Request this address with /start before and with / and the exit status after the job. Other users can read it in \
            the list of processes, so prefer --ping-url-file. (default: $\(Self.variable))
            """, valueName: "url"))
    var pingURL: String?

    @Option(
        help: ArgumentHelp(
            "A file with the address for --ping-url, which only you may be able to read.", valueName: "file"),
        completion: .file())
    var pingURLFile: String?

    /// The environment variable with the address, used if no option is given.
    static let variable = "PINGFERRY_PING_URL"

    /// Whether one of the options is given.
    var isGiven: Bool { pingURL != nil || pingURLFile != nil }

    func validate() throws {
        guard pingURL == nil || pingURLFile == nil else {
            throw ValidationError("--ping-url cannot be used with --ping-url-file")
        }
        _ = try addressOption()
    }

    /// Returns the service from the options or the environment, or `nil` if no service is configured.
    func service(environment: [String: String], sending: SendingOptions) throws -> MonitoringService? {
        guard let address = try address(environment: environment) else { return nil }
        return MonitoringService(
            at: address, agent: SendingOptions.agent, proxies: try sending.proxies(environment: environment),
            authoritiesPath: sending.caFile)
    }

    private func address(environment: [String: String]) throws -> MonitoringAddress? {
        if let address = try addressOption() { return address }
        if let pingURLFile {
            return try MonitoringAddress(
                file: pingURLFile, protectedFolder: environment[SendingOptions.protectedFolderVariable])
        }
        guard let text = environment[Self.variable], !text.isEmpty else { return nil }
        guard let address = MonitoringAddress(text) else {
            throw CommandError(
                status: .badConfiguration, message: "\(Self.variable) must be \(MonitoringAddress.form)")
        }
        return address
    }

    /// Returns the address that `--ping-url` specifies, or `nil` if the option is not given.
    ///
    /// The argument parser does not parse the address, because its error message would contain the address.
    private func addressOption() throws -> MonitoringAddress? {
        guard let pingURL else { return nil }
        guard let address = MonitoringAddress(pingURL) else {
            throw ValidationError("--ping-url must be \(MonitoringAddress.form)")
        }
        return address
    }
}

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

/// The file that the option `--metrics` specifies.
///
/// Each job replaces the file when it begins to send and when it ends, even if it fails. A job that ends because another
/// one is running does not replace it, so that the metrics of a job that does not end become old. A file that does not
/// contain metrics of this program is never replaced.
struct MetricsFile {
    let path: String

    /// The beginnings of files that can be replaced.
    private static let prefixes = ["# HELP \(MetricsText.namePrefix)", "# TYPE \(MetricsText.namePrefix)"]

    /// Throws an error if the file exists and is neither empty nor written by this program.
    func requireMetrics() throws {
        // A file that is not a regular file is reported when it is replaced.
        var file: InputFile
        do throws(FileError) {
            file = try InputFile(path: path)
        } catch {
            if error.isNotFound || error.isNotAFile { return }
            throw notReplaceable("it is not readable, so it may not be metrics")
        }
        let head = try [UInt8](capacity: Self.prefixes.map(\.utf8.count).max() ?? 0) { output throws(FileError) in
            try file.read(at: 0, into: &output)
        }
        guard !head.isEmpty, !Self.prefixes.contains(where: { head.starts(with: $0.utf8) }) else { return }
        throw notReplaceable("it does not contain metrics of this program")
    }

    private func notReplaceable(_ reason: String) -> CommandError {
        CommandError(
            status: .cannotCreate, message: "cannot replace \(path): \(reason)",
            remedy: "remove the file, or give another name with --metrics")
    }

    /// Writes the metrics of a running job.
    ///
    /// A full disk is reported only, because it is no reason to send nothing. If it is still full at the end of the job,
    /// ``write(_:ledger:unusableBundles:undelivered:)`` throws an error.
    func writeStart(_ start: Timestamp, ledger: LedgerOptions) throws {
        do {
            try write(.running(since: start), ledger: ledger)
        } catch let error as FileError where error.isDiskFull {
            CommandError(error).report(as: PingferryUpload.name)
        }
    }

    /// Writes the metrics of a job, and the metrics of its ledger if the ledger can be read.
    func write(
        _ job: JobState, ledger: LedgerOptions, unusableBundles: Int = 0,
        undelivered: [UndeliveredReason: Int] = [:]
    ) throws {
        // An error of the ledger is ignored here. The job reports it, and the exit status in the metrics depends on it.
        let overview = try? LedgerView(path: ledger.path()).overview(
            today: ledger.today, knowing: Systems.table)
        let text = MetricsText(
            overview, knowing: Systems.table, job, unusableBundles: unusableBundles, undelivered: undelivered)
        try requireMetrics()
        let output = try AtomicOutput(path: path, replacing: true)
        // The file contains no client ids, and the program that collects metrics runs as another user.
        try output.setPermissions(0o644)
        try output.write(text.bytes.span)
        try output.commit()
    }
}
