/// Can it go: what may be uploaded, what is held and why, and how long the uploads take.
extension ReportPage {
    var uploadSection: PageSection {
        PageSection(
            id: "go", title: "Can it go",
            lead:
                "A record is uploaded as it stands, or held for a reason. What is held stays in the bundle and is not lost.",
            content: [share, nightText, holdTable])
    }

    private var share: HTML {
        guard tally.records > 0 else { return "<p>There are no records.</p>" }
        let held = tally.records - tally.uploadable
        let room = 1000 * Double(shown.chartValue(tally.uploadable))
        let sum = Double(max(1, shown.chartValue(tally.uploadable) + shown.chartValue(held)))
        let width = Int((room / sum).rounded())
        return """
            <figure><svg class="share" role="img" aria-labelledby="share-title" viewBox="0 0 1000 40" preserveAspectRatio="none">\
            <title id="share-title">\(shown.text(tally.uploadable)) may go, \(shown.text(held)) are held</title>\
            <rect class="s0" width="\(width)" height="40"/><rect class="s1" x="\(width)" width="\(1000 - width)" height="40"/></svg>
            <figcaption><ul class="legend">\
            <li>\(.key(0)) <b id="uploadable">\(shown.text(tally.uploadable))</b> may be uploaded</li>\
            <li>\(.key(1)) <b id="held">\(shown.text(held))</b> are held</li></ul></figcaption></figure>
            """
    }

    private var nightText: HTML {
        guard tally.uploadable > 0 else { return "" }
        let nights = UploadNights(tally).count
        return """
            <p>With one job a night, the uploads take at least <b id="nights">\(nights)</b> night\(nights == 1 ? "" : "s"): a client may upload \
            \(UploadNights.daily) times a day, and \(UploadNights.perType) times of one type in a job.</p>
            """
    }

    private var holdTable: HTML {
        let sorted = tally.heldRecords.largestFirst
        guard !sorted.isEmpty else { return "" }
        var table = HTMLTable(
            "Why records are held; one that is held for two reasons counts in both",
            [
                "reason", "what it means", .number("records"), .number("events in them"), "may somebody release it?",
            ])
        for (code, count) in sorted {
            let (meaning, isFinal) = CodeMeanings.hold(code, holdCodes)
            let answer: HTML =
                switch isFinal {
                case true?: "no, never"
                case false?: "yes, who accepts the reason"
                case nil: .captured(nil)
                }
            table.rows.append([
                "<code><bdi>\(code)</bdi></code>", "\(meaning)", "\(shown.text(count))",
                "\(shown.text(tally.heldEvents[code]))", answer,
            ])
        }
        let other = tally.heldRecords.other
        let rest = HTML.aside(other, "And for other reasons: \(shown.text(other, "record")).")
        return "<h3>Why records are held</h3>\(table.html)\(rest)"
    }
}
