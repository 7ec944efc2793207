import CCurl
import Glibc
import Testing

@testable import HTTP

@Suite struct SocketWatchTests {
    /// Two ends of a connection of this process, closed with the value.
    private struct Pair: ~Copyable {
        let near: Int32
        let far: Int32

        init() {
            var ends: [Int32] = [-1, -1]
            #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            (near, far) = (ends[0], ends[1])
        }

        deinit {
            close(near)
            close(far)
        }
    }

    /// The sockets that are ready before an instant, and what for.
    private func ready(_ watch: SocketWatch, until end: ContinuousClock.Instant = .now) -> [Int32: Int32] {
        var found: [Int32: Int32] = [:]
        watch.wait(until: end) { found[$0.socket] = $0.actions }
        return found
    }

    @Test func whatIsWatchedForIsTold() throws {
        let watch = try SocketWatch(sockets: 1)
        let pair = Pair()
        #expect(watch.watch(pair.near, for: Int32(CURL_POLL_IN)))
        #expect(ready(watch) == [:])
        #expect(write(pair.far, "a", 1) == 1)
        // As long as it is not read.
        #expect(ready(watch) == [pair.near: Int32(CURL_CSELECT_IN)])
        #expect(ready(watch) == [pair.near: Int32(CURL_CSELECT_IN)])
        #expect(watch.watch(pair.near, for: Int32(CURL_POLL_OUT)))
        #expect(ready(watch) == [pair.near: Int32(CURL_CSELECT_OUT)])
        #expect(watch.watch(pair.near, for: Int32(CURL_POLL_INOUT)))
        #expect(ready(watch) == [pair.near: Int32(CURL_CSELECT_IN | CURL_CSELECT_OUT)])
    }

    @Test func whatIsNotWatchedAnyMoreIsNotTold() throws {
        let watch = try SocketWatch(sockets: 1)
        let pair = Pair()
        #expect(watch.watch(pair.near, for: Int32(CURL_POLL_OUT)))
        #expect(watch.watch(pair.near, for: Int32(CURL_POLL_REMOVE)))
        #expect(ready(watch) == [:])
        // libcurl may say it twice, and of a socket that it closed.
        #expect(watch.watch(pair.near, for: Int32(CURL_POLL_REMOVE)))
        #expect(!watch.watch(-1, for: Int32(CURL_POLL_IN)))
    }

    @Test func brokenConnectionIsTriedWhateverItIsWatchedFor() throws {
        let watch = try SocketWatch(sockets: 1)
        let pair = Pair()
        #expect(watch.watch(pair.near, for: Int32(CURL_POLL_OUT)))
        #expect(shutdown(pair.near, Int32(SHUT_RDWR)) == 0)
        #expect(ready(watch) == [pair.near: Int32(CURL_CSELECT_IN | CURL_CSELECT_OUT)])
    }

    @Test func wakingEndsTheNextWaitAndNoOther() throws {
        let watch = try SocketWatch(sockets: 1)
        watch.wake()
        watch.wake()
        #expect(ready(watch, until: .now + .seconds(3600)) == [:])
        watch.setTime(in: 0)
        // It would not return if the time did not end it.
        #expect(ready(watch, until: .now + .seconds(3600)) == [:])
    }

    @Test func timeIsTakenOnce() throws {
        let watch = try SocketWatch(sockets: 1)
        #expect(!watch.takeTime())
        watch.setTime(in: 0)
        #expect(watch.takeTime())
        #expect(!watch.takeTime())
        watch.setTime(in: 3_600_000)
        #expect(!watch.takeTime())
        watch.setTime(in: 0)
        watch.setTime(in: -1)
        #expect(!watch.takeTime())
    }
}
