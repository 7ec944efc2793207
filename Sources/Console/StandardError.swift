import Glibc

/// Messages for the operator.
public enum StandardError {
    /// Whether somebody is looking.
    public static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes a line. Control characters of file names cannot reach the terminal.
    public static func write(_ line: String) {
        put(line.printable + "\n")
    }

    /// Writes text as it is, for progress. Where standard error is closed there is nobody to tell.
    public static func put(_ text: String) {
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

extension String {
    /// The text with control characters replaced, so that it is safe on a terminal and on one line.
    public var printable: String {
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
            text.append(isControl ? "\u{FFFD}" : scalar)
        }
        return String(text)
    }
}
