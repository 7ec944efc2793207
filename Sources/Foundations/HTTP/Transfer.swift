import Bytes
import CCurl

/// A reusable libcurl handle with the state of its current request.
///
/// A transfer is a class, because the callbacks of libcurl receive its address. Only the thread of the client uses it.
final class Transfer {
    private let easyHandle: EasyHandle
    private let settings: HTTPSettings
    private let idleConnections: IdleConnections
    private var route: HTTPRoute?
    private var fields: [HeaderField]?
    private var fieldList: FieldList?
    private var method = ""

    private var receiver: (any HTTPReceiver)?
    private var headParser: ResponseHeadParser
    private var wantsMoreBody = true
    private var sendCount = 0
    private var requestBodySize = 0
    private var isBodyKnownToBeSent = false
    /// The error for which a callback stopped the transfer.
    private var callbackError: HTTPError?

    /// The index of the transfer in the array of running transfers.
    var runningIndex = 0
    var completion: ((HTTPOutcome) -> Void)?

    /// The maximum size in bytes of a body that fits completely into the buffers of the system.
    private static let maximumShortBodySize = 64 << 10

    var pointer: UnsafeMutableRawPointer { easyHandle.pointer }
    private(set) var deadline = ContinuousClock.now

    /// Returns the transfer at an address that was passed to libcurl.
    static func transfer(at context: UnsafeMutableRawPointer) -> Transfer {
        Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    }

    /// Creates an idle transfer.
    ///
    /// - Throws: `HTTPError` if there is not enough memory or libcurl lacks a required feature.
    init(_ settings: HTTPSettings, _ idleConnections: IdleConnections) throws(HTTPError) {
        self.settings = settings
        self.idleConnections = idleConnections
        headParser = ResponseHeadParser(keeping: settings.responseFields)
        easyHandle = try EasyHandle.make(settings.identity)
        try easyHandle.set(CURLOPT_CONNECTTIMEOUT, settings.connectTimeout)
        // Mozilla's edge server closes a connection that was idle for 2 seconds. libcurl counts whole seconds, and
        // checks whether a connection is closed before it reuses the connection.
        //
        // Source: "Mozilla's HTTP edge server: behaviour measured on loopback".
        try easyHandle.set(CURLOPT_MAXAGE_CONN, 1)
        try easyHandle.set(CURLOPT_POST, 1)
        // Unencrypted requests use CONNECT too, so that the proxy does not receive the header fields for the server.
        try easyHandle.set(CURLOPT_HTTPPROXYTUNNEL, 1)
        try easyHandle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try easyHandle.check(ccurl_set_basic_proxy(easyHandle.pointer))
        let context = Unmanaged.passUnretained(self).toOpaque()
        for option in [CURLOPT_PRIVATE, CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_PREREQDATA] {
            try easyHandle.set(option, context)
        }
        try easyHandle.check(ccurl_set_data(easyHandle.pointer, CURLOPT_HEADERFUNCTION, Self.lineCallback))
        try easyHandle.check(ccurl_set_data(easyHandle.pointer, CURLOPT_WRITEFUNCTION, Self.bodyCallback))
        try easyHandle.check(ccurl_set_prerequest(easyHandle.pointer, Self.requestCallback))
    }

    // MARK: Start and end

