import Foundation

/// Messages for the operator.
enum StandardError {
    /// Whether somebody is looking.
    static var isTerminal: Bool { isatty(FileHandle.standardError.fileDescriptor) == 1 }

    /// Writes a line. Control characters of file names cannot reach the terminal.
    static func write(_ line: String) {
        put(line.printable + "\n")
    }

    /// Writes text as it is, for progress.
    static func put(_ text: String) {
        // Where standard error is closed there is nobody to tell.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}

extension String {
    /// The text with control characters replaced, so that it is safe on a terminal and on one line.
    var printable: String {
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
            text.append(isControl ? "\u{FFFD}" : scalar)
        }
        return String(text)
    }
}
