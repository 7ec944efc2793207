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

/// The findings of a filter after it was applied to all records.
///
/// The findings are the number of records that were excluded because they have no time, and the requested values that
/// no record has, for example because the values are misspelled.
public struct FilterFindings: Sendable, Equatable {
    /// The number of records that were excluded only because they have no time.
    public fileprivate(set) var withoutTime = 0
    /// The requested systems that occur in records.
    private var systems: Set<SystemName> = []
    private var types: Set<CapturedText> = []
    private var clients: Set<ClientID> = []

    /// A value that the filter requests but no record has.
    public struct Unmatched: Sendable, Equatable {
        /// The condition that requests the value: `system`, `type` or `client`.
        public let condition: String
        /// The requested value.
        public let value: String
    }

    /// Creates empty findings.
    public init() {}

    /// Notes which of the requested values `record` has.
    ///
    /// `client` is `nil` if the filter does not request any client.
    fileprivate mutating func note(_ record: borrowing Record, client: ClientID?, of filter: RecordFilter) {
        if filter.systems.contains(record.system) { systems.insert(record.system) }
        if filter.types.contains(record.type) { types.insert(record.type) }
        if let client, filter.clients.contains(client) { clients.insert(client) }
    }

    /// Adds the findings about other records.
    public mutating func add(_ other: FilterFindings) {
        withoutTime += other.withoutTime
        systems.formUnion(other.systems)
        types.formUnion(other.types)
        clients.formUnion(other.clients)
    }

    /// Returns the requested values that no record has, ordered by condition and value.
    public func unmatched(of filter: RecordFilter) -> [Unmatched] {
        let missing = [
            ("client", filter.clients.subtracting(clients).map(\.lowercased)),
            ("system", filter.systems.subtracting(systems).map { CapturedText($0.description) }),
            ("type", Array(filter.types.subtracting(types))),
        ]
        return missing.flatMap { condition, values in
            values.sortedStrings.map { Unmatched(condition: condition, value: $0) }
        }
    }
}
