import Telemetry

/// An upload and what became of it.
public struct Settlement: Sendable {
    /// The upload.
    public let send: PlannedUpload
    /// The id of its record, for the list of what was refused.
    public let recordID: String
    /// What became of it.
    public let outcome: Outcome
    /// The last wish of its server to be left alone; nil if it had none.
    public let pause: Pause?

    /// Settles an upload by its outcome.
    public init(_ send: PlannedUpload, recordID: String, outcome: Outcome, pause: Pause? = nil) {
        self.send = send
        self.recordID = recordID
        self.outcome = outcome
        self.pause = pause
    }
}

/// Whether an upload was marked in flight.
public enum MarkResult: Sendable, Equatable {
    /// It is, durably: it may be sent.
    case marked
    /// The day's quota is used up: it must not be sent today. The plan's day may have ended since, or the clock was set
    /// back.
    case dailyLimit
}
