import Bytes
import Hashing
import Telemetry

/// A report as a single HTML file without scripts, network requests or references to other files.
///
/// Source: "Exports", section 3.
public struct ReportPage {
    let database: ReportDatabase
    /// The information that is not in the tables.
    public let facts: ReportFacts
    let holdCodes: [HoldCode]
    let countFormatter: CountFormatter
    /// The totals of the tables.
    public let totals: ReportTotals

    /// Creates the page of a report.
    ///
    /// Counts below `minimumCount` are hidden, and other counts are rounded down to a multiple of `minimumCount`.
    public init(_ database: ReportDatabase, facts: ReportFacts, systems: SystemTable, minimumCount: Int) throws {
        self.database = database
        self.facts = facts
        holdCodes = systems.holdCodes
        countFormatter = CountFormatter(minimumCount: max(1, minimumCount))
        totals = try ReportTotals(database)
    }

    /// Returns the contents of the HTML file.
    public func makeBytes() throws -> [UInt8] { Array(try makeHTML().text.utf8) }

    func makeHTML() throws -> HTML {
        let sections = [
            try timelineSection, try retentionSection, try clientSection, try activitySection, try uploadSection,
            try gapSection, try problemSection, try queueSection,
        ]
        return """
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
            <p class="paper">On paper, each table ends after \(HTMLTable.printedRowCount) rows, and the numbers of charts have no tables. The \
            page shows them.</p></footer>
            </body></html>

            """
    }

    private var title: String { "Telemetry report: " + facts.inputs.prefix(3).map(\.label).joined(separator: ", ") }

    /// The content security policy, which allows nothing except the style sheet of the page.
    private static let contentSecurityPolicy: String = {
        var hash: [UInt8] = []
        hash.append(base64: SHA256.hash(PageStyle.css.text.utf8.span).bytes.span)
        let style = String(decoding: hash, as: UTF8.self)
        return "default-src 'none'; style-src 'sha256-\(style)'; base-uri 'none'; form-action 'none'"
    }()
}

/// The totals of the tables of a report.
public struct ReportTotals: Sendable {
    /// The number of records.
    public let recordCount: Int
    /// The number of records that can be uploaded.
    public let uploadableCount: Int
    /// The number of events in all records.
    public let eventCount: Int
    /// The number of clients, added up over all systems.
    public let clientCount: Int
    /// The number of days with records.
    public let dayCount: Int
    /// The minimum number of nights that are needed to upload the records, with one job each night.
    ///
    /// The jobs have the documented limits.
    public let nightCount: Int
    let quarantineCount: Int

    init(_ database: ReportDatabase) throws {
        let query = """
            SELECT total(count), total(count * uploadable), (SELECT total(count) FROM event_days),
            (SELECT count(*) FROM clients WHERE client IS NOT NULL), count(DISTINCT day), (SELECT count(*) FROM quarantine),
            (SELECT max(uploadable) FROM clients), (SELECT max(count) FROM
            (SELECT sum(count) AS count FROM entries WHERE uploadable GROUP BY owner, type)) FROM entries
            """
        let numbers = try database.numbers(query, count: 8)
        (recordCount, uploadableCount, eventCount) = (numbers[0], numbers[1], numbers[2])
        (clientCount, dayCount, quarantineCount) = (numbers[3], numbers[4], numbers[5])
        func nights(_ uploads: Int, _ limit: Int) -> Int { (uploads + limit - 1) / limit }
        nightCount = max(
            nights(numbers[6], DocumentedLimits.dailyUploads), nights(numbers[7], DocumentedLimits.uploadsOfTypeInJob))
    }
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

/// The information in a report that is not in the exported tables.
public struct ReportFacts: Sendable {

    /// The facts of a pseudonymized report.
    ///
    /// These facts do not contain capture names, paths or parts of the input.
    ///
    /// Source: "Exports", section 4.
    public struct PseudonymizedFacts: Sendable {
        /// The ID of the pseudonym key.
        public let keyID: String
        /// The unit to which times were rounded down, or `nil` if they were kept.
        public let timeUnit: TimeUnit?

        /// Creates the facts of a pseudonymized report.
        public init(keyID: String, timeUnit: TimeUnit? = nil) {
            self.keyID = keyID
            self.timeUnit = timeUnit
        }
    }

    /// The name and the version of the program that creates the report.
    public var generator: String
    /// The inputs in the given order.
    public var inputs: [ReportInput]
    /// The total size of all payloads in bytes.
    public var payloadByteCount: Int
    /// The number of records that were omitted because they equal another record.
    public var duplicateCount: Int
    /// Whether all input was read and parsed.
    public var isComplete: Bool
    /// The queues of each store, and their states.
    public var queues: [ReportQueue]
    /// The number of app containers for each state of usage data.
    public var usageDataCounts: [UsageDataState: Int] = [:]
    /// The facts of a pseudonymized report, or `nil` if the records have no pseudonyms.
    public var pseudonymizedFacts: PseudonymizedFacts?

    /// Creates the facts of a report.
    public init(
        generator: String, inputs: [ReportInput], payloadByteCount: Int, duplicateCount: Int, isComplete: Bool,
        queues: [ReportQueue] = [], pseudonymizedFacts: PseudonymizedFacts? = nil
    ) {
        self.generator = generator
        self.inputs = inputs
        self.payloadByteCount = payloadByteCount
        self.duplicateCount = duplicateCount
        self.isComplete = isComplete
        self.queues = queues
        self.pseudonymizedFacts = pseudonymizedFacts
    }
}

/// An input that was read.
public struct ReportInput: Sendable {
    /// The label that identifies the input in the report.
    public let label: String
    /// The kind of the input, such as `folder` or `bundle`.
    public let kind: String
    /// The digest of the input, or `nil` if the input is not an intact bundle or the report is pseudonymized.
    public let digest: String?
    /// Sentences, without full stops, that state the filters with which the input was made.
    public let filters: [String]

