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
        let unparsed = tally.quarantine.counts.total
        return countFormatter.hidesSmallCounts ? countFormatter.isHidden(unparsed) : facts.isComplete && unparsed == 0
    }

    private var verdict: HTML {
        let (records, held) = (tally.recordCount, tally.recordCount - tally.uploadableCount)
        let unparsed = tally.quarantine.counts.total
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
            \(parsed) \(countFormatter.text(tally.uploadableCount)) of \(countFormatter.text(records, "record")) can be uploaded, \
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
            ("records", "records (one upload each)", countFormatter.text(tally.recordCount)),
            ("events", "events in the records", countFormatter.text(tally.eventCount)),
            ("clients", "clients (one app on one phone each)", countFormatter.text(clientCount)),
            ("days", "days with records", countFormatter.text(dayCount)),
        ]
        // The total size is omitted, because it would reveal the exact number of payloads if all had the same length.
        guard !countFormatter.hidesSmallCounts else { return counts }
        return counts + [("bytes", "of payload", CountFormatter.size(tally.payloadByteCount))]
    }

    private func figure(_ id: String, _ title: HTML, _ value: String) -> HTML {
        "<div><dt>\(title)</dt><dd id=\"\(id)\">\(value)</dd></div>\n"
    }

    private func input(_ input: ReportFacts.Input) -> HTML {
        let digest: HTML = input.digest.map { "<br><small>digest <code>\($0)</code></small>" } ?? ""
        let filters = input.filters.map { "<br><small>\(HTML.captured(DisplayText.truncated($0)))</small>" as HTML }
        return """
            <li>\(HTML.captured(DisplayText.truncated(input.label))) <small>(\(input.kind))</small>\(digest)\(filters)</li>

            """
    }
}
