import Bytes
import CFiles
import CLibrary
import Hashing

/// The progress of a long operation on standard error.
///
/// On a terminal, it is a line that changes. A line for a log is written when SIGUSR1 arrives, and at the interval in the
/// environment if standard error is not a terminal.
public final class ProgressLine {
    private let isShown: Bool
    /// The time between two lines of a log, or `nil` if they are written only on request.
    private let logInterval: Duration?
    private var lastLogTime: ContinuousClock.Instant
    private let verb: String
    private let totalBytes: Int?
    private let clock = ContinuousClock()
    private let startTime: ContinuousClock.Instant
    private var lastUpdate: ContinuousClock.Instant
    private var byteCount = 0
    private var recordCount = 0
    private var isOnScreen = false

    private static let updateInterval = Duration.milliseconds(200)

    /// Creates a progress line, which is not shown before the first update.
    ///
    /// `verb` is the name of the operation, such as `reading`. `total` is the number of bytes, or `nil` if it is
    /// unknown.
    public init(_ verb: String, total: Int? = nil, isQuiet: Bool) {
        self.verb = verb
        totalBytes = total
        isShown = !isQuiet && StandardError.isTerminal
        logInterval = isQuiet || isShown ? nil : EnvironmentVariable.progressInterval
        startTime = clock.now
        lastUpdate = startTime
        lastLogTime = startTime
    }

    /// Ensures that SIGUSR1 requests a line instead of ending the program.
    public static func handleRequests() {
        // A failure is ignored, because the signal is only a convenience.
        _ = cfiles_note_requests()
    }

    /// Adds to the counts of processed bytes and records, and updates the line a few times a second.
    public func add(bytes: Int, records: Int = 0) {
        byteCount += bytes
        recordCount += records
        let now = clock.now
        if cfiles_take_request() != 0 || logInterval.map({ now - lastLogTime >= $0 }) == true {
            lastLogTime = now
            clear()
            StandardError.write("progress: \(text(at: now))", .information)
        }
        guard isShown, now - lastUpdate >= Self.updateInterval else { return }
        lastUpdate = now
        writeToTerminal(text(at: now))
    }

    private func text(at now: ContinuousClock.Instant) -> String {
        let seconds = (now - startTime) / .seconds(1)
        return Self.text(verb, bytes: byteCount, of: totalBytes, records: recordCount, seconds: seconds)
    }

    /// Returns the text of the line, such as `verifying: 42%, 120 MB, 60 MB/s, 0:03 left`.
    static func text(_ verb: String, bytes: Int, of total: Int?, records: Int, seconds: Double) -> String {
        var parts = ["\(bytes / 1_000_000) MB"]
        // A file that grows while it is read can have more bytes than its initial size.
        if let total, total > 0 { parts.insert("\(Int(Double(min(bytes, total)) / Double(total) * 100))%", at: 0) }
        if records > 0 { parts.append(records.counted("record")) }
        let rate = Double(bytes) / max(seconds, 0.001)
        parts.append("\(Int(rate / 1_000_000)) MB/s")
        // At the beginning, the rate is not known well enough.
        if let total, rate > 0, bytes < total, seconds >= 2 {
            let rest = Int(min(Double(total - bytes) / rate, 359_999).rounded(.up))
            parts.append("\(rest / 60):\((rest % 60).zeroPadded(to: 2)) left")
        }
        return "\(verb): \(parts.joined(separator: ", "))"
    }

    /// Shows `text` instead of the progress.
    public func show(_ text: String) {
        guard isShown else { return }
        writeToTerminal(text.printable)
    }

    /// Shows `text` instead of the progress, at most a few times a second.
    public func update(_ text: @autoclosure () -> String) {
        guard isShown, clock.now - lastUpdate >= Self.updateInterval else { return }
        lastUpdate = clock.now
        show(text())
    }

    /// Removes the line from the terminal.
    public func clear() {
        guard isOnScreen else { return }
        StandardError.writeAll("\r\u{1B}[K")
        cfiles_set_line(cfiles_line_empty)
        isOnScreen = false
    }

    private func writeToTerminal(_ text: String) {
        isOnScreen = true
        // A signal handler clears the line depending on this state, so the state is set first.
        cfiles_set_line(cfiles_line_temporary)
        StandardError.writeAll("\r\u{1B}[K\(text)")
    }
}

/// A prompt on the terminal that reads a secret without echo.
public enum SecretPrompt {
    /// The maximum length of an answer, in bytes.
    private static let maximumLength = 4096

    private static let terminalPath = "/dev/tty"

    /// Whether the process has a controlling terminal and standard error is a terminal.
    public static var isAvailable: Bool {
        guard StandardError.isTerminal else { return false }
        let terminal = open(terminalPath, O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }

    /// Prints `question`, and reads the answer from the terminal without echo.
    ///
    /// Returns `nil` if the answer is empty or the terminal cannot be used.
    public static func ask(_ question: String) -> Secret? {
        let terminal = open(terminalPath, O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        // If a signal ends the program, its handler turns the echo on again.
        guard cfiles_echo_off(terminal) == 0 else { return nil }
        cfiles_set_line(cfiles_line_permanent)
        StandardError.writeAll(question.printable + " ")
        // The capacity is reserved at once, because reallocations would leave copies of the secret in memory.
        var answer: [UInt8] = []
        answer.reserveCapacity(maximumLength)
        read(terminal, into: &answer)
        cfiles_echo_on()
        StandardError.writeAll("\n")
        cfiles_set_line(cfiles_line_empty)
        let secret = Secret(taking: &answer)
        return secret.isEmpty ? nil : secret
    }

    /// Reads a line one byte at a time, so that the input after the line remains available to other processes.
    private static func read(_ terminal: Int32, into answer: inout [UInt8]) {
        while answer.count < maximumLength {
            var byte: UInt8 = 0
            let count = CLibrary.read(terminal, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1, byte != UInt8(ascii: "\n") else { return }
            answer.append(byte)
        }
    }
}
