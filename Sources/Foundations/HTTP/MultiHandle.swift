import CCurl

/// A handle of libcurl for many transfers at once and the connections that they leave, freed with the value.
///
/// Sendable, because ``wake()`` may be called on any thread. All else is for the thread that drives the transfers.
struct MultiHandle: ~Copyable, @unchecked Sendable {
    private let pointer: UnsafeMutableRawPointer

    /// - Parameter connections: how many are kept to be used again.
    /// - Throws: `HTTPError` if there is no memory.
    init(connections: Int) throws(HTTPError) {
        guard EasyHandle.isReady, let pointer = curl_multi_init() else {
            throw .other("libcurl cannot be used", wasSent: false)
        }
        self.pointer = pointer
        ccurl_set_multi_number(pointer, CURLMOPT_MAXCONNECTS, max(1, connections))
        ccurl_set_multi_number(pointer, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
    }

    deinit { curl_multi_cleanup(pointer) }

    /// Ends a wait, or the next one.
    func wake() { curl_multi_wakeup(pointer) }

    func add(_ transfer: Transfer) -> Bool { curl_multi_add_handle(pointer, transfer.pointer) == CURLM_OK }

    /// Takes a transfer out. The connection of one that is not over is closed.
    func remove(_ transfer: Transfer) { curl_multi_remove_handle(pointer, transfer.pointer) }

    /// Waits until something can be moved, and moves it; at most until an instant.
    /// - Returns: whether the library is sound.
    func perform(until end: ContinuousClock.Instant) -> Bool {
        var running: Int32 = 0
        return curl_multi_poll(pointer, nil, 0, Self.milliseconds(to: end), nil) == CURLM_OK
            && curl_multi_perform(pointer, &running) == CURLM_OK
    }

    /// Returns the time to wait, rounded up so that the last millisecond is not spent in a loop.
    private static func milliseconds(to end: ContinuousClock.Instant) -> Int32 {
        let left = (end - .now).components
        guard left.seconds >= 0, left.attoseconds > 0 || left.seconds > 0 else { return 0 }
        return Int32(clamping: left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1)
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
