import SQLite
import Telemetry

/// The section about uploads: uploadable records, held records, and the duration of the uploads.
extension ReportPage {
    var uploadSection: PageSection {
        get throws {
            PageSection(
                id: "go", title: "Uploads",
                introduction:
                    "Each record is uploaded unless it is held for a reason. Held records stay in the bundle and are not lost.",
                content: [shareChart, nightText, try holdTable])
        }
    }

    private var shareChart: HTML {
        guard !countFormatter.isNone(totals.recordCount) else { return countFormatter.noneText("records") }
        let held = totals.recordCount - totals.uploadableCount
        let part = 1000 * Double(countFormatter.chartValue(totals.uploadableCount))
        let sum = Double(max(1, countFormatter.chartValue(totals.uploadableCount) + countFormatter.chartValue(held)))
        let width = Int((part / sum).rounded())
        return """
            <figure><svg class="share" role="img" aria-labelledby="share-title" viewBox="0 0 1000 40" preserveAspectRatio="none">\
            <title id="share-title">\(countFormatter.text(totals.uploadableCount)) uploadable, \(countFormatter.text(held)) held</title>\
            <rect class="s0" width="\(width)" height="40"/><rect class="s1" x="\(width)" width="\(1000 - width)" height="40"/></svg>
            <figcaption><ul class="legend">\
            <li>\(.colorSample(0)) <b id="uploadable">\(countFormatter.text(totals.uploadableCount))</b> uploadable</li>\
            <li>\(.colorSample(1)) <b id="held">\(countFormatter.text(held))</b> held</li></ul></figcaption></figure>
            """
    }

    private var nightText: HTML {
        let nights = totals.nightCount
        // The number of nights is hidden with small counts, because it can depend on a single client.
        guard nights > 0, !countFormatter.hidesSmallCounts else { return "" }
        return """
            <p>With one job each night, the uploads take at least <b id="nights">\(countFormatter.text(nights))</b> night\(nights == 1 ? "" : "s"). A client can \
            upload at most \(DocumentedLimits.dailyUploads) records a day, and at most \(DocumentedLimits.uploadsOfTypeInJob) records of one type in a job.</p>
            """
    }

    /// The number of held records, and of the events in them, by the code of the hold.
    private static let holds = """
        SELECT code, count(*) AS count, min(record) AS first, total(events) AS events
        FROM (SELECT DISTINCT record, code FROM holds) LEFT JOIN
        (SELECT record, sum(count) AS events FROM event_days WHERE record IN (SELECT record FROM holds) GROUP BY record)
        USING (record)
        """

    /// The maximum number of reasons with separate rows.
    private static let maxHolds = 200

    private var holdTable: HTML {
        get throws {
            let counts = try database.counts(
                of: ["code"], in: "\(Self.holds) GROUP BY code", number: "events", limit: Self.maxHolds, countFormatter)
            let rest = countFormatter.remainder(
                "Other reasons", of: counts.rows.map(\.count), besides: counts.otherCount, "record")
            guard !counts.rows.isEmpty else { return rest }
            var table = HTMLTable(
                "Reasons why records are held. A record with two reasons is counted for both.",
                ["reason", "meaning", .number("records"), .number("events"), "can it be released?"])
            for row in counts.rows {
                let code = row.names[0] ?? ""
                let (meaning, isFinal) = CodeMeanings.holdMeaning(of: code, in: holdCodes)
                let answer: HTML =
                    switch isFinal {
                    case true?: "no"
                    case false?: "yes, if you accept the reason"
                    case nil: .captured(nil)
                    }
                table.rows.append([
                    "<code><bdi>\(code)</bdi></code>", "\(meaning)", "\(countFormatter.text(row.count))",
                    "\(countFormatter.text(row.number))", answer,
                ])
            }
            return "<h3>Why records are held</h3>\(table.html)\(rest)"
        }
    }
}

