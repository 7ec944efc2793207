import Bytes

/// A fragment of HTML.
///
/// Literals are markup, and interpolated strings are escaped. This prevents captured data from being interpreted as
/// markup.
struct HTML: Sendable, ExpressibleByStringInterpolation {
    private(set) var text: String

    typealias StringInterpolation = Interpolation

    init(stringLiteral text: StaticString) {
        self.text = "\(text)"
    }

    init(stringInterpolation: Interpolation) {
        text = stringInterpolation.text
    }

    init(_ pieces: [HTML], separator: HTML = "") {
        text = pieces.map(\.text).joined(separator: separator.text)
    }

    static func + (left: HTML, right: HTML) -> HTML { HTML([left, right]) }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        mutating func appendLiteral(_ literal: StaticString) { text += "\(literal)" }

        mutating func appendInterpolation(_ piece: HTML) { text += piece.text }

        mutating func appendInterpolation(_ pieces: [HTML]) { for piece in pieces { text += piece.text } }

        mutating func appendInterpolation(_ number: Int) { text += String(number) }

        /// Appends a string like other strings, but allows line breaks after the dots of a long name, such as that of an app.
        mutating func appendInterpolation(name: String) {
            guard name.utf8.count > 16 else { return appendInterpolation(name) }
            for (index, part) in name.split(separator: ".", omittingEmptySubsequences: false).enumerated() {
                if index > 0 { text += part.first?.isLetter == true ? ".<wbr>" : "." }
                appendInterpolation(String(part))
            }
        }

        /// Appends a string after escaping markup characters and invisible characters.
        mutating func appendInterpolation(_ value: String) {
            for scalar in value.printable.unicodeScalars {
                switch scalar {
                case "&": text += "&amp;"
                case "<": text += "&lt;"
                case ">": text += "&gt;"
                case "\"": text += "&quot;"
                case "'": text += "&#39;"
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
    }
}

/// A table on an HTML page.
struct HTMLTable {
    /// A column, such as `"type"`, `.number("events")` or `.bars("records")`.
    struct Column {
        let title: HTML
        /// The class of the cells, or `nil` for text.
        var style: HTML?

        /// A column of numbers, which are right-aligned.
        static func number(_ title: HTML) -> Column { Column(title: title, style: "n") }

        /// A column of numbers, each with a bar at its right.
        static func bars(_ title: HTML) -> Column { Column(title: title, style: "n bars") }
    }

    /// The caption of the table for screen readers.
    let caption: String
    let columns: [Column]
    /// The cells of each row.
    ///
    /// The first cell of a row is the row header.
    var rows: [[HTML]] = []

    init(_ caption: String, _ columns: [Column]) {
        self.caption = caption
        self.columns = columns
    }

    /// The number of rows that are always visible.
    ///
    /// The other rows are shown by a click.
    var visibleRowCount = 20

    /// The number of rows that are printed.
    static let printedRowCount = 10

    /// The table as HTML, which is empty if there are no rows.
    var html: HTML {
        guard !rows.isEmpty else { return "" }
        let others = rows.dropFirst(visibleRowCount)
        let visible = element(caption, rows.prefix(visibleRowCount))
        guard !others.isEmpty else { return visible }
        let summary = "\(others.count) more row\(others.count == 1 ? "" : "s")"
        return "\(visible)\(.details(summary, element("\(caption), continued", others)))"
    }

    /// Returns a table with the given rows, in an element that scrolls horizontally on narrow pages.
    private func element(_ caption: String, _ rows: ArraySlice<[HTML]>) -> HTML {
        """
        <div class="wide" role="region" tabindex="0" aria-label="\(caption)"><table><caption class="hidden">\(caption)</caption>\
        <thead><tr>\(columns.map(headerCell))</tr></thead>
        <tbody>\(rows.map(row))</tbody></table></div>
        """
    }

    private func headerCell(_ column: Column) -> HTML {
        guard let style = column.style else { return "<th scope=\"col\">\(column.title)</th>" }
        return "<th scope=\"col\" class=\"\(style)\">\(column.title)</th>"
    }

    private func row(_ cells: [HTML]) -> HTML {
        let parts = zip(cells, columns).enumerated().map { index, cell -> HTML in
            if index == 0 { return "<th scope=\"row\">\(cell.0)</th>" }
            return cell.1.style == nil ? "<td>\(cell.0)</td>" : "<td class=\"n\">\(cell.0)</td>"
        }
        return "<tr>\(parts)</tr>\n"
    }
}

extension HTMLTable.Column: ExpressibleByStringLiteral {
    init(stringLiteral title: StaticString) { self.init(title: HTML(stringLiteral: title)) }
}

extension HTML {
    /// Returns captured text in a `bdi` element, so that it cannot change the writing direction of other text.
    ///
    /// If `text` is `nil` or empty, the result is the text `unknown`.
    static func captured(_ text: String?) -> HTML {
        guard let text, !text.isEmpty else { return "<span class=\"none\">unknown</span>" }
        return "<bdi>\(name: text)</bdi>"
    }

    /// Returns the first characters of a client id, with the whole id as the `title` attribute.
    ///
    /// Pass `nil` for records without a client.
    static func clientName(_ id: String?) -> HTML {
        guard let id else { return "<span class=\"none\">no client</span>" }
        return "<code title=\"\(id)\"><bdi>\(String(id.prefix(8)))</bdi></code>"
    }

    /// Returns an element that shows `content` when the reader clicks `summary`.
    static func details(_ summary: String, _ content: HTML) -> HTML {
        "<details><summary><bdi>\(summary)</bdi></summary>\(content)</details>"
    }

    /// Returns the item that ends a truncated list and states the number of omitted items, or nothing if `count` is 0.
    static func moreItems(_ count: Int, _ text: String, on medium: Medium? = nil) -> HTML {
        count > 0 ? item("and \(text) more", on: medium) : ""
    }

    /// Returns an item of a list.
    static func item(_ content: HTML, on medium: Medium? = nil) -> HTML {
        "<li\(medium.map { " class=\"\($0.rawValue)\"" as HTML } ?? "")>\(content)</li>"
    }

    /// Returns a paragraph with a remark.
    static func aside(_ text: HTML, on medium: Medium? = nil) -> HTML {
        "<p class=\"\(medium.map { "aside \($0.rawValue)" } ?? "aside")\">\(text)</p>"
    }

    /// The only medium on which an element appears.
    ///
    /// The name is a class of the style sheet.
    enum Medium: String { case screen, paper }

    /// Returns the color sample of a legend.
    static func colorSample(_ color: Int) -> HTML {
        """
        <svg class="key" aria-hidden="true" viewBox="0 0 10 10"><rect class="s\(color)" width="10" height="10"/></svg>
        """
    }
}

/// A bar at the right of a number in the same cell of a table.
///
/// The bar is hidden from screen readers, because they read the number.
struct Bar {
    let value: Int
    let maxValue: Int

    var svg: HTML {
        let tenths = maxValue <= 0 ? 0 : Int((1000 * Double(min(value, maxValue)) / Double(maxValue)).rounded())
        let width = "\(max(tenths, value > 0 ? 5 : 0))"
        return """
            <svg class="bar" aria-hidden="true" viewBox="0 0 1000 10" preserveAspectRatio="none">\
            <rect class="s0" width="\(width)" height="10"/></svg>
            """
    }
}
