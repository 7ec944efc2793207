import Bytes
import CFiles
import CLibrary
import Files
import Hashing
import JSONText

/// A printer that writes results to standard output, with unprintable characters escaped.
///
/// Text from captures and servers must be printed with this type, ``StandardError`` or ``PrintableJSON``. Output for
/// other programs, such as the records of `convert`, is written unchanged, unless standard output is a terminal.
public enum Terminal {
    /// Prints a line.
    public static func print(_ line: String) throws(FileError) { try write(line.printable) }

    /// Prints a line that needs attention, which systemd's journal then shows as a warning.
    public static func printWarning(_ line: String) throws(FileError) {
        try write(
            (StandardError.isJournal(STDOUT_FILENO) ? StandardError.Priority.warning.prefix : "") + line.printable)
    }

    /// Prints several lines, such as help.
    public static func print(lines: String) throws(FileError) { try write(lines.printableLines) }

    /// Prints a JSON object on one line.
    public static func print(_ object: CanonicalObject) throws(FileError) {
        try StandardOutput.write((PrintableJSON.rewriting(object.bytes) + [UInt8(ascii: "\n")]).span)
    }

    /// Prints a JSON object with the members of `object` and `arrays`, sorted by their keys, on one line.
    ///
    /// The arrays need not fit in memory, because they are printed while they are produced.
    public static func print(
        _ object: CanonicalObject, arrays: [(key: JSONKey, elements: CanonicalObject.Elements)]
    ) throws {
        guard !arrays.isEmpty else { return try print(object) }
        var rewriter = PrintableJSON()
        try object.write(with: arrays) { piece in
            let shown = rewriter.output(for: piece)
            try StandardOutput.write(shown.span)
        }
        try StandardOutput.write([UInt8(ascii: "\n")].span)
    }

    private static func write(_ text: String) throws(FileError) {
        try StandardOutput.write(Array((text + "\n").utf8).span)
    }
}

/// A rewriter of JSON that escapes unprintable characters for a terminal, such as `\u001b` and `\u202e`.
///
/// The value of the JSON does not change, because only strings contain such characters. The text can be passed in
/// pieces that end at any byte.
public struct PrintableJSON: Sendable {
    /// The first bytes of a character that is not complete yet.
    private var pendingBytes: [UInt8] = []

    /// Creates a rewriter for a new text.
    public init() {}

    /// Returns a complete JSON text with its unprintable characters escaped.
    public static func rewriting(_ json: [UInt8]) -> [UInt8] {
        var rewriter = PrintableJSON()
        return rewriter.output(for: json.span)
    }

    /// Returns the next piece of the text with unprintable characters escaped, except for an incomplete last character.
    public mutating func output(for piece: Span<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(piece.count)
        rewrite(piece, to: &output)
        return output
    }

    /// Appends the next piece of the text to `output`, with unprintable characters escaped.
    mutating func rewrite(_ piece: Span<UInt8>, to output: inout [UInt8]) {
        for index in piece.indices {
            let byte = piece[index]
            if pendingBytes.isEmpty, (0x20..<0x7F).contains(byte) || byte == UInt8(ascii: "\n") {
                output.append(byte)
            } else {
                add(byte, to: &output)
            }
        }
    }

    /// Adds a byte that is unprintable or part of a multi-byte character.
    private mutating func add(_ byte: UInt8, to output: inout [UInt8]) {
        let continues = byte & 0xC0 == 0x80
        if !pendingBytes.isEmpty, !continues { flush(to: &output) }
        pendingBytes.append(byte)
        if pendingBytes.count == Self.sequenceLength(startingWith: pendingBytes[0]) { flush(to: &output) }
    }

    /// Appends the pending character to `output`, with invalid bytes replaced by U+FFFD.
    private mutating func flush(to output: inout [UInt8]) {
        for scalar in String(decoding: pendingBytes, as: UTF8.self).unicodeScalars {
            guard scalar.isInvisible, scalar != "\n" else {
                output.append(contentsOf: String(scalar).utf8)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                output.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
            }
        }
        pendingBytes.removeAll(keepingCapacity: true)
    }

    /// Returns the number of bytes of the UTF-8 character that begins with `byte`, or 1 if no character does.
    private static func sequenceLength(startingWith byte: UInt8) -> Int {
        switch byte {
        case 0xC2..<0xE0: 2
        case 0xE0..<0xF0: 3
        case 0xF0..<0xF5: 4
        default: 1
        }
    }
}

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
