/// A table of a page.
struct HTMLTable {
    /// A column, such as `"type"` or `.number("records")`.
    struct Column {
        let title: HTML
        /// Numbers stand at the right.
        var isNumber = false

        static func number(_ title: HTML) -> Column { Column(title: title, isNumber: true) }
    }

    /// What the table is about; screen readers say it first.
    let caption: String
    let columns: [Column]
    /// For each row its cells. The first one names the row.
    var rows: [[HTML]] = []

    init(_ caption: String, _ columns: [Column]) {
        self.caption = caption
        self.columns = columns
    }

    /// The table, which scrolls by itself where the page is narrow.
    var html: HTML {
        """
        <div class="wide" role="region" tabindex="0" aria-label="\(caption)"><table><caption class="hidden">\(caption)</caption>\
        <thead><tr>\(columns.map(head))</tr></thead>
        <tbody>\(rows.map(row))</tbody></table></div>
        """
    }

    private func head(_ column: Column) -> HTML {
        column.isNumber
            ? "<th scope=\"col\" class=\"n\">\(column.title)</th>" : "<th scope=\"col\">\(column.title)</th>"
    }

    private func row(_ cells: [HTML]) -> HTML {
        let parts = zip(cells, columns).enumerated().map { place, cell -> HTML in
            if place == 0 { return "<th scope=\"row\">\(cell.0)</th>" }
            return cell.1.isNumber ? "<td class=\"n\">\(cell.0)</td>" : "<td>\(cell.0)</td>"
        }
        return "<tr>\(parts)</tr>\n"
    }
}

extension HTMLTable.Column: ExpressibleByStringLiteral {
    init(stringLiteral title: StaticString) { self.init(title: HTML(stringLiteral: title)) }
}

extension HTML {
    /// The title of a column of bars, for those who do not see them.
    static let barTitle: HTML = "<span class=\"hidden\">the same as a bar</span>"

    /// A text of a capture, which must not turn round the text beside it.
    static func captured(_ text: String?) -> HTML {
        guard let text, !text.isEmpty else { return "<span class=\"none\">not known</span>" }
        return "<bdi>\(text)</bdi>"
    }

    /// A remark on how many others there are; nothing if there are none.
    static func aside(_ count: Int, _ text: HTML) -> HTML { count > 0 ? "<p class=\"aside\">\(text)</p>" : "" }

    /// The last item of a list that is cut: how many others there are; nothing if there are none.
    static func moreItems(_ count: Int, _ text: String) -> HTML { count > 0 ? "<li>and \(text) more</li>" : "" }

    /// The sample of a color in a legend.
    static func key(_ color: Int) -> HTML {
        """
        <svg class="key" aria-hidden="true" viewBox="0 0 10 10"><rect class="s\(color)" width="10" height="10"/></svg>
        """
    }
}