    /// Creates an input.
    public init(label: String, kind: String, digest: String? = nil, filters: [String] = []) {
        self.label = label
        self.kind = kind
        self.digest = digest
        self.filters = filters
    }
}

/// The queues of a store, and their states according to the rules of the app.
public struct ReportQueue: Sendable {
    /// The name of the capture that contains the store.
    public let capture: String
    /// The path of the store in the capture.
    public let path: String
    /// Sentences, without full stops, that describe the store and the states of its queues.
    public let sentences: [String]
    /// The number of pending events, or `nil` if it is unknown.
    public let pendingEventCount: Int?

    /// Creates the facts about the queues of a store.
    public init(
        capture: String, path: String, sentences: [String], pendingEventCount: Int?
    ) {
        self.capture = capture
        self.path = path
        self.sentences = sentences
        self.pendingEventCount = pendingEventCount
    }
}

/// The header of a report: the inputs, the main counts, and whether the input is complete.
extension ReportPage {
    var header: HTML {
        let more = facts.inputs.count - Self.maxInputs
        return """
            <h1>Telemetry report</h1>
            <p class="verdict \(hasParsedAllInput ? "good" : "bad")" id="verdict">\(verdict)</p>
            <dl class="figures">\(figures.map { figure($0.id, $0.title, $0.value) })</dl>
            \(pseudonymText)\(maskingText)<h2 class="small">Inputs, read by \(facts.generator)</h2>
            <ul class="inputs">\(facts.inputs.prefix(Self.maxInputs).map(input))\(.moreItems(more, countFormatter.text(more)))</ul>
            """
    }

    private static let maxInputs = 50

    private var hasParsedAllInput: Bool {
        let unparsed = totals.quarantineCount
        return countFormatter.hidesSmallCounts ? countFormatter.isHidden(unparsed) : facts.isComplete && unparsed == 0
    }

    private var verdict: HTML {
        let (records, held) = (totals.recordCount, totals.recordCount - totals.uploadableCount)
        let unparsed = totals.quarantineCount
        if !hasParsedAllInput {
            let result: HTML =
                "\(countFormatter.text(records, "record")) could be read. See <a href=\"#wrong\">quarantine and problems</a>."
            guard unparsed > 0 else { return "Some input could not be read. \(result)" }
            return """
                \(countFormatter.text(unparsed, "item")) could not be parsed. Bundles keep such input in quarantine. \(result)
                """
        }
        let parsed: HTML =
            countFormatter.hidesSmallCounts
            ? "Fewer than \(countFormatter.minimumCount) items could not be parsed." : "All input was parsed."
        if records == 0, !countFormatter.hidesSmallCounts { return "The input contains no records." }
        if held == 0, !countFormatter.hidesSmallCounts {
            return "All input was parsed, and every record can be uploaded."
        }
        return """
            \(parsed) \(countFormatter.text(totals.uploadableCount)) of \(countFormatter.text(records, "record")) can be uploaded, \
            and \(countFormatter.text(held)) cannot, for the <a href="#go">reasons below</a>.
            """
    }

    private var pseudonymText: HTML {
        guard let pseudonymized = facts.pseudonymizedFacts else { return "" }
        let times: HTML = pseudonymized.timeUnit.map { " Times are rounded down to the \($0.rawValue)." } ?? ""
        return """
            <p>This report is pseudonymized. Ids are replaced by pseudonyms of the key <code id="key">\(pseudonymized.keyID)</code>. \
            Names, addresses, positions, free text, paths and input that could not be parsed are omitted.\(times)</p>

            """
    }

    private var maskingText: HTML {
        guard countFormatter.hidesSmallCounts else { return "" }
        let number = countFormatter.minimumCount
        return """
            <p id="masking">Counts below \(number) are shown as <b>\(countFormatter.text(0))</b> or added to others, and are not part of \
            charts. Other counts are rounded down to multiples of \(number).</p>

            """
    }

    private var figures: [(id: String, title: HTML, value: String)] {
        let counts: [(id: String, title: HTML, value: String)] = [
            ("records", "records (one upload each)", countFormatter.text(totals.recordCount)),
            ("events", "events in the records", countFormatter.text(totals.eventCount)),
            ("clients", "clients (one app on one phone each)", countFormatter.text(totals.clientCount)),
            ("days", "days with records", countFormatter.text(totals.dayCount)),
        ]
        // The total size is omitted, because it would reveal the exact number of payloads if all had the same length.
        guard !countFormatter.hidesSmallCounts else { return counts }
        return counts + [("bytes", "of payload", CountFormatter.size(facts.payloadByteCount))]
    }

    private func figure(_ id: String, _ title: HTML, _ value: String) -> HTML {
        "<div><dt>\(title)</dt><dd id=\"\(id)\">\(value)</dd></div>\n"
    }

    private func input(_ input: ReportInput) -> HTML {
        let digest: HTML = input.digest.map { "<br><small>digest <code>\($0)</code></small>" } ?? ""
        let filters = input.filters.map { "<br><small>\(HTML.captured(DisplayText.truncated($0)))</small>" as HTML }
        return """
            <li>\(HTML.captured(DisplayText.truncated(input.label))) <small>(\(input.kind))</small>\(digest)\(filters)</li>

            """
    }
}
