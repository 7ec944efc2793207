/// Formats names from a capture for a note.
///
/// The number and the length of the names are limited, because a hostile file can contain millions of long names.
enum NameList {
    static let maximumNameCount = 8
    /// The maximum number of characters of a name in the list, which is the maximum length of a metric name.
    static let maximumNameLength = 111

    /// Returns the first names, and the number of further names.
    ///
    /// If `names` does not contain all names, `total` is the number of all of them.
    static func text(_ names: [String], of total: Int? = nil) -> String {
        let shown = names.prefix(maximumNameCount).map { String($0.prefix(maximumNameLength)) }
        let others = (total ?? names.count) - shown.count
        return shown.joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
    }
}
