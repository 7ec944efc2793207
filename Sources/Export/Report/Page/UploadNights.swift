/// The minimum number of nights that are needed to upload the records, with one job each night.
///
/// A client can make at most 100 uploads a day, and at most 40 uploads of one type in a job.
///
/// Source: "Upload rules".
struct UploadNights {
    static let dailyUploadLimit = 100
    static let uploadLimitPerTypeAndJob = 40

    let count: Int

    init(_ tally: ReportTally) {
        let ofType = Int(tally.uploadCounts.values.max() ?? 0)
        let ofAll = tally.clients.maxUploadableCount
        count = max(
            (ofType + Self.uploadLimitPerTypeAndJob - 1) / Self.uploadLimitPerTypeAndJob,
            (ofAll + Self.dailyUploadLimit - 1) / Self.dailyUploadLimit)
    }
}
