extension Unicode.Scalar {
    /// Whether the scalar is invisible, or can control a terminal or change the direction of adjacent text.
    ///
    /// These are the control characters, the line and paragraph separators, the interlinear annotation characters, and
    /// all characters with the property `Default_Ignorable_Code_Point`, such as fillers, joiners, variation selectors and
    /// the characters that change the direction of text.
    ///
    /// Source: Unicode Standard Annex #44, "Unicode Character Database", section 5.1.
    public var isInvisible: Bool {
        switch value {
        case 0x20..<0x7F: false
        case 0..<0xA0, 0x2028, 0x2029, 0xFFF9...0xFFFB: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}

extension String {
    /// The string with all invisible characters escaped, so that it is safe to print on one line.
    ///
    /// For example, an escape character becomes `\u{1B}`.
    public var printable: String { escaped { $0.isInvisible } }

    /// The string with all invisible characters escaped except line feeds and tabs.
    public var printableLines: String { escaped { $0.isInvisible && $0 != "\n" && $0 != "\t" } }

    private func escaped(where mustEscape: (Unicode.Scalar) -> Bool) -> String {
        guard unicodeScalars.contains(where: mustEscape) else { return self }
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if mustEscape(scalar) {
                text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars
            } else {
                text.append(scalar)
            }
        }
        return String(text)
    }
}

/// Lists of limited length for lines that an operator reads.
///
/// The names in such a list, such as hold codes, can come from a capture or a bundle, so there can be any number of
/// them, and each can have any length. The complete lists are in the output of `--json`.
///
/// For example, twelve records with the code `attribution` and one with `schema` are listed as `attribution 12, schema 1`.
public enum CountedList {
    /// The maximum number of names in a list.
    public static let maximumNameCount = 12
    /// The maximum length of a name, in Unicode scalars.
    public static let maximumNameLength = 100

    /// Returns the names with their counts, separated by commas.
    ///
    /// If there are too many names, the most frequent ones are listed, followed by the number of other names and the sum
    /// of their counts, such as `and 19988 others (20004)`.
    public static func text(of counts: [(name: String, count: Int)]) -> String {
        entries(of: counts) { "\($0) \($1)" }.joined(separator: ", ")
    }

    /// Returns a text for each of the most frequent names, in the given order, and a text about the others, if any.
    ///
    /// `text` returns the text for a name, which is shortened if necessary, and its count.
    public static func entries(
        of counts: [(name: String, count: Int)], _ text: (_ name: String, _ count: Int) -> String
    ) -> [String] {
        guard counts.count > maximumNameCount else { return counts.map { text(excerpt(of: $0.name), $0.count) } }
        let byCount = counts.indices.sorted { (counts[$1].count, $0) < (counts[$0].count, $1) }
        let shown = byCount.prefix(maximumNameCount).sorted()
        let others = byCount.dropFirst(maximumNameCount)
        let sum = others.lazy.map { counts[$0].count }.saturatedSum
        return shown.map { text(excerpt(of: counts[$0].name), counts[$0].count) }
            + ["and \(others.count.counted("other")) (\(sum))"]
    }

    /// Returns the first texts, and a text with the number of the others, if any.
    public static func first(_ texts: [String]) -> [String] {
        let unlisted = texts.count - maximumNameCount
        return texts.prefix(maximumNameCount) + (unlisted > 0 ? ["and \(unlisted) more"] : [])
    }

    /// Returns a name, or its beginning and an ellipsis if it is too long.
    public static func excerpt(of name: String) -> String {
        // The length in UTF-8 is compared first, because it does not require reading the whole name.
        guard name.utf8.count > maximumNameLength, name.unicodeScalars.count > maximumNameLength else { return name }
        return String(name.unicodeScalars.prefix(maximumNameLength)) + "…"
    }
}

extension Int {
    /// Returns the number with a noun in the singular or plural, such as `1 record`, `2 records` or `3 entries`.
    ///
    /// Without `plural`, the plural is the noun with an s.
    public func counted(_ noun: String, plural: String? = nil) -> String {
        "\(self) \(self == 1 ? noun : plural ?? noun + "s")"
    }

    /// Returns the number in decimal digits, with leading zeros up to `width` digits.
    public func zeroPadded(to width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.utf8.count)) + digits
    }
}
