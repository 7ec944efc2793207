import CCurl

/// Why an answer did not come, or not all of it.
public enum HTTPError: Error, Sendable, Equatable {
    // MARK: The server has nothing of the request

    /// The server's name, or the proxy's where there is one, has no address.
    case noAddress
    /// No connection to the server, or to the proxy where there is one: an `errno`, 0 where it is not known.
    case cannotConnect(Int32)
    /// No connection in time; whether one to the proxy was there already.
    case noConnectionInTime(isAtProxy: Bool)
    /// The proxy answered this status to CONNECT, 0 if it was no answer.
    case proxyRefused(Int)
    /// The certificate is one of another host.
    case wrongName
    /// The certificate has expired, or is of an authority that is not trusted.
    case untrusted
    /// The two sides cannot agree on an encrypted connection.
    case noHandshake
    /// The connection ended before it was encrypted.
    case closedInHandshake
    /// Bytes arrived, or the connection ended, while the connection was idle. The request was not sent on it.
    case unsolicited

    // MARK: The server may have the request

    /// The connection was closed without an answer.
    case closed
    /// The connection was cut.
    case cut
    /// An answer that reports success came before all of the request had been sent.
    case early
    /// What came is not HTTP, or its header is longer than any honest one.
    case noHTTP

    /// Anything else, in libcurl's words.
    case other(String, wasSent: Bool)
    /// The client was closed.
    case ended
}

/// What is known of a request that failed.
struct FailureFacts {
    /// How often it was about to go out: more than once, if a connection that had been used before ended without an answer.
    var timesSent = 0
    /// The `errno` of the connection attempt.
    var code: Int32 = 0
    /// What a proxy answered to CONNECT, 0 for nothing.
    var proxyStatus = 0
    /// Whether there is a proxy.
    var hasProxy = false
    /// Whether a connection to the first machine came up.
    var isConnected = false
    /// Whether the chain of certificates was found good.
    var isChainGood = false
    /// libcurl's own words.
    var words = ""
}

extension HTTPError {
    /// Says what a code of libcurl means.
    init(_ code: CURLcode, _ facts: FailureFacts) {
        self = facts.timesSent > 0 ? Self.afterSending(code, facts) : Self.whileConnecting(code, facts)
    }

    private static func whileConnecting(_ code: CURLcode, _ facts: FailureFacts) -> HTTPError {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .noAddress
        case CURLE_COULDNT_CONNECT where facts.proxyStatus == 0: .cannotConnect(facts.code)
        case CURLE_OPERATION_TIMEDOUT: .noConnectionInTime(isAtProxy: facts.hasProxy && facts.isConnected)
        case CURLE_PEER_FAILED_VERIFICATION: facts.isChainGood ? .wrongName : .untrusted
        case CURLE_SSL_CONNECT_ERROR: isClosing(facts.words) ? .closedInHandshake : .noHandshake
        case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR: .noHandshake
        case _ where facts.proxyStatus != 0 || facts.hasProxy && facts.isConnected: .proxyRefused(facts.proxyStatus)
        default: .other(facts.words, wasSent: false)
        }
    }

    /// The libraries for encryption have no code for it.
    private static func isClosing(_ words: String) -> Bool {
        ["SYSCALL", "unexpected eof", "reset by peer", "Broken pipe"].contains { words.contains($0) }
    }

    private static func afterSending(_ code: CURLcode, _ facts: FailureFacts) -> HTTPError {
        switch code {
        // A second attempt, which is refused, and whatever becomes of the connection for it: the first one had no answer.
        case _ where facts.timesSent > 1: .closed
        case CURLE_GOT_NOTHING, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT,
            CURLE_OPERATION_TIMEDOUT, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR:
            .closed
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE: .cut
        // What is too long for libcurl's own limits is told as a lack of memory by some versions.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_WRITE_ERROR, CURLE_OUT_OF_MEMORY,
            CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP2:
            .noHTTP
        default: .other(facts.words, wasSent: true)
        }
    }
}
