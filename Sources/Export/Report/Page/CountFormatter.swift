/// How counts are written: small ones, by which somebody could be found, only as less than the smallest that is told.
struct CountFormatter: Sendable {
    /// The smallest count that is told.
    let minimum: Int

    /// `1,234`, or `<5`.
    func text(_ count: Int) -> String {
        isHidden(count) ? "<\(minimum)" : Self.grouped(count)
    }

    /// The count as a chart draws it: no bar tells more than the text.
    func chartValue(_ count: Int) -> Int { isHidden(count) ? minimum : count }

    /// `1 record`, `2 records`
    func text(_ count: Int, _ noun: String) -> String {
        "\(text(count)) \(noun)\(count == 1 && minimum < 2 ? "" : "s")"
    }

    /// A size with one digit behind the point: `30.9 kB`. It tells nobody's count.
    static func size(_ bytes: Int) -> String {
        var unit = 1
        var place = 0
        while place < units.count - 1, bytes / unit >= 1000 {
            unit *= 1000
            place += 1
        }
        guard place > 0 else { return "\(bytes) \(units[0])" }
        let tenths = bytes / (unit / 10)
        return "\(tenths / 10).\(tenths % 10) \(units[place])"
    }

    private static let units = ["bytes", "kB", "MB", "GB", "TB"]

    private func isHidden(_ count: Int) -> Bool { count > 0 && count < minimum }

    /// Digits in groups of three.
    private static func grouped(_ count: Int) -> String {
        let digits = String(count.magnitude)
        var text = count < 0 ? "-" : ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }
}
