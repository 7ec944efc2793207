/// How many nights the uploads take at least, with one job a night.
///
/// Source: "Upload rules": at most 100 uploads a day and at most 40 of a type in a job, both a client.
struct UploadNights {
    static let daily = 100
    static let perType = 40

    let count: Int

    init(_ tally: ReportTally) {
        let ofType = Int(tally.uploads.values.max() ?? 0)
        let ofAll = tally.clients.mostUploadable
        count = max((ofType + Self.perType - 1) / Self.perType, (ofAll + Self.daily - 1) / Self.daily)
    }
}
