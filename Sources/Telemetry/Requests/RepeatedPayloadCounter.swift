import Bytes

/// A counter that numbers the records with equal payloads of a type in a file.
///
/// The numbers distinguish the ids of the records, because equal payloads without an id and a time can be distinct
/// uploads.
public struct RepeatedPayloadCounter: Sendable {
    private let systems: Set<SystemName>
    private var counts: [Key: Int] = [:]

    private struct Key: Hashable {
        @CapturedText var type: String
        let payload: PayloadDigest
    }

    /// Creates a counter for a request log with records of the given systems.
    public init(_ table: SystemTable) { systems = Set(table.all.filter(\.requests.payloadsRepeat).map(\.name)) }

    /// Creates a counter for a store of `system`.
    public init(_ system: SystemName) { systems = [system] }

    /// Appends a number to the id of `record` if the record has no time and its payload occurred before.
    public mutating func number(_ record: inout Record) {
        guard record.time == nil, systems.contains(record.system) else { return }
        let key = Key(type: record.type, payload: PayloadDigest(record.payload[...]))
        let count = counts[key, default: 0] + 1
        counts[key] = count
        if count > 1 { record.id += "#\(count)" }
    }
}
