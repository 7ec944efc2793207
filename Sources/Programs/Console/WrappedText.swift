/// Text in lines of at most 80 columns.
public enum WrappedText {
    private static let width = 80

    /// Returns the lines of `text`, each indented by `indent` spaces. A word that is too long for a line has a line of its own.
    public static func lines(of text: String, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(margin + word)
            }
        }
        return lines
    }
}
