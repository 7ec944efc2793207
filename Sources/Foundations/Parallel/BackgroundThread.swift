import Glibc

/// Detached threads for blocking work, which must not occupy the threads of the concurrency runtime.
public enum BackgroundThread {
    /// Starts a thread that runs `body`, and returns 0 or an `errno` code.
    public static func start(_ body: @escaping @Sendable () -> Void) -> Int32 {
        let work = Unmanaged.passRetained(Work(body: body))
        var attributes = pthread_attr_t()
        var code = pthread_attr_init(&attributes)
        if code == 0 { code = pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED)) }
        var thread = pthread_t()
        if code == 0 { code = pthread_create(&thread, &attributes, Work.run, work.toOpaque()) }
        pthread_attr_destroy(&attributes)
        if code != 0 { work.release() }
        return code
    }

    private final class Work: Sendable {
        private let body: @Sendable () -> Void

        init(body: @escaping @Sendable () -> Void) { self.body = body }

        static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
            if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
            return nil
        }
    }
}
