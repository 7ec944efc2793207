import CCurl

/// A libcurl handle that performs one transfer at a time.
struct EasyHandle: ~Copyable {
    let pointer: UnsafeMutableRawPointer
    private let errorBuffer: UnsafeMutablePointer<CChar>

    /// Whether libcurl was initialized, which happens once per process.
    static let isLibraryInitialized = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    private init(_ pointer: UnsafeMutableRawPointer) {
        self.pointer = pointer
        errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(pointer)
        errorBuffer.deallocate()
    }

    /// Creates a handle that uses the certificates of `identity`, but no environment variables or configuration files.
    ///
    /// - Throws: `HTTPError` if there is not enough memory or libcurl lacks a required feature.
    static func make(_ identity: HTTPIdentity) throws(HTTPError) -> EasyHandle {
        guard Self.isLibraryInitialized, let pointer = curl_easy_init() else {
            throw .other("libcurl cannot be used", wasSent: false)
        }
        let handle = EasyHandle(pointer)
        try handle.applySecurityOptions()
        try handle.apply(identity)
        return handle
    }

    private func applySecurityOptions() throws(HTTPError) {
        try set(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(errorBuffer))
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
        // Without this option, a transfer that is stopped while its host name is resolved would block the other
        // transfers.
        try set(CURLOPT_QUICK_EXIT, 1)
    }

    /// Sets the authorities and the client certificate, if there are any.
    private func apply(_ identity: HTTPIdentity) throws(HTTPError) {
        if let authorities = identity.authorities {
            try set(CURLOPT_CAINFO_BLOB, bytes: authorities)
            try set(CURLOPT_CAPATH, nil as String?)
        }
        guard let (chain, key) = identity.certificate else { return }
        try set(CURLOPT_SSLCERT_BLOB, bytes: chain)
        try set(CURLOPT_SSLKEY_BLOB, bytes: key)
        // Without this option, OpenSSL would prompt for the passphrase of an encrypted key.
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
        guard code == CURLE_OK else { throw .other(Self.message(for: code), wasSent: false) }
    }

    // MARK: Information

    func number(_ info: CURLINFO) -> Int { ccurl_number(pointer, info) }
    func size(_ info: CURLINFO) -> Int { Int(ccurl_size(pointer, info)) }
    func text(_ info: CURLINFO) -> String { String(cString: ccurl_text(pointer, info)) }

    /// Returns libcurl's message for the failure of the last transfer, which had the result `code`.
    func message(for code: CURLcode) -> String {
        errorBuffer[0] == 0 ? Self.message(for: code) : String(cString: errorBuffer)
    }

    private static func message(for code: CURLcode) -> String { String(cString: curl_easy_strerror(code)) }
}
