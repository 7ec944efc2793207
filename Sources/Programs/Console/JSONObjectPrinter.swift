import Files
import JSONText

/// A printer that produces and prints the arrays of a JSON object piece by piece, so that they need not fit in memory.
public enum JSONObjectPrinter {
    /// Prints one object with the members of `object` and `arrays`, sorted by their keys.
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
