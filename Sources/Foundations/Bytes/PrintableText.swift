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
