import CCurl

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
