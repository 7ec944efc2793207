import Bytes
import Glibc
import JSONText
import Synchronization

/// Messages for the operator.
public enum StandardError {
    private static let form = Mutex(Form.text)

    /// How messages are written.
    public enum Form: Sendable {
        /// A line of text each.
        case text
        /// A line of canonical JSON each, for a log that a machine reads; no line is anything else.
        case json
    }

    /// Chooses how all messages are written from now on.
    public static func write(in form: Form) { self.form.withLock { $0 = form } }

    /// How messages are written.
    public static var currentForm: Form { form.withLock(\.self) }

    /// Whether somebody is looking who wants to see how far work has come.
    public static var isTerminal: Bool { currentForm == .text && isatty(STDERR_FILENO) == 1 }

    /// Writes a line. Nothing of a file name that cannot be seen reaches the terminal: see `String.printable`.
    public static func write(_ line: String) {
        switch currentForm {
        case .text: put(line.printable + "\n")
        case .json:
            var object = CanonicalObject()
            object.set("message", string: line)
            write(json: object.bytes)
        }
    }

    /// Writes text of several lines: usage errors.
    public static func write(lines: String) {
        switch currentForm {
        case .text: put(lines.printableLines + "\n")
        case .json: write(lines)
        }
    }

    /// Writes a line of JSON for machines, which may end on a terminal too.
    public static func write(json: [UInt8]) {
        put(String(decoding: PrintableJSON.rewriting(json), as: UTF8.self) + "\n")
    }

    /// Writes text as it is, for progress. Where standard error is closed there is nobody to tell.
    static func put(_ text: String) {
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
