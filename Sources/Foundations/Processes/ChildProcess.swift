import CProcesses
import Glibc

/// A file in memory that receives the output of a program.
///
/// Unlike a pipe, the file never blocks the program, so that no deadlock can occur while this process writes the input.
struct OutputFile: ~Copyable {
    /// The maximum number of bytes that are read from the file.
    private static let maximumSize = 64 << 10

    let descriptor: Int32

    init(of program: String) throws(ProgramError) {
        descriptor = cprocesses_memory_file("pingferry")
        guard descriptor >= 0 else { throw .notStarted(program, code: errno) }
    }

    deinit { close(descriptor) }

    /// The beginning of the output, up to ``maximumSize`` bytes.
    var head: [UInt8] { bytes(at: 0, count: Self.maximumSize) }

    /// The end of the output, up to 4 KiB.
    var end: [UInt8] {
        let count = 4 << 10
        return bytes(at: max(0, Int(lseek(descriptor, 0, SEEK_END)) - count), count: count)
    }

    private func bytes(at offset: Int, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)))
        }
    }
}

/// A running process, which is terminated when the value is destroyed.
struct ChildProcess: ~Copyable {
    private let path: String
    private let processID: Int32
    /// The write end of the pipe to the standard input of the process, or `nil` once it is closed.
    private var inputDescriptor: Int32?
    private var hasExited = false

    init(
        _ path: String, _ arguments: [String], _ environment: [String], output: borrowing OutputFile,
        errors: borrowing OutputFile
    ) throws(ProgramError) {
        var pipeEnds: [Int32] = [-1, -1]
        let code = cprocesses_pipe(&pipeEnds)
        guard code == 0 else { throw .notStarted(path, code: code) }
        defer { close(pipeEnds[0]) }
        var process: Int32 = 0
        let started = Self.withCStrings(arguments) { arguments in
            Self.withCStrings(environment) { environment in
                cprocesses_start(
                    path, arguments, environment, pipeEnds[0], output.descriptor, errors.descriptor, &process)
            }
        }
        guard started == 0 else {
            close(pipeEnds[1])
            throw .notStarted(path, code: started)
        }
        self.path = path
        processID = process
        inputDescriptor = pipeEnds[1]
    }

    deinit {
        if let inputDescriptor { close(inputDescriptor) }
        if !hasExited {
            kill(processID, SIGTERM)
            _ = cprocesses_wait(processID)
        }
    }

    /// Writes `bytes` to the standard input of the process, and returns whether the process still reads its input.
    borrowing func write(_ bytes: Span<UInt8>) throws(ProgramError) -> Bool {
        guard let inputDescriptor else { return false }
        let code = bytes.withUnsafeBytes { cprocesses_write(inputDescriptor, $0.baseAddress, $0.count) }
        guard code == 0 || code == EPIPE else { throw .notStarted(path, code: code) }
        return code == 0
    }

    /// Waits until the process exits, and returns its exit status.
    consuming func finish() throws(ProgramError) -> Int32 {
        if let input = inputDescriptor.take() { close(input) }
        hasExited = true
        let status = cprocesses_wait(processID)
        guard status >= 0 else { throw .notStarted(path, code: errno) }
        return status
    }

    private static func withCStrings<Value>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Value
    ) -> Value {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
