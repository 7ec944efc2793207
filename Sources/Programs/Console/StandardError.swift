import Glibc

/// Messages for the operator.
public enum StandardError {
    /// Whether somebody is looking.
    public static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes a line. Nothing of a file name that cannot be seen reaches the terminal: see `String.printable`.
    public static func write(_ line: String) {
        put(line.printable + "\n")
    }

    /// Writes text of several lines: usage errors.
    public static func write(lines: String) {
        put(lines.printableLines + "\n")
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
