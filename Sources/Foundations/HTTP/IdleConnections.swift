import CCurl

/// The sockets of the idle connections that libcurl keeps for reuse, by the addresses of both ends.
///
/// libcurl does not monitor idle connections. If a server sends data on an idle connection, libcurl would interpret the
/// data as the response to the next request, although the server may never process that request. ``isReusable(_:by:)``
/// detects data that arrived before the request is sent, but not data that arrives later.
///
/// The registry is a class, because the transfers of a client share it. Only the thread of the client uses it.
final class IdleConnections {
    /// The addresses of both ends of a connection, which together are unique among all open connections.
    struct Addresses: Hashable {
        let local: String
        let localPort: Int
        let peer: String
        let peerPort: Int
    }

    private var sockets: [Addresses: curl_socket_t] = [:]
    private let maximumSocketCount: Int

    /// Creates an empty registry for a client that keeps at most `connections` connections.
    init(connections: Int) { maximumSocketCount = max(1024, 4 * connections) }

    /// Records the connection of a finished transfer if libcurl keeps it.
    func record(connectionOf easy: borrowing EasyHandle) {
        let socket = ccurl_reusable_socket(easy.pointer)
        guard socket != ccurl_bad_socket else { return }
        // Entries of closed connections accumulate. Removing all entries is safe, because a connection without an entry
        // is not reused.
        if sockets.count >= maximumSocketCount { sockets = [:] }
        let addresses = Addresses(
            local: easy.text(CURLINFO_LOCAL_IP), localPort: easy.number(CURLINFO_LOCAL_PORT),
            peer: easy.text(CURLINFO_PRIMARY_IP), peerPort: easy.number(CURLINFO_PRIMARY_PORT))
        sockets[addresses] = socket
    }

    /// Returns whether `connection` is still open and nothing has arrived on it since its last response.
    func isReusable(_ connection: Addresses, by easy: borrowing EasyHandle) -> Bool {
        guard let socket = sockets[connection] else { return false }
        return ccurl_is_readable(socket) == 0 && ccurl_has_decrypted_bytes(easy.pointer) == 0
    }
}
