/// What became of an upload.
public enum Outcome: Sendable, Equatable {
    /// The server took it; the note says what it did not like about the contents.
    case delivered(status: Int, note: String? = nil)
    /// The server will never take it; why, in words.
    case refused(status: Int, reason: String)
    /// It was surely not taken and may be tried again: the quota is given back, unless an earlier attempt may have arrived.
    case retryLater(status: Int? = nil, reason: String)
    /// It may have arrived: it stays in flight, is sent again with the same id by the next job, and counts once.
    case unknown(reason: String)
    /// The credential is wrong: as if it had not been sent, unless an earlier attempt may have arrived; then it stays in
    /// flight.
    case credentialWrong(status: Int, reason: String, mayHaveArrived: Bool = false)
}

/// An upload and what became of it.
public struct Settlement: Sendable {
    /// The upload.
    public let send: PlannedSend
    /// The id of its record, for the list of what was refused.
    public let recordID: String
    /// What became of it.
    public let outcome: Outcome
    /// What its server asked for at last; nil if nothing.
    public let pause: Pause?

    /// Makes a settlement.
    public init(_ send: PlannedSend, recordID: String, outcome: Outcome, pause: Pause? = nil) {
        self.send = send
        self.recordID = recordID
        self.outcome = outcome
        self.pause = pause
    }
}

/// Whether an upload was marked in flight.
public enum MarkAnswer: Sendable, Equatable {
    /// It is, durably: it may be sent.
    case marked
    /// The day's quota is used up: it must not be sent today. The plan's day may have ended since, or the clock was set
    /// back.
    case dailyLimit
}
