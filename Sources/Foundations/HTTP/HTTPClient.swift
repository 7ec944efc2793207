import Glibc
import Parallel

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
