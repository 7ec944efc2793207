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
            upload at most \(UploadNights.dailyUploadLimit) records a day, and at most \(UploadNights.uploadLimitPerTypeAndJob) records of one type in a job.</p>
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
