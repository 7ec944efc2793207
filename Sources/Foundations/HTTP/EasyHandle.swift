import CCurl

/// A handle of libcurl for one transfer after another, freed with the value.
struct EasyHandle: ~Copyable {
    let pointer: UnsafeMutableRawPointer
    private let message: UnsafeMutablePointer<CChar>

    /// The library, made ready once for the process.
    static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    private init(_ pointer: UnsafeMutableRawPointer) {
        self.pointer = pointer
        message = .allocate(capacity: Int(CURL_ERROR_SIZE))
        message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(pointer)
        message.deallocate()
    }

    /// Makes a handle that trusts and shows what it is given, and reads no environment, no configuration and no file.
    /// - Throws: `HTTPError` if there is no memory, or libcurl lacks what is needed.
    static func make(_ identity: HTTPIdentity) throws(HTTPError) -> EasyHandle {
        guard Self.isReady, let pointer = curl_easy_init() else {
            throw .other("libcurl cannot be used", wasSent: false)
        }
        let handle = EasyHandle(pointer)
        try handle.restrict()
        try handle.take(identity)
        return handle
    }

    private func restrict() throws(HTTPError) {
        try set(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(message))
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_PROXY, "")
        try set(CURLOPT_NOPROXY, "")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        // A name that is being looked up must not hold up the other transfers when its own is given up.
        try set(CURLOPT_QUICK_EXIT, 1)
    }

    /// Takes certificates and a key in the place of the system's and of none.
    private func take(_ identity: HTTPIdentity) throws(HTTPError) {
        if let authorities = identity.authorities {
            try set(CURLOPT_CAINFO_BLOB, bytes: authorities)
            try set(CURLOPT_CAPATH, nil as String?)
        }
        guard let (chain, key) = identity.certificate else { return }
        try set(CURLOPT_SSLCERT_BLOB, bytes: chain)
        try set(CURLOPT_SSLKEY_BLOB, bytes: key)
        // Else a key with a passphrase would ask for it at the terminal.
        try set(CURLOPT_KEYPASSWD, "")
    }

    // MARK: Options

    func set(_ option: CURLoption, _ value: Int) throws(HTTPError) {
        try check(ccurl_set_number(pointer, option, value))
    }

    func set(_ option: CURLoption, size: Int) throws(HTTPError) {
        try check(ccurl_set_size(pointer, option, curl_off_t(size)))
    }

    func set(_ option: CURLoption, _ value: String?) throws(HTTPError) {
        try check(ccurl_set_text(pointer, option, value))
    }

    func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) throws(HTTPError) {
        try check(ccurl_set_pointer(pointer, option, value))
    }

    func set(_ option: CURLoption, bytes: [UInt8]) throws(HTTPError) {
        try check(bytes.withUnsafeBytes { ccurl_set_blob(pointer, option, $0.baseAddress, $0.count) })
    }

    func check(_ code: CURLcode) throws(HTTPError) {
        guard code == CURLE_OK else { throw .other(Self.words(of: code), wasSent: false) }
    }

    // MARK: Facts

    func number(_ info: CURLINFO) -> Int { ccurl_number(pointer, info) }
    func size(_ info: CURLINFO) -> Int { Int(ccurl_size(pointer, info)) }
    func text(_ info: CURLINFO) -> String { String(cString: ccurl_text(pointer, info)) }

    /// What libcurl says to the failure of the last transfer.
    func words(of code: CURLcode) -> String { message[0] == 0 ? Self.words(of: code) : String(cString: message) }

    private static func words(of code: CURLcode) -> String { String(cString: curl_easy_strerror(code)) }
}
