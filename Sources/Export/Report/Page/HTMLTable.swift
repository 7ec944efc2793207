/// A table of a page.
struct HTMLTable {
    /// A column.
    struct Column {
        let title: HTML
        /// Numbers stand at the right.
        var isNumber = false
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

extension HTML {
    /// The title of a column of bars, for those who do not see them.
    static let barTitle: HTML = "<span class=\"hidden\">the same as a bar</span>"

    /// A text of a capture, which must not turn round the text beside it.
    static func captured(_ text: String?) -> HTML {
        guard let text, !text.isEmpty else { return "<span class=\"none\">not known</span>" }
        return "<bdi>\(text)</bdi>"
    }
}
