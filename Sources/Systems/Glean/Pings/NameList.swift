/// The functions that format a list of names for a note.
///
/// The number and the length of the names are limited, because captures can be hostile.
enum NameList {
    static let maximumNameCount = 8
    /// The maximum number of characters of each name in the list, which suffices for any metric name.
    static let maximumNameLength = 111

    /// Returns a string that lists the first names and states the number of omitted names.
    ///
    /// `totalCount` is the number of all names if `names` does not contain all of them.
    static func text(_ names: [String], totalCount: Int? = nil) -> String {
        let shown = names.prefix(maximumNameCount).map { String($0.prefix(maximumNameLength)) }
        let others = (totalCount ?? names.count) - shown.count
        return shown.joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
    }
}
