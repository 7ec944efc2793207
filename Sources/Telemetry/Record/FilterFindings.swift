import Bytes

/// The findings of a filter after it was applied to all records.
///
/// The findings are the number of records that were excluded because they have no time, and the requested values that
/// no record has, for example because the values are misspelled.
public struct FilterFindings: Sendable, Equatable {
    /// The number of records that were excluded only because they have no time.
    public internal(set) var withoutTime = 0
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
    mutating func note(_ record: borrowing Record, client: ClientID?, of filter: RecordFilter) {
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
