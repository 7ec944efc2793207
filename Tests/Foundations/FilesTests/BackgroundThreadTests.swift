import CLibrary
import Files
import Synchronization
import Testing

@Suite struct BackgroundThreadTests {
    @Test("a body runs on a new thread, and its captured values are released afterwards")
    func run() async {
        final class Held: Sendable {
            let whenFreed: @Sendable () -> Void
            init(_ whenFreed: @escaping @Sendable () -> Void) { self.whenFreed = whenFreed }
            deinit { whenFreed() }
        }
        let here = pthread_self()
        let isElsewhere = Mutex(false)
        await withCheckedContinuation { continuation in
            let held = Held { continuation.resume() }
            let code = BackgroundThread.start {
                withExtendedLifetime(held) { isElsewhere.withLock { $0 = pthread_equal(here, pthread_self()) == 0 } }
            }
            #expect(code == 0)
        }
        #expect(isElsewhere.withLock { $0 })
    }
}
