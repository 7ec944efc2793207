import Bytes

/// A formatter for displayed counts that hides small counts.
///
/// Small counts could identify a person. If ``minimumCount`` is a number *n* greater than 1:
///
/// - Counts below *n*, including 0, are shown only as less than *n*. Charts do not show them.
/// - Other counts are rounded down to a multiple of *n*.
/// - Values with a hidden count, or with a hidden number of clients, are not named. The sum of their counts is
///   formatted like other counts.
/// - Values with equal shown counts are sorted by name.
///
/// Every sum and every difference of shown counts is then a multiple of *n*. Therefore, a reader cannot calculate a
/// hidden count from a total and the other parts, because several values remain possible. Only one value remains
/// possible if the number of parts is a multiple of *n* and dividing every part by *n* leaves the remainder *n* - 1.
struct CountFormatter: Sendable {
    /// The smallest count that is shown, or 1 if all counts are shown exactly.
    let minimumCount: Int

    /// Whether small counts are hidden.
    var hidesSmallCounts: Bool { minimumCount > 1 }

    /// Returns a count as text, such as `1,234` or `<5`.
    func text(_ count: Int) -> String {
        isHidden(count) ? "<\(minimumCount)" : Self.grouped(rounded(count))
    }

    /// Returns the value that a chart shows for a count, which is 0 if the count is hidden.
    func chartValue(_ count: Int) -> Int { isHidden(count) ? 0 : rounded(count) }

    /// Returns `text` as a remark about `count` items that are not shown, or nothing if the count is 0 or hidden.
    func aside(_ count: Int, _ text: HTML, on medium: HTML.Medium? = nil) -> HTML {
        isNone(count) ? "" : .aside(text, on: medium)
    }

    /// Returns remarks about the items that a list does not show.
    ///
    /// `counts` contains the number of items of each entry of the list. Only the first `printedCount` entries are printed,
    /// so that the number on paper is larger than that on the screen. `otherCount` is the number of items that no entry
    /// contains. The remarks start with `title`, and end with `noun`, which is in the singular, and `detail`.
    func remainder(
        _ title: HTML = "Not shown", of counts: [Int], printed printedCount: Int = HTMLTable.printedRowCount,
        besides otherCount: Int, _ noun: String, _ detail: HTML = ""
    ) -> HTML {
        // Only shown numbers are added up, so that the sum reveals nothing else.
        let unprinted = counts.dropFirst(printedCount).map(chartValue).saturatedSum
        let all = unprinted.addingSaturated(chartValue(otherCount))
        let remark: HTML = "\(title): \(text(otherCount, noun))\(detail)."
        guard unprinted > 0 else { return aside(otherCount, remark) }
        let printed = aside(all, "\(title) on paper: \(text(all, noun))\(detail).", on: .paper)
        return aside(otherCount, remark, on: .screen) + printed
    }

    /// Returns a sentence which states that there are no items, or fewer than the minimum count.
    func noneText(_ noun: String) -> HTML {
        hidesSmallCounts
            ? "<p>There are fewer than \(minimumCount) \(noun).</p>" : "<p>There are no \(noun).</p>"
    }

    /// Returns whether a count is 0 or hidden.
    func isNone(_ count: Int) -> Bool { count == 0 || isHidden(count) }

    private func rounded(_ count: Int) -> Int { count - count % minimumCount }

    /// Returns a count with a noun, such as `1 record` or `2 records`.
    func text(_ count: Int, _ noun: String) -> String {
        let ending = noun.hasSuffix("ch") ? "es" : "s"
        return "\(text(count)) \(noun)\(count == 1 && !hidesSmallCounts ? "" : ending)"
    }

    /// Returns a size with one decimal digit, such as `30.9 kB`.
    static func size(_ bytes: Int) -> String {
        var unit = 1
        var index = 0
        while index < units.count - 1, bytes / unit >= 1000 {
            unit *= 1000
            index += 1
        }
        guard index > 0 else { return "\(bytes) \(units[0])" }
        let tenths = bytes / (unit / 10)
        return "\(tenths / 10).\(tenths % 10) \(units[index])"
    }

    private static let units = ["bytes", "kB", "MB", "GB", "TB"]

    /// Returns whether a count is not shown.
    func isHidden(_ count: Int) -> Bool { hidesSmallCounts && count < minimumCount }

    /// Returns a count with commas between groups of three digits.
    private static func grouped(_ count: Int) -> String {
        let digits = String(count.magnitude)
        var text = count < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }
}
