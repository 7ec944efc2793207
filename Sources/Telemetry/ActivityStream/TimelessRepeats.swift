import Crypto

/// Counts payloads without id and time, which honestly repeat, within one file.
///
/// Source: design of the project, section 2; "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", A13.
struct TimelessRepeats: Sendable {
    private var counts: [Payload: Int] = [:]

    /// What stands for a payload: half of its SHA-256.
    private struct Payload: Hashable {
        let high: UInt64
        let low: UInt64

        init(_ bytes: [UInt8]) {
            var words: [UInt64] = [0, 0]
            for (index, byte) in SHA256.hash(data: bytes).prefix(16).enumerated() {
                words[index / 8] = words[index / 8] << 8 | UInt64(byte)
            }
            (high, low) = (words[0], words[1])
        }
    }

    /// Marks the id of a record without time as that of the n-th of its kind, from the second on.
    mutating func number(_ record: inout Record) {
        guard record.system == .activityStream, record.time == nil else { return }
        let count = counts[Payload(record.payload), default: 0] + 1
        counts[Payload(record.payload)] = count
        if count > 1 { record.id += "#\(count)" }
    }
}
