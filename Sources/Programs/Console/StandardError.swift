import Bytes
import Glibc
import JSONText
import Synchronization

/// The standard error stream, to which a program writes its messages.
public enum StandardError {
    private static let format = Mutex(Format.text)

    /// The format in which messages are written.
    public enum Format: Sendable {
        /// One line of text for each message.
        case text
        /// One line of canonical JSON for each message and nothing else, for logs that programs read.
        case json
    }

    /// Sets the format of all following messages.
    public static func setFormat(_ format: Format) { self.format.withLock { $0 = format } }

    /// The format in which messages are written.
    public static var currentFormat: Format { format.withLock(\.self) }

    /// Whether messages are text and standard error is a terminal, so that progress can be shown.
    public static var isTerminal: Bool { currentFormat == .text && isatty(STDERR_FILENO) == 1 }

    /// Writes a message of one line, with unprintable characters escaped.
    public static func write(_ line: String) {
        switch currentFormat {
        case .text: writeAll(line.printable + "\n")
        case .json:
            var object = CanonicalObject()
            object.set("message", string: line)
            write(json: object.bytes)
        }
    }

    /// Writes a message of several lines, such as a usage error.
    public static func write(lines: String) {
        switch currentFormat {
        case .text: writeAll(lines.printableLines + "\n")
        case .json: write(lines)
        }
    }

    /// Writes a line of JSON, with unprintable characters escaped because standard error may be a terminal.
    public static func write(json: [UInt8]) {
        writeAll(String(decoding: PrintableJSON.rewriting(json), as: UTF8.self) + "\n")
    }

    /// Writes text unchanged, and ignores errors, because there is no other place to report them.
    static func writeAll(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(STDERR_FILENO, rest.baseAddress, rest.count)
                guard count > 0 || errno == EINTR else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[max(count, 0)...])
            }
        }
    }
}
