import Bytes

/// The section about clients: their apps, versions and phones.
extension ReportPage {
    var clientSection: PageSection {
        PageSection(
            id: "who", title: "Clients and phones",
            introduction:
                "A client is one app on one phone, identified by a random number. Its app, phone and locale are the latest.",
            content: [clientTable, appTable, modelTable, localeTable])
    }

    private var clientTable: HTML {
        let clients = tally.clients.largest.values
        guard !countFormatter.hidesSmallCounts else {
            return "<h3>Clients</h3><p class=\"aside\">Single clients are not listed.</p>"
        }
        guard !clients.isEmpty else { return "<h3>Clients</h3>\(countFormatter.noneText("clients"))" }
        var table = HTMLTable(
            "Clients, most records first",
            [
                "client", "app", "phone", "system", "first", "last", .number("records"), .number("uploadable"),
                .number("events"),
            ])
        var (records, uploadable, events) = (tally.clients.recordCount, tally.uploadableCount, tally.eventCount)
        func numbers(_ counts: Int...) -> [HTML] { counts.map { "\(countFormatter.text($0))" } }
        for client in clients {
            let (app, model) = tally.phone(of: client.key)
            let names = client.apps ?? app.name
            // If a client has several apps, it is unknown which of them has the version.
            let version = names?.contains(", ") == true ? nil : app.version
            table.rows.append(
                [
                    .clientName(client.id), .captured(Self.joined(names ?? version.map { _ in "unknown" }, version)),
                    .captured(Self.joined(model.device, model.os, model.osVersion)), "\(client.system)",
                    Self.dayText(client.firstTime), Self.dayText(client.lastTime),
                ] + numbers(client.recordCount, client.uploadableCount, client.eventCount))
            records -= client.recordCount
            uploadable -= client.uploadableCount
            events -= client.eventCount
        }
        if records > 0 {
            table.rows.append(
                ["other clients", "", "", "", "", ""] + numbers(records, uploadable, events))
        }
        return "<h3>Clients</h3>\(table.html)"
    }

    private var appTable: HTML {
        countTable(
            "Apps and versions", ["app", "version"], tally.recordsByApp, noun: "record",
            clients: tally.profiles.clientCounts { $0.app.value.map { [$0] } ?? [] },
            allClients: tally.profiles.clientCounts(\.values.apps.elements),
            cells: { [.captured($0.name), .captured($0.version)] })
    }

    private var modelTable: HTML {
        countTable(
            "Phones", ["model", "operating system"], tally.recordsByModel, noun: "record",
            clients: tally.profiles.clientCounts { $0.model.value.map { [$0] } ?? [] },
            allClients: tally.profiles.clientCounts(\.values.models.elements),
            cells: { [.captured($0.device), .captured(Self.joined($0.os, $0.osVersion))] })
    }

    private var localeTable: HTML {
        countTable(
            "Locales", ["locale"], tally.recordsByLocale, noun: "record",
            clients: tally.profiles.clientCounts { $0.locale.value.map { [$0] } ?? [] },
            allClients: tally.profiles.clientCounts(\.values.locales.elements),
            cells: { [.captured($0.string)] })
    }

    /// The maximum number of rows of a table of counts.
    private static let maxRows = 100

    /// Returns a table with a row for each key, which contains the count, the number of clients, and a bar.
    ///
    /// `clients` contains the number of clients to display for each key. `allClients` contains the number of all
    /// clients that ever had the key, which determines whether the row is hidden. Pass `nil` for `allClients` if the
    /// numbers are equal. The keys of both dictionaries are indices in `counts`.
    func countTable<Key>(
        _ caption: String, _ titles: [HTML], _ counts: BoundedCounts<Key>, noun: String, clients: [Int: Int],
        allClients: [Int: Int]? = nil, cells: (Key) -> [HTML]
    ) -> HTML {
        guard !countFormatter.isNone(counts.total) else {
            return "<h3>\(caption)</h3>\(countFormatter.noneText("\(noun)s with this information"))"
        }
        let (shown, otherCount) = countFormatter.shownEntries(counts.largestFirst, limit: Self.maxRows) { key in
            counts.index(of: key).flatMap { (allClients ?? clients)[$0] } ?? 0
        }
        var table = HTMLTable(
            caption,
            titles.map { .init(title: $0) } + [.number("\(noun)s"), .number("clients"), .init(title: .barTitle)])
        for (key, count) in shown {
            let clientCount = counts.index(of: key).flatMap { clients[$0] } ?? 0
            table.rows.append(
                cells(key) + [
                    "\(countFormatter.text(count))", "\(countFormatter.text(clientCount))",
                    bar(count, largest: shown[0].count),
                ])
        }
        let more = otherCount.addingSaturated(counts.otherCount)
        let rest = countFormatter.aside(more, "Not shown: \(countFormatter.text(more, noun)).")
        return "<h3>\(caption)</h3>\(table.html)\(rest)"
    }

    /// Returns a bar for `count`, in proportion to `largest`, the largest count in the table.
    func bar(_ count: Int, largest: Int) -> HTML {
        Bar(value: countFormatter.chartValue(count), maxValue: countFormatter.chartValue(largest)).svg
    }

    private static func joined(_ parts: String?...) -> String? {
        let known = parts.compactMap(\.self)
        return known.isEmpty ? nil : known.joined(separator: " ")
    }

    private static func dayText(_ time: String?) -> HTML {
        time.map { "<span class=\"day\">\(String($0.prefix(10)))</span>" } ?? .captured(nil)
    }
}
