import Bytes

/// The names that Mozilla's pipeline derives from the keys of payloads, and from namespaces and document types.
///
/// Source: "BigQuery rows", section 3.
public enum ColumnName {
    /// Returns a name in snake case, such as `active_gm_plugins` for `activeGMPlugins`.
    public static func snakeCase(_ name: String) -> String {
        var output: [UInt8] = []
        append(snakeCaseOf: name.utf8.span, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends the name of the column for `key`, which is the key in snake case, after `_` if the key begins with a digit.
    package static func append(columnFor key: Span<UInt8>, to output: inout [UInt8]) {
        if beginsWithDigit(key) { output.append(UInt8(ascii: "_")) }
        append(snakeCaseOf: key, to: &output)
    }

    /// Appends a name in snake case.
    ///
    /// All bytes except those of ASCII letters and digits are separators. A word begins at a capital letter that follows
    /// a small letter and digits, or that follows a capital letter and digits, and precedes a small letter.
    private static func append(snakeCaseOf name: Span<UInt8>, to output: inout [UInt8]) {
        let start = output.count
        /// The last letter of the current part, or 0 if the part has no letter yet.
        var lastLetter: UInt8 = 0
        var isInPart = false
        for index in name.indices {
            let byte = name[index]
            let isLetter = byte.isLetter
            guard isLetter || byte.isDigit else {
                isInPart = false
                lastLetter = 0
                continue
            }
            let precedesSmallLetter = index + 1 < name.count && name[index + 1].isLowercaseLetter
            let beginsPart = !isInPart && output.count > start
            let beginsWord =
                byte.isUppercaseLetter
                && (lastLetter.isLowercaseLetter || lastLetter.isUppercaseLetter && precedesSmallLetter)
            if beginsPart || beginsWord { output.append(UInt8(ascii: "_")) }
            output.append(byte.lowercased)
            if isLetter { lastLetter = byte }
            isInPart = true
        }
    }

    /// Returns whether the first character is a decimal digit of the Basic Multilingual Plane.
    private static func beginsWithDigit(_ key: Span<UInt8>) -> Bool {
        guard !key.isEmpty else { return false }
        guard key[0] >= 0x80 else { return key[0].isDigit }
        let start = String(readingUTF8: key.extracting(first: 4))
        guard let first = start.unicodeScalars.first else { return false }
        return first.value <= 0xFFFF && first.properties.generalCategory == .decimalNumber
    }
}
