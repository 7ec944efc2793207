import Bytes
import CFiles
import Glibc
import Secrets

/// Asks on the terminal for something that must not be seen.
public enum HiddenInput {
    /// The most bytes of an answer.
    public static let limit = 4096

    private static let path = "/dev/tty"

    /// Whether somebody can be asked: there is a terminal, and messages go to one.
    public static var canAsk: Bool {
        guard StandardError.isTerminal else { return false }
        let terminal = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }

    /// Asks, with the echo of the terminal off. It is on again on every way out, also that of a signal.
    /// - Returns: nil if there is no terminal, no answer, or an empty one.
    public static func ask(_ question: String) -> Secret? {
        let terminal = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        guard cfiles_echo_off(terminal) == 0 else { return nil }
        cfiles_set_line(cfiles_line_staying)
        StandardError.put(question.printable + " ")
        // With room for all of it from the start: memory that grows leaves copies behind.
        var answer: [UInt8] = []
        answer.reserveCapacity(limit)
        read(terminal, into: &answer)
        cfiles_echo_on()
        StandardError.put("\n")
        cfiles_set_line(cfiles_line_empty)
        let secret = Secret(taking: &answer)
        return secret.isEmpty ? nil : secret
    }

    /// Reads a line, a byte at a time: what follows it is somebody else's.
    private static func read(_ terminal: Int32, into answer: inout [UInt8]) {
        while answer.count < limit {
            var byte: UInt8 = 0
            let count = Glibc.read(terminal, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1, byte != UInt8(ascii: "\n") else { return }
            answer.append(byte)
        }
    }
}
