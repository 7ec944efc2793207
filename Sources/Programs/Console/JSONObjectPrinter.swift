import Files
import JSONText

/// Prints a JSON object that may be larger than memory, because arrays are printed while they are produced.
public enum JSONObjectPrinter {
    /// Prints the members of `object` and `arrays`, sorted by their keys.
    public static func print(
        _ object: CanonicalObject, arrays: [(key: JSONKey, elements: CanonicalObject.Elements)]
    ) throws {
        var rewriter = PrintableJSON()
        try object.write(with: arrays) { piece in
            var shown: [UInt8] = []
            shown.reserveCapacity(piece.count)
            rewriter.rewrite(piece, to: &shown)
            try StandardOutput.write(shown.span)
        }
        try StandardOutput.write([UInt8(ascii: "\n")].span)
    }
}
