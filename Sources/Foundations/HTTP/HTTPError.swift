import CCurl

/// The reason why a response did not arrive or is incomplete.
public enum HTTPError: Error, Sendable, Equatable {
    // MARK: The server did not receive the request

    /// The host name of the proxy, or of the server if there is no proxy, cannot be resolved.
    case noAddress
    /// The connection to the proxy, or to the server if there is no proxy, failed with this `errno` code, or 0 if
    /// unknown.
    case cannotConnect(Int32)
    /// The connection was not established in time.
    ///
    /// `isAtProxy` specifies whether the connection to the proxy was established.
    case connectionTimedOut(isAtProxy: Bool)
    /// The proxy responded to CONNECT with this status code, or with invalid HTTP if the code is 0.
    case proxyRefused(Int)
    /// The certificate is for another host.
    case wrongName
    /// The certificate is not trusted, for this reason, such as `certificate has expired`.
    case untrusted(String)
    /// The TLS handshake failed for another reason, such as `wrong version number`.
    case noHandshake(String)
    /// The server requires a client certificate, or rejected the one that was sent.
    ///
    /// With TLS 1.3, its alert arrives after the request was sent, but the server processes no request before the
    /// handshake is complete.
    case clientCertificateRejected
    /// The connection was closed during the TLS handshake.
    case closedInHandshake
    /// The idle connection that was to be reused received bytes or was closed before the request was sent.
    case unsolicited

    // MARK: The server may have received the request

    /// The connection was closed without a response.
    case closed
    /// The connection was interrupted.
    case cut
    /// A response reported success before the complete request was sent.
    case early
    /// The response is not HTTP, or its header exceeds the size limit.
    case invalidResponse

    /// Any other error, with a message.
    ///
    /// `wasSent` specifies whether the server may have received the request.
    case other(String, wasSent: Bool)
    /// The client was closed while the request was pending.
    case ended
}

/// The details of a failed request.
struct FailureDetails {
    /// The number of times that libcurl was about to send the request.
    ///
    /// If a reused connection is closed without a response, libcurl tries again.
    var sendCount = 0
    /// The `errno` code of the connection attempt.
    var code: Int32 = 0
    /// The status code of the response to CONNECT, or 0 if there was none.
    var proxyStatus = 0
    var hasProxy = false
    /// Whether a connection to the server, or to the proxy if there is one, was established.
    var isConnected = false
    /// Whether the transfer opened the connection, so that an alert of the server is about the handshake.
    var isNewConnection = false
    /// Whether the certificate chain is valid.
    var isChainValid = false
    var message = ""

    /// The reason in a message about TLS, without the words of libcurl and OpenSSL that precede it.
    var reason: String {
        let isAfterColons = ["SSL certificate problem: ", "SSL routines:"].contains { message.contains($0) }
        guard isAfterColons, let part = message.split(separator: ":").last else { return message }
        return String(part.prefix { $0 != "," }.drop { $0 == " " })
    }

    /// Whether the server ended the handshake with an alert about the client certificate.
    ///
    /// The message of OpenSSL is examined, because libcurl has no code for alerts that arrive after the request was sent.
    var isClientCertificateRejected: Bool {
        isNewConnection && sendCount <= 1
            && ["alert certificate", "alert bad certificate", "alert unsupported certificate", "alert unknown ca"]
                .contains { message.contains($0) }
    }
}

extension HTTPError {
    /// Creates the error for the result code `code` of libcurl.
    init(_ code: CURLcode, _ details: FailureDetails) {
        self =
            if details.isClientCertificateRejected {
                .clientCertificateRejected
            } else {
                details.sendCount > 0 ? Self.afterSending(code, details) : Self.whileConnecting(code, details)
            }
    }

    private static func whileConnecting(_ code: CURLcode, _ details: FailureDetails) -> HTTPError {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .noAddress
        case CURLE_COULDNT_CONNECT where details.proxyStatus == 0: .cannotConnect(details.code)
        case CURLE_OPERATION_TIMEDOUT: .connectionTimedOut(isAtProxy: details.hasProxy && details.isConnected)
        case CURLE_PEER_FAILED_VERIFICATION: details.isChainValid ? .wrongName : .untrusted(details.reason)
        case CURLE_SSL_CONNECT_ERROR: isClosing(details.message) ? .closedInHandshake : .noHandshake(details.reason)
        case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
            .noHandshake(details.reason)
        case _ where details.proxyStatus != 0 || details.hasProxy && details.isConnected:
            .proxyRefused(details.proxyStatus)
        default: .other(details.message, wasSent: false)
        }
    }

    /// Returns whether `message` reports that the connection was closed.
    ///
    /// The message is examined because TLS libraries have no error code for a closed connection.
    private static func isClosing(_ message: String) -> Bool {
        ["SYSCALL", "unexpected eof", "reset by peer", "Broken pipe"].contains { message.contains($0) }
    }

    private static func afterSending(_ code: CURLcode, _ details: FailureDetails) -> HTTPError {
        switch code {
        // The second attempt is always stopped. Therefore, any error means that the first attempt had no response.
        case _ where details.sendCount > 1: .closed
        case CURLE_GOT_NOTHING, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT,
            CURLE_OPERATION_TIMEDOUT, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR:
            .closed
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE: .cut
        // Some versions of libcurl report a header that exceeds their limits as a lack of memory.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_WRITE_ERROR, CURLE_OUT_OF_MEMORY,
            CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP2:
            .invalidResponse
        default: .other(details.message, wasSent: true)
        }
    }
}
