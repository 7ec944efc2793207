import Bytes
import Hashing
import Telemetry

/// A report as a single HTML file without scripts, network requests or references to other files.
///
/// Source: "Exports", section 3.
public struct ReportPage: Sendable {
    let tally: ReportTally
    let facts: ReportFacts
    let holdCodes: [HoldCode]
    let countFormatter: CountFormatter

    /// Creates the page of a report.
    ///
    /// Counts below `minimumCount` are hidden, and other counts are rounded down to a multiple of `minimumCount`.
    public init(_ counter: ReportCounter, facts: ReportFacts, systems: SystemTable, minimumCount: Int) {
        var tally = counter.tally
        if let pseudonymized = facts.pseudonymizedFacts {
            tally.quarantine = CodeCounts(withoutExamples: pseudonymized.quarantineCounts)
            tally.problems = CodeCounts(withoutExamples: pseudonymized.problemCounts)
        } else if minimumCount > 1 {
            // Examples are removed, because each example belongs to a single phone.
            tally.quarantine.removeExamples()
            tally.problems.removeExamples()
        }
        self.tally = tally
        self.facts = facts
        holdCodes = systems.holdCodes
        countFormatter = CountFormatter(minimumCount: max(1, minimumCount))
    }

    /// The contents of the HTML file.
    public var bytes: [UInt8] { Array(html.text.utf8) }

    /// The number of events in all records.
    public var eventCount: Int { tally.eventCount }
    /// The number of clients, added up over all systems.
    public var clientCount: Int { tally.clients.count }
    /// The number of days with records.
    public var dayCount: Int { Set(tally.recordsByKindAndDay.keys.map(\.day)).count }
    /// The total size of all payloads in bytes.
    public var payloadByteCount: Int { tally.payloadByteCount }
    /// The minimum number of nights that are needed to upload the records.
    public var nightCount: Int { UploadNights(tally).count }

    var html: HTML {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="\(Self.contentSecurityPolicy)">
        <meta name="viewport" content="width=device-width,initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(title)</title>
        <style>\(PageStyle.css)</style></head>
        <body><header>\(header)</header>
        <nav aria-label="Sections of the report"><ul>\(sections.map(\.link))</ul></nav>
        <main>\(sections.map(\.html))</main>
        <footer><p>Created by \(facts.generator) from copies of data that phones had stored. Times are in UTC. This page loads nothing \
        from a network.</p>
        <p class="paper">On paper, each table ends after 10 rows. The page shows the others.</p></footer>
        </body></html>

        """
    }

    private var title: String { "Telemetry report: " + facts.inputs.prefix(3).map(\.label).joined(separator: ", ") }

    private var sections: [PageSection] {
        [
            timelineSection, retentionSection, clientSection, activitySection, uploadSection, gapSection,
            problemSection, queueSection,
        ]
    }

    /// The content security policy, which allows nothing except the style sheet of the page.
    private static let contentSecurityPolicy: String = {
        var hash: [UInt8] = []
        hash.append(base64: SHA256.hash(PageStyle.css.text.utf8.span).bytes.span)
        let style = String(decoding: hash, as: UTF8.self)
        return "default-src 'none'; style-src 'sha256-\(style)'; base-uri 'none'; form-action 'none'"
    }()
}

/// A section of a report with a heading.
struct PageSection {
    let id: String
    let title: String
    /// The introduction, which is shown below the heading.
    let introduction: HTML
    let content: [HTML]

    var link: HTML { "<li><a href=\"#\(id)\">\(title)</a></li>" }

    var html: HTML {
        """
        <section id="\(id)" aria-labelledby="\(id)-title"><h2 id="\(id)-title">\(title)</h2>
        <p class="lead">\(introduction)</p>
        \(content)</section>

        """
    }
}
