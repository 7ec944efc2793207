extension Unicode.Scalar {
    /// Whether it steers a terminal, or turns or hides the text beside it: controls (C0, DEL, C1), line and paragraph
    /// separators, marks of direction, joiners, tags and what else takes no room.
    public var isUnseen: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0xAD, 0x61C, 0x180E, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF,
            0xFFF9...0xFFFB, 0x1D173...0x1D17A, 0xE0000...0xE007F:
            true
        default: false
        }
    }
}

extension String {
    /// The text on one line that shows all that is in it: `\u{1B}` stands for an escape character, `\u{202E}` for a mark
    /// that turns the text after it round.
    public var printable: String { escaped { $0.isUnseen } }

    /// The text with its lines and tabs as they are, and anything else that cannot be seen as in ``printable``.
    public var printableLines: String { escaped { $0.isUnseen && $0 != "\n" && $0 != "\t" } }

    private func escaped(where isEscaped: (Unicode.Scalar) -> Bool) -> String {
        guard unicodeScalars.contains(where: isEscaped) else { return self }
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if isEscaped(scalar) {
                text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars
            } else {
                text.append(scalar)
            }
        }
        return String(text)
    }
}