    /// Prepares the transfer for a request, or throws an error if there is not enough memory.
    func prepare(_ request: HTTPRequest, over route: HTTPRoute, for receiver: any HTTPReceiver) throws(HTTPError) {
        if route != self.route { try apply(route) }
        if request.fields != fields { try apply(request.fields) }
        if request.method != method {
            try easyHandle.set(CURLOPT_CUSTOMREQUEST, request.method)
            method = request.method
        }
        try easyHandle.set(CURLOPT_REQUEST_TARGET, request.target)
        try easyHandle.set(CURLOPT_POSTFIELDSIZE_LARGE, size: request.body.count)
        // Without a pointer, libcurl would read the body from standard input.
        let code = (request.body.isEmpty ? [0] : request.body).withUnsafeBytes {
            ccurl_set_pointer(
                easyHandle.pointer, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress))
        }
        try easyHandle.check(code)
        self.receiver = receiver
        deadline = receiver.end
        headParser.reset()
        wantsMoreBody = true
        sendCount = 0
        requestBodySize = request.body.count
        isBodyKnownToBeSent = requestBodySize <= Self.maximumShortBodySize
        callbackError = nil
    }

    private func apply(_ route: HTTPRoute) throws(HTTPError) {
        self.route = nil
        try easyHandle.set(CURLOPT_URL, route.server)
        let canBeChecked = !route.server.hasPrefix("https:") || Self.canDetectUnreadDecryptedBytes
        try easyHandle.set(CURLOPT_FORBID_REUSE, canBeChecked ? 0 : 1)
        try easyHandle.set(CURLOPT_PROXY, route.proxy.map { "http://\($0)" } ?? "")
        try easyHandle.set(CURLOPT_PROXYUSERNAME, route.proxyUser)
        try easyHandle.set(CURLOPT_PROXYPASSWORD, route.proxyPassword)
        self.route = route
    }

    /// Whether unread bytes of idle encrypted connections can be detected.
    ///
    /// If not, encrypted connections are not reused.
    private static let canDetectUnreadDecryptedBytes = ccurl_can_find_decrypted_bytes() != 0

    private func apply(_ fields: [HeaderField]) throws(HTTPError) {
        self.fields = nil
        let list = try FieldList(fields)
        try easyHandle.set(CURLOPT_HTTPHEADER, UnsafeMutableRawPointer(list.pointer))
        fieldList = consume list
        self.fields = fields
    }

    /// Returns the outcome for the result code `code` of libcurl, and releases the request.
    func finish(_ code: CURLcode) -> HTTPOutcome {
        defer { releaseRequest() }
        idleConnections.record(connectionOf: easyHandle)
        if code == CURLE_OK { return .complete }
        if let callbackError { return .failed(callbackError) }
        if !wantsMoreBody { return .enough }
        var details = FailureDetails(sendCount: sendCount)
        details.code = Int32(clamping: easyHandle.number(CURLINFO_OS_ERRNO))
        details.proxyStatus = easyHandle.number(CURLINFO_HTTP_CONNECTCODE)
        details.hasProxy = route?.proxy != nil
        details.isConnected = easyHandle.number(CURLINFO_LOCAL_PORT) > 0
        details.isNewConnection = easyHandle.number(CURLINFO_NUM_CONNECTS) > 0
        // libcurl reports 1 until it has checked the host name. The codes for invalid chains are greater than 1.
        details.isChainValid = easyHandle.number(CURLINFO_SSL_VERIFYRESULT) <= 1
        details.message = easyHandle.message(for: code)
        return .failed(HTTPError(code, details))
    }

    func releaseRequest() {
        receiver = nil
        // A long body must not occupy memory until the next request. Removing the body cannot fail.
        if requestBodySize > Self.maximumShortBodySize {
            ccurl_set_pointer(easyHandle.pointer, CURLOPT_COPYPOSTFIELDS, nil)
        }
    }

    func updateDeadline() {
        if let receiver { deadline = receiver.end }
    }

    /// Returns whether the deadline has passed.
    ///
    /// While a body is being sent, the receiver may extend the deadline.
    func hasTimedOut(at now: ContinuousClock.Instant) -> Bool {
        guard deadline <= now else { return false }
        guard let receiver, sendCount > 0, !isSent() else { return true }
        receiver.didStartSending(at: now)
        deadline = receiver.end
        return deadline <= now
    }

    /// Returns whether it is known that the complete body was sent.
    private func isSent() -> Bool {
        isBodyKnownToBeSent = isBodyKnownToBeSent || easyHandle.size(CURLINFO_SIZE_UPLOAD_T) >= requestBodySize
        return isBodyKnownToBeSent
    }

    // MARK: Callbacks

    private typealias DataCallback =
        @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int

    private static let lineCallback: DataCallback = { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let line = [UInt8](UnsafeRawBufferPointer(start: bytes, count: size * count))
        return Transfer.transfer(at: context).receiveLine(line) ? line.count : 0
    }

    private static let bodyCallback: DataCallback = { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let part = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return Transfer.transfer(at: context).receiveBody(part) ? part.count : 0
    }

    private static let requestCallback:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?, Int32, Int32
        ) -> Int32 = { context, peer, local, peerPort, localPort in
            guard let context, let peer, let local else { return CURL_PREREQFUNC_ABORT }
            let connection = IdleConnections.Addresses(
                local: String(cString: local), localPort: Int(localPort), peer: String(cString: peer),
                peerPort: Int(peerPort))
            return Transfer.transfer(at: context).shouldSend(on: connection)
                ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }

    /// Returns whether libcurl may send the request on a connection.
    ///
    /// A request is sent only once. If a reused connection is closed without a response, libcurl tries to send the
    /// request again, although the server may have received it.
    private func shouldSend(on connection: IdleConnections.Addresses) -> Bool {
        if sendCount == 0, easyHandle.number(CURLINFO_NUM_CONNECTS) == 0,
            !idleConnections.isReusable(connection, by: easyHandle)
        {
            // After this result, libcurl closes the connection.
            callbackError = .unsolicited
            return false
        }
        sendCount += 1
        guard sendCount == 1 else { return false }
        receiver?.didStartSending(at: .now)
        updateDeadline()
        return true
    }

    private func receiveLine(_ line: [UInt8]) -> Bool {
        switch headParser.parse(line, status: { easyHandle.number(CURLINFO_RESPONSE_CODE) }) {
        case .needsMoreLines: return true
        case .complete(let head):
            // A server can reject a request before it has read the complete body, but it cannot accept such a request.
            if (200..<300).contains(head.status), !isSent() {
                callbackError = .early
                return false
            }
            receiver?.didReceiveHead(head, at: .now)
            updateDeadline()
            return true
        case .tooLong: return false
        }
    }

    private func receiveBody(_ part: UnsafeRawBufferPointer) -> Bool {
        guard let receiver else { return false }
        wantsMoreBody = receiver.didReceiveBody(part.bindMemory(to: UInt8.self).span, at: .now)
        deadline = receiver.end
        return wantsMoreBody
    }
}

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
