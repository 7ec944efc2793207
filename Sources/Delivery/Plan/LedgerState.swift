import Bytes
import Telemetry

/// An upload that was marked in flight and not settled: nothing more is known of it.
public struct InFlightUpload: Sendable, Equatable {
    /// The client whose quota it took last.
    public var client: ClientName
    /// The day whose quota it took last.
    public var day: Int
    /// When it was marked.
    public var time: Timestamp

    /// Whether it has its place in a day's quota of a client. One of a later day, seen by a clock that was set back, has
    /// not: that day's quota may be full.
    func isCounted(for client: ClientName, on today: Int) -> Bool { self.client == client && day == today }
}

/// What a ledger knows of a record.
public struct RecordHistory: Sendable, Equatable {
    /// What became of it.
    public enum Outcome: Sendable, Equatable {
        /// Not settled.
        case none
        /// Delivered, or settled because nothing of it was left to send.
        case delivered
        /// Refused by the server for good.
        case refused
        /// Not delivered, and never to be.
        case givenUp
    }

    /// What became of it.
    public var outcome: Outcome
    /// Seconds since 1970 of the last settlement of another payload under its id.
    private let otherSeconds: OptionalUInt32

    /// The last second that is stored, in the year 2106. Later ones become it.
    private static let lastSecond = Int64(UInt32.max) - 1

    /// When another payload under its id was last settled.
    public var otherPayloadTime: Timestamp? {
        otherSeconds.value.flatMap { Timestamp(milliseconds: Int64($0) * 1000) }
    }

    /// Keeps the instant to the second, which is all that is asked for.
    public init(_ outcome: Outcome = .none, otherPayloadTime: Timestamp? = nil) {
        self.outcome = outcome
        otherSeconds = OptionalUInt32(
            otherPayloadTime.map { UInt32(clamping: min($0.milliseconds / 1000, Self.lastSecond)) })
    }
}

/// The knowledge of a ledger that a plan needs, as values.
public struct LedgerState: Sendable {
    /// What is known of each candidate, in their order.
    public var histories: [RecordHistory] = []
    /// Which items were delivered, in the order of all items of the pool.
    public var deliveredItems: [Bool] = []
    /// Events that were refused, by the record of which another part is still to be sent.
    public var refusedItems: [DeliveryKey: Set<ItemKey>] = [:]
    /// Uploads marked in flight and not settled.
    public var inFlight: [DeliveryKey: InFlightUpload] = [:]
    /// Clients that asked for the deletion of their data: such a request was settled or is in flight.
    public var deletedClients: Set<ClientName> = []
    /// How many uploads each client has had of today's quota.
    public var used: [ClientName: Int] = [:]

    /// Servers that asked to be left alone.
    public var pauses: [Pause] = []

    /// Makes the state of an empty ledger.
    public init() {}

    /// Returns what is known of the candidate at `index`. A ledger without an entry for it knows nothing.
    func history(of index: Int) -> RecordHistory {
        histories.indices.contains(index) ? histories[index] : RecordHistory()
    }

    /// Returns whether the item at an index of the pool was delivered.
    func isDelivered(item index: Int) -> Bool { deliveredItems.indices.contains(index) && deliveredItems[index] }
}
