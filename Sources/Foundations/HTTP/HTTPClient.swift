import CCurl
import CLibrary
import Files

/// An HTTP/1.1 client that reuses connections.
///
/// The client follows no redirects, sends no request twice, and ignores environment variables and configuration files.
/// All transfers run on one thread, which uses libcurl.
///
/// ```swift
/// let client = try HTTPClient(HTTPSettings())
/// let request = HTTPRequest(method: "POST", target: "/submit")
/// let end = await client.send(request, over: route, for: receiver)
/// await client.close()
/// ```
///
/// Call ``close()`` before releasing the last reference.
public final class HTTPClient: Sendable {
    private let mailbox: Mailbox

    /// Creates a client and starts its thread, without opening a connection.
    public init(_ settings: HTTPSettings) throws(HTTPError) {
        // A peer may close a connection at any time. The result of the write operation reports that, so no signal is
        // needed.
        signal(SIGPIPE, SIG_IGN)
        let mailbox = Mailbox(try MultiHandle(connections: settings.connections))
        self.mailbox = mailbox
        guard BackgroundThread.start({ TransferLoop(mailbox, settings).run() }) == 0 else {
            throw .other("cannot create a thread", wasSent: false)
        }
    }

    /// The executor that runs tasks on the thread of the client.
    ///
    /// If a task that sends requests prefers this executor, no other thread has to be woken for each response. Such a
    /// task must not run for long, because the transfers wait while it runs.
    public var executor: any TaskExecutor { mailbox }

    /// Sends a request once and passes the response to `receiver` as it arrives.
    ///
    /// If the response is incomplete when the method returns, the connection is closed.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - route: The server and the proxy.
    ///   - receiver: The object that processes the response.
    /// - Returns: The reason why the request ended.
    public func send(_ request: HTTPRequest, over route: HTTPRoute, for receiver: any HTTPReceiver) async -> HTTPOutcome
    {
        await withCheckedContinuation { continuation in
            mailbox.add(
                Mailbox.PendingRequest(request: request, route: route, receiver: receiver) {
                    continuation.resume(returning: $0)
                })
        }
    }

    /// Notifies the client that the deadline of a receiver is now earlier.
    public func deadlinesChanged() { mailbox.updateDeadlines() }

    /// Cancels all pending requests, closes the connections and ends the thread.
    ///
    /// No receiver is called after this method returns.
    public func close() async {
        await withCheckedContinuation { continuation in mailbox.close { continuation.resume() } }
    }
}

/// The settings for all requests of a client.
public struct HTTPSettings: Sendable {
    /// The trusted authorities and the client certificate.
    public var identity = HTTPIdentity()
    /// The maximum time to establish a connection, in seconds, including the proxy and the TLS handshake.
    public var connectTimeout = 10
    /// The maximum number of connections that are kept open for reuse.
    public var connections = 8
    /// The lowercase names of the response fields to pass to receivers.
    public var responseFields: [String] = []

    /// Creates the default settings.
    public init() {}
}

/// The certificates for encrypted connections, in the PEM format.
public struct HTTPIdentity: Sendable {
    /// The certificates of the authorities to trust, or `nil` to trust the authorities of the system.
    public var authorities: [UInt8]?
    /// The client certificate, followed by intermediate certificates, and its private key, or `nil` if there is none.
    public var certificate: (chain: [UInt8], key: [UInt8])?

    /// Creates an identity with the authorities of the system and no client certificate.
    public init() {}
}

extension HTTPIdentity {
    /// An error in the certificates of the authorities, the client certificate or its key.
    public enum CheckError: Error, Sendable, Equatable {
        /// The certificates of the authorities are invalid.
        case authorities
        /// The client certificate or its key is invalid, or they do not match.
        case certificate
    }

    /// Checks whether libcurl can load the certificates and the key.
    ///
    /// libcurl connects to a socket of this process, loads the certificates, and is stopped before the TLS handshake.
    /// If the check cannot be performed, no error is thrown, because the first request reports the problem.
    public func check() throws(CheckError) {
        guard authorities != nil || certificate != nil else { return }
        switch loadCertificates() {
        case CURLE_SSL_CACERT_BADFILE: throw .authorities
        case CURLE_SSL_CERTPROBLEM: throw .certificate
        default: return
        }
    }

    private func loadCertificates() -> CURLcode {
        var name = [CChar](repeating: 0, count: 108)
        let listener = ccurl_listen(&name)
        guard listener >= 0 else { return CURLE_OK }
        defer { close(listener) }
        do throws(HTTPError) {
            let easy = try EasyHandle.make(self)
            try easy.set(CURLOPT_URL, "https://127.0.0.1/")
            try easy.check(ccurl_set_text(easy.pointer, CURLOPT_ABSTRACT_UNIX_SOCKET, name))
            try easy.check(ccurl_set_tls(easy.pointer) { _, _, _ in CURLE_ABORTED_BY_CALLBACK })
            return curl_easy_perform(easy.pointer)
        } catch {
            return CURLE_OK
        }
    }
}

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
