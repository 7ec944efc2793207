import CCurl

/// A libcurl handle with the state of its current request, which is reused for further requests.
///
/// It is a class, because the callbacks of libcurl receive its address. Only the thread of the client uses it.
final class Transfer {
    private let easy: EasyHandle
    private let settings: HTTPSettings
    private let idleConnections: IdleConnections
    private var route: HTTPRoute?
    private var fields: [HTTPRequest.Field]?
    private var fieldList: FieldList?
    private var method = ""

    private var receiver: (any HTTPReceiver)?
    private var headParser: ResponseHeadParser
    private var mustContinue = true
    private var timesSent = 0
    private var bodyLength = 0
    private var isKnownToBeSent = false
    /// The error for which a callback stopped the transfer.
    private var callbackError: HTTPError?

    /// The index of the transfer in the array of running transfers.
    var index = 0
    var completion: ((HTTPOutcome) -> Void)?

    /// The maximum size in bytes of a body that fits completely into the buffers of the system.
    private static let shortBody = 64 << 10

    var pointer: UnsafeMutableRawPointer { easy.pointer }
    private(set) var deadline = ContinuousClock.now

    /// Returns the transfer at an address that was passed to libcurl.
    static func at(_ context: UnsafeMutableRawPointer) -> Transfer {
        Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    }

    /// Creates an idle transfer.
    ///
    /// - Throws: `HTTPError` if there is not enough memory or libcurl lacks a required feature.
    init(_ settings: HTTPSettings, _ idleConnections: IdleConnections) throws(HTTPError) {
        self.settings = settings
        self.idleConnections = idleConnections
        headParser = ResponseHeadParser(keeping: settings.responseFields)
        easy = try EasyHandle.make(settings.identity)
        try easy.set(CURLOPT_CONNECTTIMEOUT, settings.connectTimeout)
        // Mozilla's edge server closes a connection that was idle for 2 seconds. libcurl counts whole seconds, and
        // checks whether a connection is closed before it reuses the connection.
        //
        // Source: "Mozilla's HTTP edge server: behaviour measured on loopback".
        try easy.set(CURLOPT_MAXAGE_CONN, 1)
        try easy.set(CURLOPT_POST, 1)
        // Unencrypted requests use CONNECT too, so that the proxy does not receive the header fields for the server.
        try easy.set(CURLOPT_HTTPPROXYTUNNEL, 1)
        try easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try easy.check(ccurl_set_basic_proxy(easy.pointer))
        let context = Unmanaged.passUnretained(self).toOpaque()
        for option in [CURLOPT_PRIVATE, CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_PREREQDATA] {
            try easy.set(option, context)
        }
        try easy.check(ccurl_set_data(easy.pointer, CURLOPT_HEADERFUNCTION, Self.lineCallback))
        try easy.check(ccurl_set_data(easy.pointer, CURLOPT_WRITEFUNCTION, Self.bodyCallback))
        try easy.check(ccurl_set_prerequest(easy.pointer, Self.requestCallback))
    }

    // MARK: Start and end

