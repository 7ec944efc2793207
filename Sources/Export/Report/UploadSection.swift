import Telemetry

/// The section about uploads: uploadable records, held records, and the duration of the uploads.
extension ReportPage {
    var uploadSection: PageSection {
        PageSection(
            id: "go", title: "Uploads",
            introduction:
                "Each record is uploaded unless it is held for a reason. Held records stay in the bundle and are not lost.",
            content: [shareChart, nightText, holdTable])
    }

    private var shareChart: HTML {
        guard !countFormatter.isNone(tally.recordCount) else { return countFormatter.noneText("records") }
        let held = tally.recordCount - tally.uploadableCount
        let part = 1000 * Double(countFormatter.chartValue(tally.uploadableCount))
        let sum = Double(max(1, countFormatter.chartValue(tally.uploadableCount) + countFormatter.chartValue(held)))
        let width = Int((part / sum).rounded())
        return """
            <figure><svg class="share" role="img" aria-labelledby="share-title" viewBox="0 0 1000 40" preserveAspectRatio="none">\
            <title id="share-title">\(countFormatter.text(tally.uploadableCount)) uploadable, \(countFormatter.text(held)) held</title>\
            <rect class="s0" width="\(width)" height="40"/><rect class="s1" x="\(width)" width="\(1000 - width)" height="40"/></svg>
            <figcaption><ul class="legend">\
            <li>\(.colorSample(0)) <b id="uploadable">\(countFormatter.text(tally.uploadableCount))</b> uploadable</li>\
            <li>\(.colorSample(1)) <b id="held">\(countFormatter.text(held))</b> held</li></ul></figcaption></figure>
            """
    }

    private var nightText: HTML {
        let nights = UploadNights(tally).count
        // The number of nights is hidden with small counts, because it can depend on a single client.
        guard nights > 0, !countFormatter.hidesSmallCounts else { return "" }
        return """
            <p>With one job each night, the uploads take at least <b id="nights">\(countFormatter.text(nights))</b> night\(nights == 1 ? "" : "s"). A client can \
            upload at most \(DocumentedLimits.dailyUploads) records a day, and at most \(DocumentedLimits.uploadsOfTypeInJob) records of one type in a job.</p>
            """
    }

    private var holdTable: HTML {
        let (shown, otherCount) = countFormatter.shownEntries(tally.heldRecordsByCode.largestFirst, limit: .max)
        let other = otherCount + tally.heldRecordsByCode.otherCount
        let rest = countFormatter.aside(other, "Other reasons: \(countFormatter.text(other, "record")).")
        guard !shown.isEmpty else { return rest }
        var table = HTMLTable(
            "Reasons why records are held. A record with two reasons is counted for both.",
            ["reason", "meaning", .number("records"), .number("events"), "can it be released?"])
        for (code, count) in shown {
            let (meaning, isFinal) = CodeMeanings.holdMeaning(of: code.string, in: holdCodes)
            let answer: HTML =
                switch isFinal {
                case true?: "no"
                case false?: "yes, if you accept the reason"
                case nil: .captured(nil)
                }
            table.rows.append([
                "<code><bdi>\(code.string)</bdi></code>", "\(meaning)", "\(countFormatter.text(count))",
                "\(countFormatter.text(tally.heldEventsByCode[code]))", answer,
            ])
        }
        return "<h3>Why records are held</h3>\(table.html)\(rest)"
    }
}

/// The minimum number of nights that are needed to upload the records, with one job each night.
///
/// The jobs have the documented limits.
struct UploadNights {
    let count: Int

    init(_ tally: ReportTally) {
        func nights(_ uploads: Int, _ limit: Int) -> Int { (uploads + limit - 1) / limit }
        count = max(
            nights(Int(tally.uploadCounts.values.max() ?? 0), DocumentedLimits.uploadsOfTypeInJob),
            nights(tally.clients.maxUploadableCount, DocumentedLimits.dailyUploads))
    }
}

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
        return "<h3>Queues by state</h3>\(table.html)\(rest)"
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
