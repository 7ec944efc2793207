import CCurl
import Glibc

extension HTTPIdentity {
    /// What is wrong with certificates and keys.
    public enum Fault: Error, Sendable, Equatable {
        /// The authorities cannot be read.
        case authorities
        /// Our certificate or its key cannot be read, or they do not belong together.
        case certificate
    }

    /// Finds out whether libcurl can use the certificates and the key: it is given one end of a pair of sockets whose other
    /// end says nothing, and loads them before it says its first word.
    /// - Throws: `Fault`; nothing if the check itself cannot be made, for the first request tells then.
    public func check() throws(Fault) {
        guard authorities != nil || certificate != nil else { return }
        switch Self.rehearse(self) {
        case CURLE_SSL_CACERT_BADFILE: throw .authorities
        case CURLE_SSL_CERTPROBLEM: throw .certificate
        default: return
        }
    }

    private static func rehearse(_ identity: HTTPIdentity) -> CURLcode {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { return CURLE_OK }
        // The other end can be written to, and has come to its end.
        shutdown(ends[1], Int32(SHUT_WR))
        defer { for end in ends where end >= 0 { close(end) } }
        return withUnsafeMutablePointer(to: &ends[0]) { ours in
            do throws(HTTPFailure) {
                let easy = try EasyHandle.make(identity)
                try easy.set(CURLOPT_URL, "https://127.0.0.1/")
                try easy.set(CURLOPT_CONNECT_ONLY, 1)
                try easy.set(CURLOPT_OPENSOCKETDATA, UnsafeMutableRawPointer(ours))
                try easy.check(
                    ccurl_set_open(easy.pointer) { context, _, _ in
                        guard let ours = context?.assumingMemoryBound(to: Int32.self) else { return -1 }
                        // It is libcurl's from now on.
                        defer { ours.pointee = -1 }
                        return ours.pointee
                    })
                try easy.check(ccurl_set_socket(easy.pointer) { _, _, _ in CURL_SOCKOPT_ALREADY_CONNECTED })
                return curl_easy_perform(easy.pointer)
            } catch {
                return CURLE_OK
            }
        }
    }
}
