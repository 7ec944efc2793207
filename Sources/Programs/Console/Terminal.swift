import Bytes
import CLibrary
import Files
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

    /// Prints a JSON object with the members of `object` and `arrays`, sorted by their keys, on one line.
    ///
    /// The arrays need not fit in memory, because they are printed while they are produced.
    public static func print(
        _ object: CanonicalObject, arrays: [(key: JSONKey, elements: CanonicalObject.Elements)]
    ) throws {
        guard !arrays.isEmpty else { return try print(object) }
        var rewriter = PrintableJSON()
        try object.write(with: arrays) { piece in
            let shown = rewriter.output(for: piece)
            try StandardOutput.write(shown.span)
        }
        try StandardOutput.write([UInt8(ascii: "\n")].span)
    }

    private static func write(_ text: String) throws(FileError) {
        try StandardOutput.write(Array((text + "\n").utf8).span)
    }
}

/// A rewriter of JSON that escapes unprintable characters for a terminal, such as `\u001b` and `\u202e`.
///
/// The value of the JSON does not change, because only strings contain such characters. The text can be passed in
/// pieces that end at any byte.
public struct PrintableJSON: Sendable {
    /// The first bytes of a character that is not complete yet.
    private var pendingBytes: [UInt8] = []

    /// Creates a rewriter for a new text.
    public init() {}

    /// Returns a complete JSON text with its unprintable characters escaped.
    public static func rewriting(_ json: [UInt8]) -> [UInt8] {
        var rewriter = PrintableJSON()
        return rewriter.output(for: json.span)
    }

    /// Returns the next piece of the text with unprintable characters escaped, except for an incomplete last character.
    public mutating func output(for piece: Span<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(piece.count)
        rewrite(piece, to: &output)
        return output
    }

    /// Appends the next piece of the text to `output`, with unprintable characters escaped.
    mutating func rewrite(_ piece: Span<UInt8>, to output: inout [UInt8]) {
        for index in piece.indices {
            let byte = piece[index]
            if pendingBytes.isEmpty, (0x20..<0x7F).contains(byte) || byte == UInt8(ascii: "\n") {
                output.append(byte)
            } else {
                add(byte, to: &output)
            }
        }
    }

    /// Adds a byte that is unprintable or part of a multi-byte character.
    private mutating func add(_ byte: UInt8, to output: inout [UInt8]) {
        let continues = byte & 0xC0 == 0x80
        if !pendingBytes.isEmpty, !continues { flush(to: &output) }
        pendingBytes.append(byte)
        if pendingBytes.count == Self.sequenceLength(startingWith: pendingBytes[0]) { flush(to: &output) }
    }

    /// Appends the pending character to `output`, with invalid bytes replaced by U+FFFD.
    private mutating func flush(to output: inout [UInt8]) {
        for scalar in String(decoding: pendingBytes, as: UTF8.self).unicodeScalars {
            guard scalar.isInvisible, scalar != "\n" else {
                output.append(contentsOf: String(scalar).utf8)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                output.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
            }
        }
        pendingBytes.removeAll(keepingCapacity: true)
    }

    /// Returns the number of bytes of the UTF-8 character that begins with `byte`, or 1 if no character does.
    private static func sequenceLength(startingWith byte: UInt8) -> Int {
        switch byte {
        case 0xC2..<0xE0: 2
        case 0xE0..<0xF0: 3
        case 0xF0..<0xF5: 4
        default: 1
        }
    }
}
