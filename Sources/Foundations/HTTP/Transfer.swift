import CCurl

/// A handle of libcurl that sends one request after another, each on a connection that is free.
///
/// A class, because libcurl's callbacks find it by its address. It belongs to the thread that drives the transfers.
final class Transfer {
    private let easy: EasyHandle
    private let settings: HTTPSettings
    private let kept: KeptSockets
    private var route: HTTPRoute?
    private var fields: [HTTPRequest.Field]?
    private var fieldList: FieldList?
    private var method = ""

    private var receiver: (any HTTPReceiver)?
    private var head: HeadLines
    private var wantsMore = true
    private var timesSent = 0
    private var bodyLength = 0
    private var isKnownToBeSent = false
    /// The reason for which this transfer was stopped here, and not by libcurl.
    private var stop: HTTPError?

    /// Its place among those that run.
    var place = 0
    /// Gives the end to who waits for it.
    var finish: ((HTTPEnd) -> Void)?

    /// A body up to this length is in the buffers of the system once its request goes out.
    private static let shortBody = 64 << 10

    var pointer: UnsafeMutableRawPointer { easy.pointer }
    /// Until when to wait, as the receiver said when it was last told something.
    private(set) var end = ContinuousClock.now

    /// The transfer whose address was given to libcurl.
    static func at(_ context: UnsafeMutableRawPointer) -> Transfer {
        Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    }

    /// - Throws: `HTTPError` if there is no memory, or libcurl lacks what is needed.
    init(_ settings: HTTPSettings, _ kept: KeptSockets) throws(HTTPError) {
        self.settings = settings
        self.kept = kept
        head = HeadLines(wanted: settings.wantedFields)
        easy = try EasyHandle.make(settings.identity)
        try easy.set(CURLOPT_CONNECTTIMEOUT, settings.connectTimeout)
        // Mozilla's edge closes a connection that was idle for 2 seconds. Source: "Mozilla's HTTP edge server: behaviour
        // measured on loopback". libcurl counts whole seconds, and finds out whether a connection was closed before it is
        // used again.
        try easy.set(CURLOPT_MAXAGE_CONN, 1)
        try easy.set(CURLOPT_POST, 1)
        // Proxies are asked to connect, for plain requests too: what is sent is for the server alone.
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

    // MARK: Beginning and end

    /// Makes it ready for a request.
    /// - Throws: `HTTPError` if there is no memory.
    func prepare(_ request: HTTPRequest, over route: HTTPRoute, for receiver: any HTTPReceiver) throws(HTTPError) {
        if route != self.route { try take(route) }
        if request.fields != fields { try take(request.fields) }
        if request.method != method {
            try easy.set(CURLOPT_CUSTOMREQUEST, request.method)
            method = request.method
        }
        try easy.set(CURLOPT_REQUEST_TARGET, request.target)
        try easy.set(CURLOPT_POSTFIELDSIZE_LARGE, size: request.body.count)
        // Where there are no bytes at all, libcurl would read them from standard input.
        let code = (request.body.isEmpty ? [0] : request.body).withUnsafeBytes {
            ccurl_set_pointer(easy.pointer, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress))
        }
        try easy.check(code)
        self.receiver = receiver
        end = receiver.end
        head.restart()
        wantsMore = true
        timesSent = 0
        bodyLength = request.body.count
        isKnownToBeSent = bodyLength <= Self.shortBody
        stop = nil
    }

    private func take(_ route: HTTPRoute) throws(HTTPError) {
        self.route = nil
        try easy.set(CURLOPT_URL, route.server)
        let canCheck = !route.server.hasPrefix("https:") || Self.seesDecryptedBytes
        try easy.set(CURLOPT_FORBID_REUSE, canCheck ? 0 : 1)
        try easy.set(CURLOPT_PROXY, route.proxy.map { "http://\($0.address)" } ?? "")
        try easy.set(CURLOPT_PROXYUSERNAME, route.proxy?.credential?.user)
        try easy.set(CURLOPT_PROXYPASSWORD, route.proxy?.credential?.password)
        self.route = route
    }

    /// Whether unread bytes of idle encrypted connections can be found, so that these connections can be used again.
    private static let seesDecryptedBytes = ccurl_sees_decrypted_bytes() != 0

