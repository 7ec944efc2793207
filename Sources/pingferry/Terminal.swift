import Files
import JSONText

/// Results on standard output.
enum Terminal {
    /// Prints a line. Control characters of file names cannot reach the terminal.
    static func print(_ line: String) {
        put(Array((line.printable + "\n").utf8))
    }

    /// Prints an object for machines.
    static func print(_ object: CanonicalObject) throws {
        try StandardOutput.write((object.bytes + [UInt8(ascii: "\n")]).span)
    }

    private static func put(_ bytes: [UInt8]) {
        do {
            try StandardOutput.write(bytes.span)
        } catch {
            StandardError.write("pingferry: \(error)")
        }
    }
}
