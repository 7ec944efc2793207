import Bytes
import CFiles
import Glibc
import Hashing

/// A prompt on the terminal that reads a secret without echo.
public enum SecretPrompt {
    /// The maximum length of an answer, in bytes.
    public static let maximumLength = 4096

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
            let count = Glibc.read(terminal, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1, byte != UInt8(ascii: "\n") else { return }
            answer.append(byte)
        }
    }
}