    private func take(_ fields: [HTTPRequest.Field]) throws(HTTPError) {
        self.fields = nil
        let list = try FieldList(fields)
        try easy.set(CURLOPT_HTTPHEADER, UnsafeMutableRawPointer(list.pointer))
        fieldList = consume list
        self.fields = fields
    }

    /// Says what a code of libcurl means, and is ready for the next request.
    func conclude(_ code: CURLcode) -> HTTPEnd {
        defer { forget() }
        kept.note(connectionOf: easy)
        if code == CURLE_OK { return .complete }
        if let stop { return .failed(stop) }
        if !wantsMore { return .enough }
        var facts = FailureFacts(timesSent: timesSent)
        facts.code = Int32(clamping: easy.number(CURLINFO_OS_ERRNO))
        facts.proxyStatus = easy.number(CURLINFO_HTTP_CONNECTCODE)
        facts.hasProxy = route?.proxy != nil
        facts.isConnected = easy.number(CURLINFO_LOCAL_PORT) > 0
        // libcurl checks the name first, and until then reports 1. The numbers of what is wrong with a chain are
        // greater.
        facts.isChainGood = easy.number(CURLINFO_SSL_VERIFYRESULT) <= 1
        facts.words = easy.words(of: code)
        return .failed(HTTPError(code, facts))
    }

    /// Lets go of a request that is over.
    func forget() {
        receiver = nil
        // A long body is not kept for as long as the handle waits for its next request. Setting it to none cannot fail.
        if bodyLength > Self.shortBody { ccurl_set_pointer(easy.pointer, CURLOPT_COPYPOSTFIELDS, nil) }
    }

    /// Asks the receiver how long to wait: it may have changed its mind.
    func lookAtEnd() {
        if let receiver { end = receiver.end }
    }

    /// Whether the wait is over at an instant. It is not as long as a body is on its way, unless that is no reason for the
    /// receiver.
    func isOver(at now: ContinuousClock.Instant) -> Bool {
        guard end <= now else { return false }
        guard let receiver, timesSent > 0, !isSent() else { return true }
        receiver.requestGoes(at: now)
        end = receiver.end
        return end <= now
    }

    /// Whether the body was sent, as far as is known.
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
                return Transfer.at(context).lineCame(line) ? line.count : 0
            }

    private static let bodyCallback:
        @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int =
            { bytes, size, count, context in
                guard let bytes, let context else { return 0 }
                let part = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return Transfer.at(context).bodyCame(part) ? part.count : 0
            }

    private static let requestCallback:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?, Int32, Int32
        ) -> Int32 = { context, peer, local, peerPort, localPort in
            guard let context, let peer, let local else { return CURL_PREREQFUNC_ABORT }
            let connection = KeptSockets.name(
                local: String(cString: local), Int(localPort), peer: String(cString: peer), Int(peerPort))
            return Transfer.at(context).mayGo(on: connection) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }

    /// Whether the request may go out on the connection that was found for it: once. libcurl would send it again by itself
    /// where a connection that had been used before ends, and the server may have the first one.
    private func mayGo(on connection: String) -> Bool {
        if timesSent == 0, easy.number(CURLINFO_NUM_CONNECTS) == 0, !kept.isQuiet(connection, of: easy) {
            // libcurl closes the connection of a request that is stopped here.
            stop = .unsolicited
            return false
        }
        timesSent += 1
        guard timesSent == 1 else { return false }
        receiver?.requestGoes(at: .now)
        lookAtEnd()
        return true
    }

    private func lineCame(_ line: [UInt8]) -> Bool {
        switch head.take(line, status: { easy.number(CURLINFO_RESPONSE_CODE) }) {
        case .more: return true
        case .complete(let head):
            // A server can reject a request of which it has read a part, but it cannot have stored one.
            if (200..<300).contains(head.status), !isSent() {
                stop = .early
                return false
            }
            receiver?.headCame(head, at: .now)
            lookAtEnd()
            return true
        case .tooLong: return false
        }
    }

    private func bodyCame(_ part: UnsafeRawBufferPointer) -> Bool {
        guard let receiver else { return false }
        wantsMore = receiver.bodyCame(part.bindMemory(to: UInt8.self).span, at: .now)
        end = receiver.end
        return wantsMore
    }
}
