/// Numbers equal payloads within one file, of systems whose payloads carry neither id nor time and so honestly repeat.
public struct TimelessRepeats: Sendable {
    private let systems: Set<SystemName>
    private var counts: [PayloadDigest: Int] = [:]

    /// Begins a file.
    public init(_ table: SystemTable) {
        systems = Set(table.all.filter(\.requests.payloadsRepeat).map(\.name))
    }

    /// Marks the id of a record without time as that of the n-th with its payload, from the second on; a record of a system
    /// whose payloads do not repeat stays as it is.
    public mutating func number(_ record: inout Record) {
        guard record.time == nil, systems.contains(record.system) else { return }
        let payload = PayloadDigest(record.payload[...])
        let count = counts[payload, default: 0] + 1
        counts[payload] = count
        if count > 1 { record.id += "#\(count)" }
    }
}