    /// Prepares the transfer for a request, or throws an error if there is not enough memory.
    func prepare(_ request: HTTPRequest, over route: HTTPRoute, for receiver: any HTTPReceiver) throws(HTTPError) {
        if route != self.route { try apply(route) }
        if request.fields != fields { try apply(request.fields) }
        if request.method != method {
            try easy.set(CURLOPT_CUSTOMREQUEST, request.method)
            method = request.method
        }
        try easy.set(CURLOPT_REQUEST_TARGET, request.target)
        try easy.set(CURLOPT_POSTFIELDSIZE_LARGE, size: request.body.count)
        // Without a pointer, libcurl would read the body from standard input.
        let code = (request.body.isEmpty ? [0] : request.body).withUnsafeBytes {
            ccurl_set_pointer(easy.pointer, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress))
        }
        try easy.check(code)
        self.receiver = receiver
        deadline = receiver.end
        headParser.reset()
        mustContinue = true
        timesSent = 0
        bodyLength = request.body.count
        isKnownToBeSent = bodyLength <= Self.shortBody
        callbackError = nil
    }

    private func apply(_ route: HTTPRoute) throws(HTTPError) {
        self.route = nil
        try easy.set(CURLOPT_URL, route.server)
        let canBeChecked = !route.server.hasPrefix("https:") || Self.canFindDecryptedBytes
        try easy.set(CURLOPT_FORBID_REUSE, canBeChecked ? 0 : 1)
        try easy.set(CURLOPT_PROXY, route.proxy.map { "http://\($0.address)" } ?? "")
        try easy.set(CURLOPT_PROXYUSERNAME, route.proxy?.credential?.user)
        try easy.set(CURLOPT_PROXYPASSWORD, route.proxy?.credential?.password)
        self.route = route
    }

    /// Whether unread bytes of idle encrypted connections can be detected.
    ///
    /// Otherwise, encrypted connections are not reused.
    private static let canFindDecryptedBytes = ccurl_can_find_decrypted_bytes() != 0

    private func apply(_ fields: [HTTPRequest.Field]) throws(HTTPError) {
        self.fields = nil
        let list = try FieldList(fields)
        try easy.set(CURLOPT_HTTPHEADER, UnsafeMutableRawPointer(list.pointer))
        fieldList = consume list
        self.fields = fields
    }

    /// Interprets the result code of libcurl and releases the request.
    func finish(_ code: CURLcode) -> HTTPOutcome {
        defer { releaseRequest() }
        idleConnections.record(connectionOf: easy)
        if code == CURLE_OK { return .complete }
        if let callbackError { return .failed(callbackError) }
        if !mustContinue { return .enough }
        var details = FailureDetails(timesSent: timesSent)
        details.code = Int32(clamping: easy.number(CURLINFO_OS_ERRNO))
        details.proxyStatus = easy.number(CURLINFO_HTTP_CONNECTCODE)
        details.hasProxy = route?.proxy != nil
        details.isConnected = easy.number(CURLINFO_LOCAL_PORT) > 0
        // libcurl reports 1 until the check of the name. The codes for invalid chains are greater.
        details.isChainValid = easy.number(CURLINFO_SSL_VERIFYRESULT) <= 1
        details.message = easy.message(for: code)
        return .failed(HTTPError(code, details))
    }

    func releaseRequest() {
        receiver = nil
        // A long body must not occupy memory until the next request. Removing it cannot fail.
        if bodyLength > Self.shortBody { ccurl_set_pointer(easy.pointer, CURLOPT_COPYPOSTFIELDS, nil) }
    }

    func updateDeadline() {
        if let receiver { deadline = receiver.end }
    }

    /// Returns whether the deadline has passed.
    ///
    /// While a body is being sent, the receiver may extend the deadline.
    func hasTimedOut(at now: ContinuousClock.Instant) -> Bool {
        guard deadline <= now else { return false }
        guard let receiver, timesSent > 0, !isSent() else { return true }
        receiver.didStartSending(at: now)
        deadline = receiver.end
        return deadline <= now
    }

    /// Returns whether it is known that the complete body was sent.
    private func isSent() -> Bool {
        isKnownToBeSent = isKnownToBeSent || easy.size(CURLINFO_SIZE_UPLOAD_T) >= bodyLength
        return isKnownToBeSent
    }

    // MARK: Callbacks

    private static let lineCallback:
        @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int =
            { bytes, size, count, context in
                guard let bytes, let context else { return 0 }
                let line = [UInt8](UnsafeRawBufferPointer(start: bytes, count: size * count))
                return Transfer.at(context).receiveLine(line) ? line.count : 0
            }

    private static let bodyCallback:
        @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int =
            { bytes, size, count, context in
                guard let bytes, let context else { return 0 }
                let part = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return Transfer.at(context).receiveBody(part) ? part.count : 0
            }

    private static let requestCallback:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?, Int32, Int32
        ) -> Int32 = { context, peer, local, peerPort, localPort in
            guard let context, let peer, let local else { return CURL_PREREQFUNC_ABORT }
            let connection = IdleConnections.name(
                local: String(cString: local), Int(localPort), peer: String(cString: peer), Int(peerPort))
            return Transfer.at(context).shouldSend(on: connection) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }

    /// Returns whether libcurl may send the request on a connection.
    ///
    /// A request is sent only once. If a reused connection is closed, libcurl would send the request again, although
    /// the server may have received it.
    private func shouldSend(on connection: String) -> Bool {
        if timesSent == 0, easy.number(CURLINFO_NUM_CONNECTS) == 0, !idleConnections.isReusable(connection, by: easy) {
            // libcurl then closes the connection.
            callbackError = .unsolicited
            return false
        }
        timesSent += 1
        guard timesSent == 1 else { return false }
        receiver?.didStartSending(at: .now)
        updateDeadline()
        return true
    }

    private func receiveLine(_ line: [UInt8]) -> Bool {
        switch headParser.parse(line, status: { easy.number(CURLINFO_RESPONSE_CODE) }) {
        case .more: return true
        case .complete(let head):
            // A server can reject a request that it has read in part, but it cannot have accepted it.
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
        mustContinue = receiver.didReceiveBody(part.bindMemory(to: UInt8.self).span, at: .now)
        deadline = receiver.end
        return mustContinue
    }
}
