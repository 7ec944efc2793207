/// Numbers equal payloads in a file.
///
/// This applies to systems whose payloads have neither an id nor a time, so that equal payloads can be distinct
/// uploads.
public struct RepeatedPayloadCounter: Sendable {
    private let systems: Set<SystemName>
    private var counts: [PayloadDigest: Int] = [:]

    /// Creates a counter for a file.
    public init(_ table: SystemTable) {
        systems = Set(table.all.filter(\.requests.payloadsRepeat).map(\.name))
    }

    /// Appends the number of the repetition to the id of a record without a time, from the second record with the same
    /// payload on.
    ///
    /// A record of a system whose payloads have an id or a time is not changed.
    public mutating func number(_ record: inout Record) {
        guard record.time == nil, systems.contains(record.system) else { return }
        let payload = PayloadDigest(record.payload[...])
        let count = counts[payload, default: 0] + 1
        counts[payload] = count
        if count > 1 { record.id += "#\(count)" }
    }
}
