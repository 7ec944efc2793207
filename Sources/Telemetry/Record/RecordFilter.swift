import Bytes

/// A filter for records.
///
/// A condition that is not set accepts all records.
public struct RecordFilter: Sendable {
    /// The accepted systems, or an empty set if all systems are accepted.
    public var systems: Set<SystemName> = []
    /// The accepted record types, or an empty set if all types are accepted.
    public var types: Set<CapturedText> = []
    /// The earliest accepted time, or `nil` if there is no such limit.
    ///
    /// If it is set, records without a time are excluded.
    public var since: Timestamp?
    /// The exclusive end of the accepted times, or `nil` if there is no such limit.
    ///
    /// If it is set, records without a time are excluded.
    public var until: Timestamp?
    /// The accepted clients, or an empty set if all clients are accepted.
    public var clients: Set<ClientID> = []
    /// Whether only records that can be uploaded are accepted.
    public var uploadableOnly = false

    /// Creates a filter that accepts all records.
    public init() {}

    private var hasTimeRange: Bool { since != nil || until != nil }
    private var hasValueSets: Bool { !systems.isEmpty || !types.isEmpty || !clients.isEmpty }

    /// Returns whether the filter accepts `record`, and adds the requested values that the record has to `findings`.
    public func passes(_ record: borrowing Record, noting findings: inout FilterFindings) -> Bool {
        guard hasValueSets || hasTimeRange || uploadableOnly else { return true }
        let client = clients.isEmpty ? nil : record.client.map { ClientID($0) }
        if hasValueSets { findings.note(record, client: client, of: self) }
        if !systems.isEmpty, !systems.contains(record.system) { return false }
        if !types.isEmpty, !types.contains(record.type) { return false }
        if uploadableOnly, !record.held.isEmpty { return false }
        if !clients.isEmpty, !(client.map(clients.contains) ?? false) { return false }
        guard hasTimeRange else { return true }
        guard let time = record.time else {
            findings.withoutTime += 1
            return false
        }
        if let since, time < since { return false }
        if let until, time >= until { return false }
        return true
    }
}
