import CProcesses
import Glibc

/// A file in memory that a program writes to: unlike a pipe it never fills up, so that nobody waits for the other.
struct ProgramFile: ~Copyable {
    /// More than this nobody reads.
    private static let most = 64 << 10

    let number: Int32

    init(of program: String) throws(ProgramError) {
        number = cprocesses_memory("pingferry")
        guard number >= 0 else { throw .notStarted(program, code: errno) }
    }

    deinit { close(number) }

    /// The first bytes of it.
    var head: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.most) { buffer, count in
            count = max(0, pread(number, buffer.baseAddress, buffer.count, 0))
        }
    }
}

/// A program at work. It is ended, and waited for, with the value.
struct RunningProgram: ~Copyable {
    private let path: String
    private let process: Int32
    /// The writing end of the pipe to its standard input, or `nil` once that is closed.
    private var input: Int32?
    private var isWaitedFor = false

    init(
        _ path: String, _ arguments: [String], _ environment: [String], output: borrowing ProgramFile,
        errors: borrowing ProgramFile
    ) throws(ProgramError) {
        var ends: [Int32] = [-1, -1]
        let code = cprocesses_pipe(&ends)
        guard code == 0 else { throw .notStarted(path, code: code) }
        defer { close(ends[0]) }
        var process: Int32 = 0
        let started = Self.withWords(arguments) { arguments in
            Self.withWords(environment) { environment in
                cprocesses_start(path, arguments, environment, ends[0], output.number, errors.number, &process)
            }
        }
        guard started == 0 else {
            close(ends[1])
            throw .notStarted(path, code: started)
        }
        self.path = path
        self.process = process
        input = ends[1]
    }

    deinit {
        if let input { close(input) }
        if !isWaitedFor {
            kill(process, SIGTERM)
            _ = cprocesses_wait(process)
        }
    }

    /// Writes to the standard input; whether the program still reads.
    borrowing func write(_ bytes: Span<UInt8>) throws(ProgramError) -> Bool {
        guard let input else { return false }
        let code = bytes.withUnsafeBytes { cprocesses_write(input, $0.baseAddress, $0.count) }
        guard code == 0 || code == EPIPE else { throw .notStarted(path, code: code) }
        return code == 0
    }

    /// Waits for its end; the exit status.
    consuming func finish() throws(ProgramError) -> Int32 {
        if let input = input.take() { close(input) }
        isWaitedFor = true
        let status = cprocesses_wait(process)
        guard status >= 0 else { throw .notStarted(path, code: errno) }
        return status
    }

    private static func withWords<Value>(
        _ words: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Value
    ) -> Value {
        let copies = words.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
