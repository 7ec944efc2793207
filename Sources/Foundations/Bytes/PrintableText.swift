extension Unicode.Scalar {
    /// Whether the scalar is invisible, or can control a terminal or change the direction of adjacent text.
    public var isInvisible: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0xAD, 0x61C, 0x180E, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF,
            0xFFF9...0xFFFB, 0x1D173...0x1D17A, 0xE0000...0xE007F:
            true
        default: false
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
