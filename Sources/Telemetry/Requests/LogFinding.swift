/// The result of reading an entry of a request log, or a line of an NDJSON file.
public enum LogFinding: Sendable {
    /// An upload and the status of its answer. It is 0 if no answer was captured, and `nil` if the log contains no
    /// answers.
    case upload(Record, status: Int?)
    /// A request that is not an upload.
    case other(OtherTraffic)
    /// An entry that cannot be parsed, with a code and an explanation.
    case reject(String)
}

extension Record {
    /// Adds the status of the answer.
    ///
    /// If the upload was delivered, a hold is added to its record.
    public mutating func addAnswer(_ status: Int, isDelivered: Bool) {
        if isDelivered {
            held.append(.delivered(status: status))
        } else {
            notes.append(status == 0 ? "no answer was seen" : "server answered \(status)")
        }
    }

    /// The status of the answer if it proves that the upload was delivered.
    ///
    /// Otherwise, `nil`.
    public var deliveredStatus: Int? {
        held.first { $0.code == Hold.delivered(status: 0).code }.flatMap { $0.detail.flatMap { Int($0) } }
    }
}
