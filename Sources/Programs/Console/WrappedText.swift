/// Text in lines of at most 80 columns.
public enum WrappedText {
    private static let width = 80

    /// Returns the lines of `text`. The first is indented by `indent` spaces, and the others by two more.
    ///
    /// A word that is too long for a line has a line to itself. Words that are joined by a no-break space stay on one line,
    /// and the result has an ordinary space there.
    public static func lines(of text: String, indent: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(repeating: " ", count: lines.isEmpty ? indent : indent + 2) + word)
            }
        }
        return lines.map { String($0.map { $0 == noBreakSpace ? " " : $0 }) }
    }

    /// Joins words that stay on one line.
    public static let noBreakSpace: Character = "\u{A0}"
}
