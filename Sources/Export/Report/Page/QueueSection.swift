import Telemetry

/// Queues: what apps' own rules say of them, and what waits in no ping.
extension ReportPage {
    var queueSection: PageSection {
        PageSection(
            id: "queues", title: "Queues",
            lead:
                "What was still waiting on the phones: events that are in no ping yet, and queues that the apps would have uploaded by rules of their own.",
            content: [pendingText, queueList])
    }

    private static let maxQueues = 300
    private static let maxSentences = 40

    private var pendingText: HTML {
        let code = Hold.pendingEvents.code
        return """
            <p>Events in no ping yet: <b id="pending">\(shown.text(tally.heldEvents[code]))</b>. They are shown in \
            \(shown.text(tally.heldRecords[code], "record")) that never \(tally.heldRecords[code] == 1 ? "leaves" : "leave"), \
            for the phone may still send them itself.</p>
            """
    }

    private var queueList: HTML {
        if facts.pseudonymized != nil {
            return "<p>What stores tell of themselves is left out, for it has names in it.</p>"
        }
        guard !facts.queues.isEmpty else { return "<p>No store with rules of its own was read.</p>" }
        let more = facts.queues.count - Self.maxQueues
        return HTML(facts.queues.prefix(Self.maxQueues).map(queue)) + .aside(more, "And \(more) more.")
    }

    private func queue(_ queue: ReportFacts.Queue) -> HTML {
        let more = queue.sentences.count - Self.maxSentences
        let rest = HTML.moreItems(more, "\(more)")
        let pending: HTML = queue.pending.map { "<p>Events in it: \(shown.text($0)).</p>" } ?? ""
        return """
            <h3><bdi>\(DisplayText.truncated(queue.capture))</bdi>: <code><bdi>\(DisplayText.truncated(queue.path))</bdi></code></h3>
            \(pending)<ul>\(queue.sentences.prefix(Self.maxSentences).map { "<li><bdi>\(DisplayText.truncated($0))</bdi></li>" })\(rest)</ul>

            """
    }
}
