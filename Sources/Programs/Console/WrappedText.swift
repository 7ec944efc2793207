/// Word wrapping at 80 columns.
public enum WrappedText {
    private static let width = 80

    /// Returns the lines of `text`, the first indented by `indent` spaces and the others by two more.
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

    /// The character that joins words that must stay on one line.
    public static let noBreakSpace: Character = "\u{A0}"
}
