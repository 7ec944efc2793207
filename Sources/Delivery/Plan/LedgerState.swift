import Bytes
import Telemetry

/// An upload that was marked as in flight and is not settled, so that its outcome is unknown.
public struct InFlightUpload: Sendable, Equatable {
    /// The client whose quota the upload last counted toward.
    public var client: ClientName
    /// The day whose quota the upload last counted toward.
    public var day: Int
    /// The time at which the upload was marked.
    public var time: Timestamp

    /// Returns whether the upload already counts toward the quota of `client` on the day `today`.
    ///
    /// The result is `false` if the upload counts toward a later day because the clock was set back. In this case, it
    /// needs quota of today, which may be used up.
    func isCounted(for client: ClientName, on today: Int) -> Bool { self.client == client && day == today }
}

/// The entries of a ledger about one record.
public struct RecordHistory: Sendable, Equatable {
    /// The final outcome of a record.
    public enum Outcome: Sendable, Equatable {
        /// The record is not settled.
        case none
        /// The record was delivered, or settled because nothing was left to send.
        case delivered
        /// The server refused the record.
        case refused
        /// The operator gave up the record, so that it is never sent.
        case givenUp
    }

    /// The outcome of the record.
    public var outcome: Outcome
    /// The value of ``otherPayloadTime``, in seconds since 1970.
    private let otherPayloadSeconds: OptionalUInt32

    /// The latest time that can be stored, in seconds since 1970, which is in the year 2106.
    private static let maximumSeconds = Int64(UInt32.max) - 1

    /// The time at which another payload with the same id was last settled, or `nil` if none was settled.
    public var otherPayloadTime: Timestamp? {
        otherPayloadSeconds.value.flatMap { Timestamp(milliseconds: Int64($0) * 1000) }
    }

    /// Creates a history, storing the time with a precision of seconds.
    public init(_ outcome: Outcome = .none, otherPayloadTime: Timestamp? = nil) {
        self.outcome = outcome
        otherPayloadSeconds = OptionalUInt32(
            otherPayloadTime.map { UInt32(clamping: min($0.milliseconds / 1000, Self.maximumSeconds)) })
    }
}

/// The contents of a ledger that are needed to make a plan.
public struct LedgerState: Sendable {
    /// The history of each candidate, in the order of the pool.
    public var histories: [RecordHistory] = []
    /// Whether each item of the pool was delivered, by the index of the item.
    public var deliveredItems: [Bool] = []
    /// The refused events of each list whose other parts are not settled, by the key of the list.
    public var refusedItems: [DeliveryKey: Set<ItemKey>] = [:]
    /// The uploads that were marked as in flight and are not settled, by key.
    public var inFlight: [DeliveryKey: InFlightUpload] = [:]
    /// The clients whose remaining records are not sent.
    ///
    /// A request for the deletion of their data was settled or is in flight, or a server accepts no more of their
    /// uploads.
    public var deletedClients: Set<ClientName> = []
    /// The final withdrawals that earlier jobs stored, of the clients and profiles of the pool.
    public var withdrawals: [Withdrawal] = []
    /// The records that are not sent any more, because they alone failed with server errors in several jobs.
    public var setAside: Set<DeliveryKey> = []
    /// The number of uploads of each client that count toward today's quota.
    public var usedQuotas: [ClientName: Int] = [:]

    /// The pauses requested by servers.
    public var pauses: [Pause] = []

    /// Creates the state of an empty ledger.
    public init() {}

    /// Returns the history of the candidate at `index`, or an empty history if the ledger has no entry.
    func history(of index: Int) -> RecordHistory {
        histories.indices.contains(index) ? histories[index] : RecordHistory()
    }

    func isDelivered(item index: Int) -> Bool { deliveredItems.indices.contains(index) && deliveredItems[index] }
}
