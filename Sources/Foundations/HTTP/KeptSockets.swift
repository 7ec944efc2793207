import CCurl

/// The sockets of the connections that libcurl keeps to be used again, by the addresses of their two ends.
///
/// libcurl does not watch a connection that is idle. Without a check, whatever a server sends meanwhile is read as the
/// answer to the next request, which the server may never store. No check can find an answer that arrives after the
/// request was sent.
///
/// A class, because the transfers of a client share it. It belongs to the thread that drives them.
final class KeptSockets {
    private var sockets: [String: curl_socket_t] = [:]
    private let limit: Int

    /// - Parameter connections: The number of connections that are kept.
    init(connections: Int) { limit = max(1024, 4 * connections) }

    /// Notes the connection of a transfer that is over, if libcurl keeps the connection.
    func note(connectionOf easy: borrowing EasyHandle) {
        let socket = ccurl_kept_socket(easy.pointer)
        guard socket != ccurl_bad_socket else { return }
        // Entries of connections that libcurl has closed remain. A connection without an entry is not used again, but
        // replaced.
        if sockets.count >= limit { sockets = [:] }
        let name = Self.name(
            local: easy.text(CURLINFO_LOCAL_IP), easy.number(CURLINFO_LOCAL_PORT), peer: easy.text(CURLINFO_PRIMARY_IP),
            easy.number(CURLINFO_PRIMARY_PORT))
        sockets[name] = socket
    }

    /// Whether a connection that was used before is as its last answer left it: nothing has arrived on it, and it was
    /// not closed.
    /// - Parameter name: The connection, as `name` returns it.
    func isQuiet(_ name: String, of easy: borrowing EasyHandle) -> Bool {
        guard let socket = sockets[name] else { return false }
        return ccurl_is_readable(socket) == 0 && ccurl_has_decrypted_bytes(easy.pointer) == 0
    }

    /// Returns the name of a connection, which no other open connection has.
    static func name(local: String, _ localPort: Int, peer: String, _ peerPort: Int) -> String {
        "\(local) \(localPort) \(peer) \(peerPort)"
    }
}
