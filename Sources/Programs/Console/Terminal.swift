import Bytes
import Files
import JSONText

/// Results on standard output: every text of a capture or a server on its way to a terminal passes here or through
/// ``StandardError``, except the records of `convert`, which keep their bytes unless they go to a terminal.
public enum Terminal {
    /// Prints a line. Nothing of a file name that cannot be seen reaches the terminal: see `String.printable`.
    public static func print(_ line: String) throws(FileError) {
        try write(line.printable)
    }

    /// Prints text of several lines: help.
    public static func print(lines: String) throws(FileError) {
        try write(lines.printableLines)
    }

    /// Prints an object for machines. What cannot be seen is escaped, which changes no value.
    public static func print(_ object: CanonicalObject) throws(FileError) {
        try StandardOutput.write((PrintableJSON.rewriting(object.bytes) + [UInt8(ascii: "\n")]).span)
    }

    private static func write(_ text: String) throws(FileError) {
        try StandardOutput.write(Array((text + "\n").utf8).span)
    }
}
