import Files
import JSONText

/// Results on standard output.
public enum Terminal {
    /// Prints a line. Control characters of file names cannot reach the terminal.
    /// - Throws: `FileError`.
    public static func print(_ line: String) throws {
        try StandardOutput.write(Array((line.printable + "\n").utf8).span)
    }

    /// Prints an object for machines.
    /// - Throws: `FileError`.
    public static func print(_ object: CanonicalObject) throws {
        try StandardOutput.write((object.bytes + [UInt8(ascii: "\n")]).span)
    }
}
