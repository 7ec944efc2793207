import CThreads
import Files
import Glibc

/// The threads, the memory and the open files that a program needs before it can do anything.
public enum SystemResources {
    /// The threads of the libraries beside those of the work: for signals, timers and single queues. Most of them are never
    /// made; the system has to allow their number, not their stacks.
    private static let otherThreads = 4
    /// The address space, in bytes, for the usual work of one thread: a segment of records, compressed and read. What is asked
    /// for later cannot be refused with a message, because Swift ends a program that gets no memory.
    private static let bytesPerThread: UInt = 16 << 20

    /// Ends the program with a clear message where the system does not allow it to have `count` more files open. The
    /// libraries below would trap, or report a server or a bundle as unreachable.
    public static func requireDescriptors(_ count: Int, for program: String) {
        guard !DescriptorLimit.allows(count) else { return }
        StandardError.write("\(program): cannot have \(count) files open at once")
        StandardError.write("\(program): allow more open files (ulimit -n)")
        exit(ExitStatus.inputOutput.rawValue)
    }

    /// Ends the program with a clear message where the system does not allow it the threads and the address space that it
    /// needs, now and whenever a thread cannot be made later: it would wait for ever otherwise.
    /// - Parameters:
    ///   - program: the program's own name.
    ///   - threadsPerProcessor: how many threads it has at once for each processor.
    public static func require(for program: StaticString, threadsPerProcessor: Int) {
        let working = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) * threadsPerProcessor
        let threads = working + otherThreads
        var code = cthreads_set_up_heap()
        if code == 0 {
            code = cthreads_try(Int32(clamping: working), Int32(otherThreads), UInt(working) * bytesPerThread)
        }
        guard code == 0 else {
            StandardError.write("\(program): cannot have \(threads) threads: \(String(cString: strerror(code)))")
            StandardError.write("\(program): allow more processes (ulimit -u) or more address space (ulimit -v)")
            exit(ExitStatus.inputOutput.rawValue)
        }
        // A static string stays where it is.
        program.withUTF8Buffer { name in
            name.withMemoryRebound(to: CChar.self) {
                cthreads_end_without_thread($0.baseAddress, ExitStatus.inputOutput.rawValue)
            }
        }
    }
}
