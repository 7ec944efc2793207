/// Numbers equal payloads in a file, which can be distinct uploads if they have neither an id nor a time.
public struct RepeatedPayloadCounter: Sendable {
    private let systems: Set<SystemName>
    private var counts: [PayloadDigest: Int] = [:]

    /// Creates a counter for a file.
    public init(_ table: SystemTable) { systems = Set(table.all.filter(\.requests.payloadsRepeat).map(\.name)) }

    /// Appends a number to the id of a record that has no time and repeats the payload of another record.
    public mutating func number(_ record: inout Record) {
        guard record.time == nil, systems.contains(record.system) else { return }
        let payload = PayloadDigest(record.payload[...])
        let count = counts[payload, default: 0] + 1
        counts[payload] = count
        if count > 1 { record.id += "#\(count)" }
    }
}
