import Telemetry

/// An upload with its outcome.
public struct Settlement: Sendable {
    /// The upload to which the outcome belongs.
    public let send: PlannedUpload
    /// The id of the record, which is needed for the list of refused records.
    public let recordID: String
    /// The outcome of the upload.
    public let outcome: Outcome
    /// The last pause that the server requested, or `nil` if no pause has to be stored.
    public let pause: Pause?
    /// Whether the server accepts no more uploads of the client.
    public let endsClient: Bool
    /// The extent to which the upload was attempted.
    public let attempt: Attempt

    /// The extent to which an upload was attempted.
    public enum Attempt: Sendable, Equatable {
        /// No request was made.
        case none
        /// A request was cut off, because the job was stopped.
        case cutOff
        /// The last request was answered, or failed.
        case complete
    }

    /// Creates a settlement with the outcome of the upload `send`.
    public init(
        _ send: PlannedUpload, recordID: String, outcome: Outcome, pause: Pause? = nil, endsClient: Bool = false,
        attempt: Attempt = .complete
    ) {
        self.send = send
        self.recordID = recordID
        self.outcome = outcome
        self.pause = pause
        self.endsClient = endsClient
        self.attempt = attempt
    }
}

/// The result of marking an upload as in flight.
public enum MarkResult: Sendable, Equatable {
    /// The upload is durably marked and may be sent.
    case marked
    /// The day's quota is used up, because the day of the plan has ended or the clock was set back.
    case dailyLimit
}
