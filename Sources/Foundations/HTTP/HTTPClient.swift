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
