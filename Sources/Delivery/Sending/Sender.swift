import Telemetry

/// Sends requests over connections that are kept and used again. What an answer is, and how long it is waited for, is
/// decided here; a `Transport` moves the bytes.
///
/// A class, because it owns connections: ``shutdown()`` has to be called before the last reference goes.
public final class Sender: Sendable {
    private let connections: [SystemName: (transport: any Transport, route: Route)]
    private let settings: SenderSettings
    private let now: @Sendable () -> Timestamp

    /// How long connections may take to close.
    private static let closingPatience = Duration.seconds(1)

    /// Prepares to send; no connection is made yet.
    /// - Parameters:
    ///   - systems: whose endpoints are needed.
    ///   - now: the clock that `Retry-After` dates are compared with.
    /// - Throws: ``CredentialError``.
    public convenience init(
        _ settings: SenderSettings, systems: some Sequence<SystemName>, now: @escaping @Sendable () -> Timestamp
    ) throws(CredentialError) {
        let tls = try settings.identity.configuration()
        self.init(settings, systems: systems, now: now) { AsyncHTTPTransport($0, settings, tls: tls) }
    }

    /// Prepares to send through what is made for each endpoint.
    init(
        _ settings: SenderSettings, systems: some Sequence<SystemName>, now: @escaping @Sendable () -> Timestamp,
        transport: (Route) -> any Transport
    ) {
        var connections: [SystemName: (transport: any Transport, route: Route)] = [:]
        for system in Set(systems) {
            guard let endpoint = settings.endpoints[system] else { continue }
            let route = Route(endpoint: endpoint, proxy: settings.proxies.proxy(for: endpoint))
            connections[system] = (transport(route), route)
        }
        self.connections = connections
        self.settings = settings
        self.now = now
    }

    /// Closes all connections. Those that take long to close end with the process.
    public func shutdown() async {
        let end = FirstValue<Void>()
        Task { [connections] in
            for (transport, _) in connections.values { await transport.shutdown() }
            end.give(())
        }
        let timer = Task {
            try? await Task.sleep(for: Self.closingPatience)
            end.give(())
        }
        await end.value()
        timer.cancel()
    }

    /// Sends a request once. When its task is cancelled, the answer has 3 seconds to come.
    ///
    /// The status line decides what became of a request, and a body only explains it: if the head of an answer came, there
    /// is an answer, whatever becomes of its body.
    /// - Throws: ``SendFailure`` if there is no answer.
    public func send(_ request: UploadRequest, to system: SystemName) async throws(SendFailure) -> Answer {
        guard let (transport, route) = connections[system] else { throw SendFailure(.notConnected, "no endpoint") }
        let exchange = Exchange(
            whole: .seconds(settings.exchangeTimeout), patience: .seconds(settings.readTimeout))
        let end = await exchange.run { exchange throws(SendFailure) in try await transport.send(request, exchange) }
        if let (head, body, isWhole) = exchange.answer(end) {
            var answer = Answer(
                status: head.status, retryAfter: head.retryAfter.flatMap { RetryAfter.seconds($0, now: now()) },
                location: head.location, body: body, isWhole: isWhole)
            answer.secrets = request.secrets
            return answer
        }
        switch end {
        case .failed(let failure): throw failure
        case .late:
            throw SendFailure(
                .unanswered, "no answer\(route.way) within \(settings.exchangeTimeout) s (--exchange-timeout)")
        case .stopped: throw SendFailure(.unanswered, "the job was stopped before the answer came")
        case .complete, .enough: throw SendFailure(.unanswered, "an answer without a status")
        }
    }
}
