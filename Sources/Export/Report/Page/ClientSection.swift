/// The section about clients: their apps, versions and phones.
extension ReportPage {
    var clientSection: PageSection {
        PageSection(
            id: "who", title: "Clients and phones",
            introduction:
                "A client is one app on one phone, identified by a random number. Its app and phone are those of its last record.",
            content: [clientTable, appTable, modelTable])
    }

    private static let maxRows = 40

    private var clientTable: HTML {
        let clients = tally.clients.largest
        guard !clients.isEmpty else { return "<h3>Clients</h3><p>There are no clients.</p>" }
        var table = HTMLTable(
            "Clients, most records first",
            [
                "client", "app", "phone", "system", "first", "last", .number("records"), .number("uploadable"),
                .number("events"),
            ])
        for client in clients {
            let phone = tally.phones[client.key]
            table.rows.append([
                client.id.map { "<code><bdi>\($0)</bdi></code>" } ?? "<span class=\"none\">no client</span>",
                .captured(Self.joined(client.apps ?? phone.app.name, phone.app.version)),
                .captured(Self.joined(phone.model.device, phone.model.os, phone.model.osVersion)), "\(client.system)",
                Self.dayText(client.firstTime), Self.dayText(client.lastTime),
                "\(countFormatter.text(client.recordCount))",
                "\(countFormatter.text(client.uploadableCount))", "\(countFormatter.text(client.eventCount))",
            ])
        }
        let more = tally.clients.recordCount - clients.reduce(0) { $0 + $1.recordCount }
        let rows = clients.count { $0.id != nil }
        let others = countFormatter.text(tally.clients.count - rows, "client")
        let rest = HTML.aside(more, "Not shown: \(others) with \(countFormatter.text(more, "record")).")
        return "<h3>Clients</h3>\(table.html)\(rest)"
    }

    private var appTable: HTML {
        let clients = tally.phones.clientCountsByApp
        return countTable(
            "Apps and versions", ["app", "version"], tally.recordsByApp,
            cells: { [.captured($0.name), .captured($0.version)] }, clients: { clients[$0] ?? 0 })
    }

    private var modelTable: HTML {
        let clients = tally.phones.clientCountsByModel
        return countTable(
            "Phones", ["model", "operating system"], tally.recordsByModel,
            cells: { [.captured($0.device), .captured(Self.joined($0.os, $0.osVersion))] },
            clients: { clients[$0] ?? 0 })
    }

    /// Returns a table with the number of records, a bar, and the number of clients for each key.
    private func countTable<Key>(
        _ caption: String, _ titles: [HTML], _ counts: BoundedCounts<Key>, cells: (Key) -> [HTML], clients: (Key) -> Int
    ) -> HTML {
        let sorted = counts.largestFirst
        guard let largest = sorted.first?.count else {
            return "<h3>\(caption)</h3><p>The records do not contain this information.</p>"
        }
        var table = HTMLTable(
            caption,
            titles.map { .init(title: $0) } + [.number("records"), .number("clients"), .init(title: .barTitle)])
        for (key, count) in sorted.prefix(Self.maxRows) {
            let bar = Bar(value: countFormatter.chartValue(count), maxValue: countFormatter.chartValue(largest)).svg
            table.rows.append(
                cells(key) + ["\(countFormatter.text(count))", "\(countFormatter.text(clients(key)))", bar])
        }
        let more = sorted.dropFirst(Self.maxRows).reduce(counts.otherCount) { $0 + $1.count }
        let rest = HTML.aside(more, "Not shown: \(countFormatter.text(more, "record")).")
        return "<h3>\(caption)</h3>\(table.html)\(rest)"
    }

    private static func joined(_ parts: String?...) -> String? {
        let known = parts.compactMap(\.self)
        return known.isEmpty ? nil : known.joined(separator: " ")
    }

    private static func dayText(_ time: String?) -> HTML {
        time.map { "<span class=\"day\">\(String($0.prefix(10)))</span>" } ?? .captured(nil)
    }
}
