import Bytes
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
        try set(CURLOPT_NETRC, ccurl_netrc_ignored)
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

/// A libcurl handle for concurrent transfers and their connections.
///
/// The handle is `Sendable`, because any thread may call ``wake()``. Only the thread of the client may call other
/// methods.
struct MultiHandle: ~Copyable, @unchecked Sendable {
    private let pointer: UnsafeMutableRawPointer

    /// Creates a handle that keeps at most `connections` connections open for reuse.
    init(connections: Int) throws(HTTPError) {
        guard EasyHandle.isLibraryInitialized, let pointer = curl_multi_init() else {
            throw .other("libcurl cannot be used", wasSent: false)
        }
        self.pointer = pointer
        ccurl_set_multi_number(pointer, CURLMOPT_MAXCONNECTS, max(1, connections))
        ccurl_set_multi_number(pointer, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
    }

    deinit { curl_multi_cleanup(pointer) }

    /// Interrupts the current or next wait.
    func wake() { curl_multi_wakeup(pointer) }

    func add(_ transfer: Transfer) -> Bool { curl_multi_add_handle(pointer, transfer.pointer) == CURLM_OK }

    /// Removes a transfer, and closes its connection if the transfer is incomplete.
    func remove(_ transfer: Transfer) { curl_multi_remove_handle(pointer, transfer.pointer) }

    /// Waits for network activity until `end` at the latest, performs the transfers, and returns whether libcurl
    /// succeeded.
    func perform(until end: ContinuousClock.Instant) -> Bool {
        var running: Int32 = 0
        return curl_multi_poll(pointer, nil, 0, Self.milliseconds(to: end), nil) == CURLM_OK
            && curl_multi_perform(pointer, &running) == CURLM_OK
    }

    /// Returns the number of milliseconds until `end`, rounded up to avoid a busy loop during the last millisecond.
    private static func milliseconds(to end: ContinuousClock.Instant) -> Int32 {
        let left = (end - .now).components
        guard left.seconds >= 0, left.attoseconds > 0 || left.seconds > 0 else { return 0 }
        return Int32(clamping: left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1)
    }

    /// Returns the next finished transfer and its result code, or `nil` if there is none.
    func nextFinished() -> (transfer: Transfer, code: CURLcode)? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(pointer, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let context = ccurl_private(message.pointee.easy_handle) else {
                continue
            }
            return (Transfer.transfer(at: context), message.pointee.data.result)
        }
        return nil
    }
}

/// The header fields of a request as a libcurl list.
struct FieldList: ~Copyable {
    let pointer: UnsafeMutablePointer<curl_slist>?

    /// The fields that libcurl adds unless they are suppressed.
    private static let automaticFields = ["Accept", "Content-Type", "Expect", "User-Agent"]

    /// Creates a list of `fields`, and suppresses the other fields that libcurl would add automatically.
    init(_ fields: [HeaderField]) throws(HTTPError) {
        // In the syntax of libcurl, a semicolon follows the name of a field without a value, and a colon alone
        // suppresses a field.
        var lines = fields.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        let givenNames = Set(fields.map { $0.name.lowercased() })
        lines += Self.automaticFields.filter { !givenNames.contains($0.lowercased()) }.map { "\($0):" }
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let longer = curl_slist_append(list, line) else {
                curl_slist_free_all(list)
                throw .other("there is not enough memory", wasSent: false)
            }
            list = longer
        }
        pointer = list
    }

    deinit { curl_slist_free_all(pointer) }
}
