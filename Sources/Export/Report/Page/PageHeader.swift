/// The head of a report: what was read, how much there is, and whether all is well.
extension ReportPage {
    var head: HTML {
        let more = facts.inputs.count - Self.maxInputs
        return """
            <h1>What the phones left behind</h1>
            <p class="verdict \(isWell ? "good" : "bad")" id="verdict">\(verdict)</p>
            <dl class="figures">\(figures.map { figure($0.id, $0.title, $0.value) })</dl>
            \(pseudonymText)<h2 class="small">What was read, by \(facts.tool)</h2>
            <ul class="inputs">\(facts.inputs.prefix(Self.maxInputs).map(input))\(.moreItems(more, "\(more)"))</ul>
            """
    }

    private static let maxInputs = 50

    private var isWell: Bool { facts.isComplete && tally.quarantine.counts.isEmpty }

    private var verdict: HTML {
        let (records, held) = (tally.records, tally.records - tally.uploadable)
        let broken = tally.quarantine.counts.total
        if !isWell {
            let understood = "\(shown.text(records, "record")) could be read"
            guard broken > 0 else {
                return
                    "Not all is well: something could not be read; \(understood). See <a href=\"#wrong\">what is wrong</a>."
            }
            return """
                Not all is well: \(shown.text(broken, "thing")) could not be understood, but nothing was thrown away; \
                \(understood). See <a href="#wrong">what is wrong</a>.
                """
        }
        if records == 0 { return "Nothing was found: no record lies in what was read." }
        if held == 0 { return "All is well: everything was understood, and every record may be uploaded." }
        return """
            Everything was understood. \(shown.text(tally.uploadable)) of \(shown.text(records, "record")) may be uploaded; \
            \(shown.text(held)) wait, for reasons that stand <a href="#go">below</a>.
            """
    }

    private var pseudonymText: HTML {
        guard let pseudonymized = facts.pseudonymized else { return "" }
        return """
            <p>Without the people: ids are pseudonyms, made with the key <code id="key">\(pseudonymized.keyID)</code>; names, \
            addresses, positions, free text, paths and what could not be understood are left out, and counted.</p>

            """
    }

    private var figures: [(id: String, title: HTML, value: String)] {
        [
            ("records", "records, each of which is one upload", shown.text(tally.records)),
            ("events", "events in them", shown.text(tally.events)),
            ("clients", "clients: apps on phones", shown.text(clients)),
            ("days", "days with records", shown.text(days)),
            ("bytes", "of payload", CountFormatter.size(tally.payloadBytes)),
        ]
    }

    private func figure(_ id: String, _ title: HTML, _ value: String) -> HTML {
        "<div><dt>\(title)</dt><dd id=\"\(id)\">\(value)</dd></div>\n"
    }

    private func input(_ input: ReportFacts.Input) -> HTML {
        let digest: HTML = input.digest.map { "<br><small>digest <code>\($0)</code></small>" } ?? ""
        return "<li>\(HTML.captured(DisplayText.truncated(input.label))) <small>(\(input.kind))</small>\(digest)</li>\n"
    }
}
