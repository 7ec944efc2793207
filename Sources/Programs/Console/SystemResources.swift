import CThreads
import Files
import Glibc

/// The threads, the memory and the open files that a program needs before it can do anything.
public enum SystemResources {
    /// The address space, in bytes, for the usual work of one thread: a segment of records, compressed and read. It is checked at
    /// the start, because Swift ends a program that gets no memory later.
    private static let bytesPerThread = 16 << 20

    /// Ends the program with a clear message if the system does not allow it to have `openFiles` more files open, or the address
    /// space that it needs, and whenever a thread cannot be created later. Without the files, the libraries below would trap, or
    /// report a server or a bundle as unreachable.
    /// - Parameter threadsPerProcessor: The number of threads that work at once for each processor.
    public static func require(for program: StaticString, openFiles: Int, threadsPerProcessor: Int) {
        guard DescriptorLimit.allows(openFiles) else {
            end(program, "cannot have \(openFiles) files open at once", "allow more open files (ulimit -n)")
        }
        let threads = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) * threadsPerProcessor
        var code = cthreads_set_up_heap()
        if code == 0 { code = checkAddressSpace(threads * (stackSize + bytesPerThread)) }
        guard code == 0 else {
            let reason = String(cString: strerror(code))
            end(
                program, "cannot have memory for \(threads) threads: \(reason)", "allow more address space (ulimit -v)")
        }
        // A static string stays where it is.
        program.withUTF8Buffer { name in
            name.withMemoryRebound(to: CChar.self) {
                cthreads_end_without_thread($0.baseAddress, ExitStatus.inputOutput.rawValue)
            }
        }
    }

    private static func end(_ program: StaticString, _ message: String, _ remedy: String) -> Never {
        CommandError(status: .inputOutput, message: message, remedy: remedy).report(as: "\(program)")
        exit(ExitStatus.inputOutput.rawValue)
    }

    /// The size of the stack of a thread, in bytes.
    private static var stackSize: Int {
        var attributes = pthread_attr_t()
        var size = 0
        guard pthread_attr_init(&attributes) == 0 else { return 0 }
        pthread_attr_getstacksize(&attributes, &size)
        pthread_attr_destroy(&attributes)
        return size
    }

    /// Reserves address space and gives it back.
    /// - Returns: 0, or an `errno` code.
    private static func checkAddressSpace(_ bytes: Int) -> Int32 {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, flags, -1, 0)
        // The address -1 stands for a failure.
        guard Int(bitPattern: memory) != -1 else { return errno }
        munmap(memory, bytes)
        return 0
    }
}
