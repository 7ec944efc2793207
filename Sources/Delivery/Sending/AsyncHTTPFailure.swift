import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

extension SendFailure {
    /// Says in plain words what the library throws.
    init(_ error: any Error, on route: Route) {
        switch error {
        case let error as HTTPClientError: self.init(error, on: route)
        case let error as NIOSSLError: self.init(tls: error, on: route)
        case let error as NIOConnectionError: self.init(error, on: route)
        case let error as IOError:
            switch error.errnoCode {
            case ECONNRESET, EPIPE, ENOTCONN, EBADF: self.init(.disconnected, "the connection\(route.way) was cut")
            default: self.init(cannotConnectOn: route, error)
            }
        case is ChannelError: self.init(.disconnected, "the connection\(route.way) was closed")
        case is NIOSSLExtraError: self.init(.notTrusted, "the server's certificate does not name this host")
        case is HTTPParserError:
            self.init(
                .unanswered,
                "what \(route.server) answered\(route.way) is no HTTP: see whether the address is right, and its http or https"
            )
        case is CancellationError: self.init(.unanswered, "the request was ended before its answer came")
        default: self.init(.unanswered, "the connection\(route.way) failed in an unknown way (\(type(of: error)))")
        }
    }

    private init(_ error: HTTPClientError, on route: Route) {
        switch error {
        case .remoteConnectionClosed, .uncleanShutdown:
            self.init(closedOn: route)
        case .connectTimeout, .getConnectionFromPoolTimeout:
            self.init(.notConnected, "no connection\(route.proxy.map { " to the proxy \($0)" } ?? "") in time")
        case .httpProxyHandshakeTimeout, .tlsHandshakeTimeout:
            self.init(.notConnected, "no connection\(route.way) in time")
        case .invalidProxyResponse:
            self.init(.notConnected, "\(route.firstStop) does not connect to \(route.server)")
        case .readTimeout, .writeTimeout, .deadlineExceeded:
            self.init(.unanswered, "no answer\(route.way) in time")
        case .cancelled, .requestStreamCancelled, .alreadyShutdown:
            self.init(.unanswered, "the request was ended before its answer came")
        case .proxyAuthenticationRequired:
            self.init(.notConnected, "\(route.firstStop) does not accept the credential")
        default:
            // What is left are faults of requests, which are made so that they have none.
            self.init(.unanswered, "the request\(route.way) failed: \(error.shortDescription)")
        }
    }

    private init(_ error: NIOConnectionError, on route: Route) {
        if error.dnsAError != nil || error.dnsAAAAError != nil, error.connectionErrors.isEmpty {
            self.init(.notConnected, "no address found for \(route.proxy.map { "the proxy \($0)" } ?? error.host)")
        } else {
            self.init(cannotConnectOn: route, error.connectionErrors.lazy.compactMap { $0.error as? IOError }.first)
        }
    }

    private init(cannotConnectOn route: Route, _ error: IOError?) {
        let reason = error.map { ": \(String(cString: strerror($0.errnoCode)))" } ?? ""
        self.init(.notConnected, "cannot connect to \(route.firstStop)\(reason)")
    }

    /// Of a server and the proxy before it, it is not known which one closed the connection.
    private init(closedOn route: Route) {
        let words =
            route.proxy == nil
            ? "the server closed the connection without an answer"
            : "the connection\(route.way) was closed without an answer"
        self.init(.disconnected, words)
    }

    private init(tls error: NIOSSLError, on route: Route) {
        switch error {
        case .handshakeFailed(let cause):
            // The library tells where in its own source it noticed, which helps nobody.
            let isCertificate = "\(cause)".contains("CERTIFICATE_VERIFY_FAILED")
            let reason =
                isCertificate
                ? "the server's certificate has expired, or is of an unknown authority (see --ca-file)"
                : "the handshake failed"
            self.init(.notTrusted, "no trusted connection: \(reason)")
        case .uncleanShutdown:
            self.init(closedOn: route)
        default:
            self.init(.notTrusted, "no trusted connection: the handshake failed")
        }
    }
}
