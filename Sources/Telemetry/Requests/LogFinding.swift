/// The result of reading an entry of a request log, or a line of an NDJSON file.
public enum LogFinding: Sendable {
    /// An upload and the status of its answer, which is 0 if none was captured and `nil` if the log has no answers.
    case upload(Record, status: Int?)
    /// Other traffic.
    case other(OtherTraffic)
    /// An entry that cannot be parsed, with the code of the format document and an explanation.
    case reject(String)
}

extension Record {
    /// Adds the answer to a captured request, and holds the record if the upload was delivered.
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
