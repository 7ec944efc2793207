/// The minimum number of nights that are needed to upload the records, with one job each night.
///
/// A client can make at most 100 uploads a day, and at most 40 uploads of one type in a job.
///
/// Source: "Upload rules".
struct UploadNights {
    static let dailyLimit = 100
    static let typeLimit = 40

    let count: Int

    init(_ tally: ReportTally) {
        let ofType = Int(tally.uploads.values.max() ?? 0)
        let ofAll = tally.clients.maxUploadable
        count = max((ofType + Self.typeLimit - 1) / Self.typeLimit, (ofAll + Self.dailyLimit - 1) / Self.dailyLimit)
    }
}
