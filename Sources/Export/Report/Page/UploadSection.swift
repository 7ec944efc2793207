/// The section about uploads: uploadable records, held records, and the duration of the uploads.
extension ReportPage {
    var uploadSection: PageSection {
        PageSection(
            id: "go", title: "Uploads",
            lead:
                "Each record is uploaded unless it is held for a reason. Held records stay in the bundle and are not lost.",
            content: [shareChart, nightText, holdTable])
    }

    private var shareChart: HTML {
        guard tally.records > 0 else { return "<p>There are no records.</p>" }
        let held = tally.records - tally.uploadable
        let part = 1000 * Double(shown.chartValue(tally.uploadable))
        let sum = Double(max(1, shown.chartValue(tally.uploadable) + shown.chartValue(held)))
        let width = Int((part / sum).rounded())
        return """
            <figure><svg class="share" role="img" aria-labelledby="share-title" viewBox="0 0 1000 40" preserveAspectRatio="none">\
            <title id="share-title">\(shown.text(tally.uploadable)) uploadable, \(shown.text(held)) held</title>\
            <rect class="s0" width="\(width)" height="40"/><rect class="s1" x="\(width)" width="\(1000 - width)" height="40"/></svg>
            <figcaption><ul class="legend">\
            <li>\(.key(0)) <b id="uploadable">\(shown.text(tally.uploadable))</b> uploadable</li>\
            <li>\(.key(1)) <b id="held">\(shown.text(held))</b> held</li></ul></figcaption></figure>
            """
    }

    private var nightText: HTML {
        guard tally.uploadable > 0 else { return "" }
        let nights = UploadNights(tally).count
        return """
            <p>With one job each night, the uploads take at least <b id="nights">\(nights)</b> night\(nights == 1 ? "" : "s"). A client can \
            upload at most \(UploadNights.dailyLimit) records a day, and at most \(UploadNights.typeLimit) records of one type in a job.</p>
            """
    }

    private var holdTable: HTML {
        let sorted = tally.heldRecords.largestFirst
        guard !sorted.isEmpty else { return "" }
        var table = HTMLTable(
            "Reasons why records are held. A record with two reasons is counted for both.",
            ["reason", "meaning", .number("records"), .number("events"), "can it be released?"])
        for (code, count) in sorted {
            let (meaning, isFinal) = CodeMeanings.hold(code, holdCodes)
            let answer: HTML =
                switch isFinal {
                case true?: "no"
                case false?: "yes, if you accept the reason"
                case nil: .captured(nil)
                }
            table.rows.append([
                "<code><bdi>\(code)</bdi></code>", "\(meaning)", "\(shown.text(count))",
                "\(shown.text(tally.heldEvents[code]))", answer,
            ])
        }
        let other = tally.heldRecords.other
        let rest = HTML.aside(other, "Other reasons: \(shown.text(other, "record")).")
        return "<h3>Why records are held</h3>\(table.html)\(rest)"
    }
}
