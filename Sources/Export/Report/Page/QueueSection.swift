import Telemetry

/// The section about queues: their state, and events that are not yet included in a ping.
extension ReportPage {
    var queueSection: PageSection {
        PageSection(
            id: "queues", title: "Queues",
            introduction:
                "Data that was still waiting on the phones: events that are not part of a ping yet, and queues that apps upload by their own rules.",
            content: [pendingText, usageDataText, queueList])
    }

    private static let maxQueues = 100
    private static let maxSentences = 20

    private var pendingText: HTML {
        let code = Hold.pendingEvents.code
        return """
            <p>Events that are not part of a ping yet: <b id="pending">\(countFormatter.text(tally.heldEventsByCode[code]))</b>. They are in \
            \(countFormatter.text(tally.heldRecordsByCode[code], "record")). Such records are never uploaded, because the phone may still send \
            the events itself.</p>
            """
    }

    private var usageDataText: HTML {
        guard !facts.usageDataCounts.isEmpty else { return "" }
        let list = UsageDataState.allCases.map { state in
            "\(state.rawValue) in \(countFormatter.text(facts.usageDataCounts[state] ?? 0, "app container"))"
        }.joined(separator: ", ")
        return "<p>Usage data in the settings of apps: \(list). Records of apps in which it is off are held.</p>"
    }

    private var queueList: HTML {
        if facts.pseudonymizedFacts != nil {
            return "<p>The state of queues is omitted, because it contains names.</p>"
        }
        guard !countFormatter.hidesSmallCounts else { return stateTable }
        guard !facts.queues.isEmpty else { return "<p>No queues with their own rules were found.</p>" }
        let more = facts.queues.count - Self.maxQueues
        let queues = HTML(facts.queues.prefix(Self.maxQueues).map(queue))
        return stateTable + .details("Each queue", queues + countFormatter.aside(more, "Not shown: \(more) more."))
    }

    private var stateTable: HTML {
        var counts = BoundedCounts<QueueState>(keyLimit: .max)
        for state in facts.queues.flatMap(\.states) { counts.add(state) }
        guard !countFormatter.isHidden(counts.total) else {
            return "<h3>Queues by state</h3>\(countFormatter.noneText("queues with their own rules"))"
        }
        guard !counts.isEmpty else { return "" }
        let (shown, other) = countFormatter.shownEntries(counts.largestFirst, limit: .max)
        var table = HTMLTable("Queues by state", ["state", "ready for upload?", .number("queues")])
        for (state, count) in shown {
            table.rows.append(["\(state.text)", Self.answer(state.readiness), "\(countFormatter.text(count))"])
        }
        let rest = countFormatter.aside(other, "Other states: \(countFormatter.text(other, "queue")).")
        return "<h3>Queues by state</h3>\(shown.isEmpty ? "" : table.html)\(rest)"
    }

    private static func answer(_ readiness: QueueState.Readiness) -> HTML {
        switch readiness {
        case .ready: "yes"
        case .notReady: "no"
        case .empty: "nothing to upload"
        case .unknown: .captured(nil)
        }
    }

    private func queue(_ queue: ReportFacts.Queue) -> HTML {
        let more = queue.sentences.count - Self.maxSentences
        let rest = HTML.moreItems(more, "\(more)")
        let pending: HTML = queue.pendingEventCount.map { "<p>Pending events: \(countFormatter.text($0)).</p>" } ?? ""
        return """
            <h3><bdi>\(DisplayText.truncated(queue.capture))</bdi>: <code><bdi>\(DisplayText.truncated(queue.path))</bdi></code></h3>
            \(pending)<ul>\(queue.sentences.prefix(Self.maxSentences).map { "<li><bdi>\(DisplayText.truncated($0))</bdi></li>" })\(rest)</ul>

            """
    }
}
