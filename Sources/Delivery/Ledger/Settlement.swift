import Telemetry

/// An upload with its outcome.
public struct Settlement: Sendable {
    /// The upload.
    public let send: PlannedUpload
    /// The id of the record, which is needed for the list of refused records.
    public let recordID: String
    /// The outcome of the upload.
    public let outcome: Outcome
    /// The last pause that the server requested, or `nil` if it requested none.
    public let pause: Pause?

    /// Creates a settlement of an upload.
    public init(_ send: PlannedUpload, recordID: String, outcome: Outcome, pause: Pause? = nil) {
        self.send = send
        self.recordID = recordID
        self.outcome = outcome
        self.pause = pause
    }
}

/// The result of marking an upload as in flight.
public enum MarkResult: Sendable, Equatable {
    /// The upload is durably marked and may be sent.
    case marked
    /// The day's quota is used up, because the day of the plan has ended or the clock was set back.
    case dailyLimit
}
