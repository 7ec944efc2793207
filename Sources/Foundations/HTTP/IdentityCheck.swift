import CCurl
import Glibc

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
