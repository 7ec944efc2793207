import Bytes
import Hashing
import Telemetry

/// A report as one HTML file that needs nothing else: no script, no network, no other file.
///
/// Source: "Exports", section 3.
public struct ReportPage: Sendable {
    let tally: ReportTally
    let facts: ReportFacts
    let holdCodes: [HoldCode]
    let shown: CountFormatter

    /// Collects the contents of a page.
    /// - Parameter minimumCount: smaller counts are shown as less than this.
    public init(_ counter: ReportCounter, facts: ReportFacts, systems: SystemTable, minimumCount: Int) {
        var tally = counter.tally
        if let pseudonymized = facts.pseudonymized {
            tally.quarantine = CodeCounts(withoutPlaces: pseudonymized.quarantine)
            tally.problems = CodeCounts(withoutPlaces: pseudonymized.problems)
        }
        self.tally = tally
        self.facts = facts
        holdCodes = systems.holdCodes
        shown = CountFormatter(minimum: max(1, minimumCount))
    }

    /// The file.
    public var bytes: [UInt8] { Array(html.text.utf8) }

    /// Events in all records.
    public var events: Int { tally.events }
    /// Clients of all systems.
    public var clients: Int { tally.clients.count }
    /// Days on which there are records.
    public var days: Int { Set(tally.kindDays.keys.map(\.day)).count }
    /// Bytes of all payloads.
    public var payloadBytes: Int { tally.payloadBytes }
    /// How many nights the uploads take at least.
    public var nights: Int { UploadNights(tally).count }

    var html: HTML {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="\(Self.policy)">
        <meta name="viewport" content="width=device-width,initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(title)</title>
        <style>\(PageStyle.css)</style></head>
        <body><header>\(head)</header>
        <nav aria-label="Parts of the report"><ul>\(parts.map(\.link))</ul></nav>
        <main>\(parts.map(\.html))</main>
        <footer><p>Made by \(facts.tool) from copies of what phones had stored. Times are in UTC. Nothing of this page was loaded \
        from a network.</p></footer>
        </body></html>

        """
    }

    private var title: String { "Telemetry report: " + facts.inputs.prefix(3).map(\.label).joined(separator: ", ") }

    private var parts: [PageSection] {
        [timelineSection, clientSection, activitySection, uploadSection, problemSection, queueSection]
    }

    /// The browser may use the one style of the page, and nothing else at all.
    private static let policy: String = {
        var hash: [UInt8] = []
        hash.append(base64: SHA256.hash(PageStyle.css.text.utf8.span).bytes.span)
        let style = String(decoding: hash, as: UTF8.self)
        return "default-src 'none'; style-src 'sha256-\(style)'; base-uri 'none'; form-action 'none'"
    }()
}

/// A part of a report, with a heading.
struct PageSection {
    let id: String
    let title: String
    /// A sentence that says what the part shows.
    let lead: HTML
    let content: [HTML]

    var link: HTML { "<li><a href=\"#\(id)\">\(title)</a></li>" }

    var html: HTML {
        """
        <section id="\(id)" aria-labelledby="\(id)-title"><h2 id="\(id)-title">\(title)</h2>
        <p class="lead">\(lead)</p>
        \(content)</section>

        """
    }
}
