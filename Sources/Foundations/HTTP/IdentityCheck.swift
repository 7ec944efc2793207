import CCurl
import Glibc

extension HTTPIdentity {
    /// What is wrong with certificates and keys.
    public enum CheckError: Error, Sendable, Equatable {
        /// The authorities cannot be read.
        case authorities
        /// Our certificate or its key cannot be read, or they do not belong together.
        case certificate
    }

    /// Finds out whether libcurl can use the certificates and the key. It is let connect to a socket of this process, and is
    /// stopped when it has loaded them, before it says anything.
    /// - Throws: `CheckError`; nothing if the check itself cannot be made, for the first request tells then.
    public func check() throws(CheckError) {
        guard authorities != nil || certificate != nil else { return }
        switch rehearse() {
        case CURLE_SSL_CACERT_BADFILE: throw .authorities
        case CURLE_SSL_CERTPROBLEM: throw .certificate
        default: return
        }
    }

    private func rehearse() -> CURLcode {
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
