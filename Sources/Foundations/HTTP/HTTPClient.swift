import Glibc
import Parallel

/// Sends requests to servers over connections that are kept and used again: HTTP/1.1, on one thread, by libcurl. It follows
/// no redirect, sends no request twice, and reads neither the environment nor a configuration of libcurl's.
///
/// ```swift
/// let client = try HTTPClient(HTTPSettings())
/// let request = HTTPRequest(method: "POST", target: "/submit")
/// let end = await client.send(request, over: route, for: receiver)
/// await client.close()
/// ```
///
/// A class, because it owns connections: ``close()`` has to be called before the last reference goes.
public final class HTTPClient: Sendable {
    private let mailbox: Mailbox

    /// Starts the thread; no connection is made yet.
    /// - Throws: `HTTPError` if there is no memory.
    public init(_ settings: HTTPSettings) throws(HTTPError) {
        // The other side of a connection, or of a pipe, may go away at any time: writing tells that, and is enough.
        signal(SIGPIPE, SIG_IGN)
        let mailbox = Mailbox(try MultiHandle(connections: settings.connections))
        self.mailbox = mailbox
        guard BackgroundThread.start({ TransferLoop(mailbox, settings).run() }) == 0 else {
            throw .other("cannot make a thread", wasSent: false)
        }
    }

    /// Sends a request once, and tells the receiver what comes back, as it comes. A connection whose request is not over when
    /// this returns is closed.
    public func send(_ request: HTTPRequest, over route: HTTPRoute, for receiver: any HTTPReceiver) async -> HTTPEnd {
        await withCheckedContinuation { continuation in
            mailbox.put(
                Mailbox.Start(request: request, route: route, receiver: receiver) {
                    continuation.resume(returning: $0)
                })
        }
    }

    /// Has to be called when the end of a receiver has moved nearer.
    public func lookAtClocks() { mailbox.wake() }

    /// Ends all requests that are under way, and the thread; the connections close with the client. Returns when nothing of a
    /// request will be heard any more.
    public func close() async {
        await withCheckedContinuation { continuation in mailbox.close { continuation.resume() } }
    }
}
