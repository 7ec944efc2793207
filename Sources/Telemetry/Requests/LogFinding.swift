/// The result of reading an entry of a request log, or a line of an NDJSON file.
public enum LogFinding: Sendable {
    /// An upload and the status of its answer. The status is 0 if no answer was captured, and `nil` if the entry states
    /// no status.
    case upload(Record, status: Int?)
    /// A request that is not an upload.
    case other(OtherTraffic)
    /// An entry that cannot be parsed, with a code and an explanation.
    case reject(String)
}

extension Record {
    /// Adds the status of the answer to the record.
    ///
    /// The status is added as a hold if the upload was delivered, and as a note if not.
    public mutating func addAnswer(_ status: Int, isDelivered: Bool) {
        if isDelivered {
            held.append(.delivered(status: status))
        } else {
            notes.append(status == 0 ? "no answer was seen" : "server answered \(status)")
        }
    }

    /// The status of the answer that proves that the upload was delivered, or `nil` if there is no such answer.
    public var deliveredStatus: Int? {
        held.first { $0.code == Hold.delivered(status: 0).code }.flatMap { $0.detail.flatMap { Int($0) } }
    }
}
