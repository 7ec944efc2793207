import CCurl

/// A handle of libcurl for many transfers at once and the connections that they leave, freed with the value.
///
/// Sendable, because ``wake()`` may be called on any thread. All else is for the thread that drives the transfers.
struct MultiHandle: ~Copyable, @unchecked Sendable {
    private let pointer: UnsafeMutableRawPointer
    private let watch: SocketWatch

    /// - Parameter connections: how many are kept to be used again.
    /// - Throws: `HTTPError` if there is no memory.
    init(connections: Int) throws(HTTPError) {
        guard EasyHandle.isReady, let pointer = curl_multi_init() else {
            throw .other("libcurl cannot be used", wasSent: false)
        }
        do throws(HTTPError) {
            watch = try SocketWatch(sockets: connections)
        } catch {
            curl_multi_cleanup(pointer)
            throw error
        }
        self.pointer = pointer
        ccurl_set_multi_number(pointer, CURLMOPT_MAXCONNECTS, max(1, connections))
        ccurl_set_multi_number(pointer, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
        let context = Unmanaged.passUnretained(watch).toOpaque()
        ccurl_set_multi_pointer(pointer, CURLMOPT_SOCKETDATA, context)
        ccurl_set_multi_pointer(pointer, CURLMOPT_TIMERDATA, context)
        ccurl_set_sockets(pointer, Self.socketCallback)
        ccurl_set_timer(pointer, Self.timerCallback)
    }

    // Closing connections calls back.
    deinit { curl_multi_cleanup(pointer) }

    private static let socketCallback:
        @convention(c) (
            UnsafeMutableRawPointer?, curl_socket_t, Int32, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
        ) -> Int32 = { _, socket, what, context, _ in
            context.map { SocketWatch.at($0).watch(socket, for: what) } == true ? 0 : -1
        }

    private static let timerCallback:
        @convention(c) (UnsafeMutableRawPointer?, Int, UnsafeMutableRawPointer?) -> Int32 =
            { _, milliseconds, context in
                guard let context else { return -1 }
                SocketWatch.at(context).setTime(in: milliseconds)
                return 0
            }

    /// Ends a wait, or the next one.
    func wake() { watch.wake() }

    func add(_ transfer: Transfer) -> Bool { curl_multi_add_handle(pointer, transfer.pointer) == CURLM_OK }

    /// Takes a transfer out. The connection of one that is not over is closed.
    func remove(_ transfer: Transfer) { curl_multi_remove_handle(pointer, transfer.pointer) }

    /// Waits until something can be moved, and moves it; at most until an instant.
    /// - Returns: whether the library is sound.
    func perform(until end: ContinuousClock.Instant) -> Bool {
        var running: Int32 = 0
        var isSound = true
        watch.wait(until: end) { ready in
            isSound = curl_multi_socket_action(pointer, ready.socket, ready.actions, &running) == CURLM_OK && isSound
        }
        if watch.takeTime() {
            isSound = curl_multi_socket_action(pointer, ccurl_no_socket, 0, &running) == CURLM_OK && isSound
        }
        return isSound
    }

    /// A transfer that is over, and its code; nil if there is no more.
    func nextOver() -> (transfer: Transfer, code: CURLcode)? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(pointer, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let context = ccurl_private(message.pointee.easy_handle) else {
                continue
            }
            return (Transfer.at(context), message.pointee.data.result)
        }
        return nil
    }
}
