import Glibc
import HTTP

extension SendError {
    /// Creates an error that describes `failure`, which occurred on `route`.
    init(_ failure: HTTPError, on route: Route) {
        switch failure {
        case .noAddress:
            self.init(
                .notConnected, "no address found for \(route.proxy.map { "the proxy \($0)" } ?? route.endpoint.host)")
        case .cannotConnect(let code):
            let reason = code == 0 ? "" : ": \(String(cString: strerror(code)))"
            self.init(.notConnected, "cannot connect to \(route.connectionTarget)\(reason)")
        case .connectionTimedOut(let isAtProxy):
            let suffix = isAtProxy ? route.proxySuffix : route.proxy.map { " to the proxy \($0)" } ?? ""
            self.init(.notConnected, "no connection\(suffix) in time")
        case .proxyRefused: self.init(.notConnected, "\(route.connectionTarget) refuses to connect to \(route.server)")
        case .wrongName: self.init(.notTrusted, "the server's certificate does not name this host")
        case .untrusted(let words):
            // Another authority is no remedy for a certificate that has expired, or that was revoked.
            let hint = words.contains("issuer") || words.contains("self") ? " (see --ca-file)" : ""
            self.init(.notTrusted, "no trusted connection: \(words)\(hint)")
        case .noHandshake(let words): self.init(.notTrusted, "no trusted connection: the handshake failed: \(words)")
        case .clientCertificateRejected:
            self.init(
                .notTrusted,
                "no trusted connection: the server requires another client certificate (see --client-cert)")
        case .closedInHandshake:
            self.init(.notConnected, "the connection\(route.proxySuffix) was closed before it was encrypted")
        case .unsolicited:
            self.init(
                .unsolicited,
                "the idle connection\(route.proxySuffix) had bytes that no request asked for, or was closed")
        case .early:
            self.init(
                .unanswered, "\(route.server) answered\(route.proxySuffix) before it had received the whole request")
        case .closed:
            // With a proxy, it is unknown whether the server or the proxy closed the connection.
            let words =
                route.proxy == nil
                ? "the server closed the connection without an answer"
                : "the connection\(route.proxySuffix) was closed without an answer"
            self.init(.disconnected, words)
        case .cut: self.init(.disconnected, "the connection\(route.proxySuffix) was cut")
        case .invalidResponse:
            self.init(
                .unanswered,
                "the answer of \(route.server)\(route.proxySuffix) is not HTTP: check the address and its scheme (http or https)"
            )
        case .ended: self.init(.unanswered, "the request was cancelled before the answer arrived")
        case .other(let words, let wasSent):
            self.init(wasSent ? .unanswered : .notConnected, "the connection\(route.proxySuffix) failed: \(words)")
        }
    }
}
