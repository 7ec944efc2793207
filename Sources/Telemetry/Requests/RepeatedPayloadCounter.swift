/// A counter that numbers equal payloads in a file.
///
/// Equal payloads without an id and a time can be distinct uploads.
public struct RepeatedPayloadCounter: Sendable {
    private let systems: Set<SystemName>
    private var counts: [PayloadDigest: Int] = [:]

    /// Creates a counter for a file with records of the given systems.
    public init(_ table: SystemTable) { systems = Set(table.all.filter(\.requests.payloadsRepeat).map(\.name)) }

    /// Appends a number to the record's id if it has no time and its payload occurred before.
    public mutating func number(_ record: inout Record) {
        guard record.time == nil, systems.contains(record.system) else { return }
        let payload = PayloadDigest(record.payload[...])
        let count = counts[payload, default: 0] + 1
        counts[payload] = count
        if count > 1 { record.id += "#\(count)" }
    }
}
