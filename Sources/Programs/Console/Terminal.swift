import Bytes
import Files
import Glibc
import JSONText

/// A printer that writes results to standard output, with unprintable characters escaped.
///
/// Text from captures and servers must be printed with this type, ``StandardError`` or ``PrintableJSON``. Output for
/// other programs, such as the records of `convert`, is written unchanged, unless standard output is a terminal.
public enum Terminal {
    /// Prints a line.
    public static func print(_ line: String) throws(FileError) { try write(line.printable) }

    /// Prints a line that needs attention, which systemd's journal then shows as a warning.
    public static func printWarning(_ line: String) throws(FileError) {
        try write(
            (StandardError.isJournal(STDOUT_FILENO) ? StandardError.Priority.warning.prefix : "") + line.printable)
    }

    /// Prints several lines, such as help.
    public static func print(lines: String) throws(FileError) { try write(lines.printableLines) }

    /// Prints a JSON object on one line.
    public static func print(_ object: CanonicalObject) throws(FileError) {
        try StandardOutput.write((PrintableJSON.rewriting(object.bytes) + [UInt8(ascii: "\n")]).span)
    }

    private static func write(_ text: String) throws(FileError) {
        try StandardOutput.write(Array((text + "\n").utf8).span)
    }
}
