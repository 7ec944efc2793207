/// What is to be told of a filter when all records were asked: what it left out without a reason in the record, and which of
/// its conditions no record meets, as a misspelt one does.
public struct FilterFindings: Sendable, Equatable {
    /// How many records were left out because they have no time: all other conditions let them pass.
    public private(set) var withoutTime = 0
    /// The systems that were asked for and that some record is of.
    private var systems: Set<SystemName> = []
    /// The types that were asked for and that some record has.
    private var types: Set<String> = []
    /// The clients that were asked for and that some record is of.
    private var clients: Set<String> = []

    /// A condition, and a value of it that no record has.
    public struct Unmatched: Sendable, Equatable {
        /// What is asked for: `system`, `type` or `client`.
        public let condition: String
        /// The value.
        public let value: String
    }

    /// Begins with no record asked.
    public init() {}

    /// Notes which of the values that a filter names a record has.
    /// - Parameter client: the record's in lower case; nil if no client is asked for.
    mutating func note(_ record: borrowing Record, client: String?, of filter: RecordFilter) {
        if filter.systems.contains(record.system) { systems.insert(record.system) }
        if filter.types.contains(record.type) { types.insert(record.type) }
        if let client, filter.clients.contains(client) { clients.insert(client) }
    }

    mutating func noteWithoutTime() { withoutTime += 1 }

    /// Adds what was found in other records.
    public mutating func add(_ other: FilterFindings) {
        withoutTime += other.withoutTime
        systems.formUnion(other.systems)
        types.formUnion(other.types)
        clients.formUnion(other.clients)
    }

    /// The values of a filter that no record has, by condition and value.
    public func unmatched(of filter: RecordFilter) -> [Unmatched] {
        let missing = [
            ("client", filter.clients.subtracting(clients)),
            ("system", Set(filter.systems.subtracting(systems).map(\.description))),
            ("type", filter.types.subtracting(types)),
        ]
        return missing.flatMap { condition, values in
            values.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map {
                Unmatched(condition: condition, value: $0)
            }
        }
    }
}
