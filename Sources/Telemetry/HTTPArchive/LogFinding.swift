/// What an entry of a request log, or a line of an NDJSON file, turned out to be.
public enum LogFinding: Sendable {
    /// An upload, and the status of its answer: 0 if none was seen, nil where the log does not tell of answers.
    case upload(Record, status: Int?)
    /// No upload of a documented system.
    case other(OtherTraffic)
    /// Something that cannot be understood: the code of the format document, and words.
    case reject(String)
}

/// Traffic in a request log that is not converted.
public enum OtherTraffic: String, Sendable, CaseIterable {
    /// Nothing to do with the four systems, or nothing that went over the network.
    case unrelated = "other-traffic"
    /// A call to Leanplum that is no `multi` call.
    case leanplumSingleCall = "leanplum_single_call"
    /// A ping of Activity Stream's predecessor.
    case onyx
    /// A ping of another client of Ping Centre.
    case otherTopic = "other-topic"

    /// What it is, in words that follow a number.
    public var words: String {
        switch self {
        case .unrelated: "not of a documented system"
        case .leanplumSingleCall: "to Leanplum without stored requests in it"
        case .onyx: "of Onyx, the predecessor of Activity Stream's pings, which has neither topic nor client"
        case .otherTopic: "to Ping Centre with a topic of another client"
        }
    }
}

extension Record {
    /// Takes down how a request was answered: one that arrived is not to be sent again.
    /// - Parameter status: the status of the answer; 0 if none was seen.
    mutating func takeAnswer(_ status: Int) {
        let isDelivered = system == .activityStream ? (200..<300).contains(status) : status == 200
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
