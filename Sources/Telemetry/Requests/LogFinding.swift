/// The result of reading an entry of a request log, or a line of an NDJSON file.
public enum LogFinding: Sendable {
    /// An upload, and the status of its answer: 0 if none was seen, nil where the log does not tell of answers.
    case upload(Record, status: Int?)
    /// No upload of a documented system.
    case other(OtherTraffic)
    /// Something that cannot be understood: the code of the format document, and words.
    case reject(String)
}

extension Record {
    /// Notes how a request was answered, and holds the record of one that arrived: it is not sent again.
    /// - Parameter status: the status of the answer; 0 if none was seen.
    public mutating func takeAnswer(_ status: Int, isDelivered: Bool) {
        if isDelivered {
            held.append(.delivered(status: status))
        } else {
            notes.append(status == 0 ? "no answer was seen" : "server answered \(status)")
        }
    }

    /// The status of the answer that shows that the request arrived; nil if none does.
    public var deliveredStatus: Int? {
        held.first { $0.code == Hold.delivered(status: 0).code }.flatMap { $0.detail.flatMap { Int($0) } }
    }
}