/// The section about queues: their state, and events that are not yet included in a ping.
extension ReportPage {
    var queueSection: PageSection {
        get throws {
            PageSection(
                id: "queues", title: "Queues",
                introduction:
                    "Data that was still waiting on the phones: events that are not part of a ping yet, and queues that apps upload by their own rules.",
                content: [try pendingText, usageDataText, try queueList])
        }
    }

    private static let maxQueues = 100
    private static let maxSentences = 20

    private var pendingText: HTML {
        get throws {
            let query = "SELECT count, events FROM (\(Self.holds) WHERE code = '\(Hold.pendingEvents.code)')"
            let numbers = try database.numbers(query, count: 2)
            return """
                <p>Events that are not part of a ping yet: <b id="pending">\(countFormatter.text(numbers[1]))</b>. They are in \
                \(countFormatter.text(numbers[0], "record")). Such records are never uploaded, because the phone may still send \
                the events itself.</p>
                """
        }
    }

    private var usageDataText: HTML {
        guard !facts.usageDataCounts.isEmpty else { return "" }
        let list = UsageDataState.allCases.map { state in
            "\(state.rawValue) in \(countFormatter.text(facts.usageDataCounts[state] ?? 0, "app container"))"
        }.joined(separator: ", ")
        return "<p>Usage data in the settings of apps: \(list). Records of apps in which it is off are held.</p>"
    }

    private var queueList: HTML {
        get throws {
            if facts.pseudonymizedFacts != nil {
                return "<p>The state of queues is omitted, because it contains names.</p>"
            }
            guard !countFormatter.hidesSmallCounts else { return try stateTable }
            guard !facts.queues.isEmpty else { return "<p>No queues with their own rules were found.</p>" }
            let more = facts.queues.count - Self.maxQueues
            let queues = HTML(facts.queues.prefix(Self.maxQueues).map(queue))
            let rest = countFormatter.aside(more, "Not shown: \(countFormatter.text(more)) more.")
            let all = countFormatter.text(facts.queues.count, "store")
            return try stateTable + .details("Each queue", queues + rest)
                + .aside("Not shown on paper: the queues of each of \(all).", on: .paper)
        }
    }

    private var stateTable: HTML {
        get throws {
            let counts = try database.counts(
                of: ["text", "readiness"],
                in: "SELECT text, readiness, count(*) AS count, min(n) AS first FROM queues GROUP BY text, readiness",
                limit: Self.maxQueues, countFormatter)
            guard !countFormatter.isHidden(counts.total) else {
                return "<h3>Queues by state</h3>\(countFormatter.noneText("queues with their own rules"))"
            }
            guard counts.total > 0 else { return "" }
            var table = HTMLTable("Queues by state", ["state", "ready for upload?", .number("queues")])
            for row in counts.rows {
                let readiness = row.names[1].flatMap(QueueState.Readiness.init)
                table.rows.append([
                    "\(row.names[0] ?? "")", Self.answer(readiness ?? .unknown), "\(countFormatter.text(row.count))",
                ])
            }
            let rest = countFormatter.remainder(
                "Other states", of: counts.rows.map(\.count), besides: counts.otherCount, "queue")
            return "<h3>Queues by state</h3>\(table.html)\(rest)"
        }
    }

    private static func answer(_ readiness: QueueState.Readiness) -> HTML {
        switch readiness {
        case .ready: "yes"
        case .notReady: "no"
        case .empty: "nothing to upload"
        case .unknown: .captured(nil)
        }
    }

    private func queue(_ queue: ReportQueue) -> HTML {
        let more = queue.sentences.count - Self.maxSentences
        let rest = HTML.moreItems(more, "\(more)")
        let pending: HTML = queue.pendingEventCount.map { "<p>Pending events: \(countFormatter.text($0)).</p>" } ?? ""
        return """
            <h3><bdi>\(DisplayText.truncated(queue.capture))</bdi>: <code><bdi>\(DisplayText.truncated(queue.path))</bdi></code></h3>
            \(pending)<ul>\(queue.sentences.prefix(Self.maxSentences).map { "<li><bdi>\(DisplayText.truncated($0))</bdi></li>" })\(rest)</ul>

            """
    }
}
