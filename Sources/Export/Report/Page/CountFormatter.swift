/// Formats counts.
///
/// Small counts could identify a person, so they are shown only as less than ``minimumCount``.
struct CountFormatter: Sendable {
    /// The smallest count that is shown exactly.
    let minimumCount: Int

    /// Returns a count as text, such as `1,234` or `<5`.
    func text(_ count: Int) -> String {
        isHidden(count) ? "<\(minimumCount)" : Self.grouped(count)
    }

    /// Returns the value that a chart shows for a count.
    ///
    /// Small counts are replaced by the minimum, so that a bar is not more precise than the text.
    func chartValue(_ count: Int) -> Int { isHidden(count) ? minimumCount : count }

    /// Returns a count with a noun, such as `1 record` or `2 records`.
    func text(_ count: Int, _ noun: String) -> String {
        "\(text(count)) \(noun)\(count == 1 && minimumCount < 2 ? "" : "s")"
    }

    /// Returns a size with one decimal digit, such as `30.9 kB`.
    ///
    /// Sizes do not identify people and are always shown.
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

    private func isHidden(_ count: Int) -> Bool { count > 0 && count < minimumCount }

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
