/// An upload in a plan.
public struct PlannedUpload: Sendable, Hashable {
    /// The key of the upload in the ledger.
    public let key: DeliveryKey
    /// The key of the whole record in the ledger.
    public let recordKey: DeliveryKey
    /// The index of the client in ``PlanNames/clients``.
    public let clientIndex: UInt32
    /// The index of the type in ``PlanNames/types``.
    public let typeIndex: UInt32
    /// The index of the account whose credential is needed, or `nil` if none is needed.
    public let accountIndex: UInt32?
    /// The location of the record.
    public let location: RecordLocation
    /// The events in the upload, or an empty array if the record is not a list.
    public let items: [SentItem]
    /// Whether the upload contains the whole record, unchanged.
    public let isWhole: Bool
    /// Whether settling this upload completes the record.
    public let completesRecord: Bool
    /// Whether another part of the record was refused in an earlier job.
    public let followsRefusal: Bool
}

extension PlannedUpload {
    /// Creates an upload of a whole record that is not a list.
    init(of candidate: Candidate) {
        self.init(
            of: candidate, key: candidate.key, items: [], isWhole: true, completesRecord: true, followsRefusal: false)
    }

    /// Creates an upload of `items`, which are some or all events of the list `candidate`.
    ///
    /// `key` identifies the upload in the ledger.
    init(
        of candidate: Candidate, key: DeliveryKey, items: [SentItem], isWhole: Bool, completesRecord: Bool,
        followsRefusal: Bool
    ) {
        self.init(
            key: key, recordKey: candidate.key, clientIndex: candidate.clientIndex, typeIndex: candidate.typeIndex,
            accountIndex: candidate.accountIndex, location: candidate.location, items: items, isWhole: isWhole,
            completesRecord: completesRecord, followsRefusal: followsRefusal)
    }
}
