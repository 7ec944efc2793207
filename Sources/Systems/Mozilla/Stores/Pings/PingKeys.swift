import JSONText

/// The keys of a ping envelope.
enum EnvelopeKeys {
    static let documentID: JSONKey = "documentId"
    static let measurements: JSONKey = "measurements"
    static let pingType: JSONKey = "pingType"
    static let timestamp: JSONKey = "timestamp"
    static let uploadPath: JSONKey = "uploadPath"

    static let all = [documentID, measurements, pingType, timestamp, uploadPath]
}

/// The keys of the measurements in a ping that code outside the schema reads.
enum MeasurementKeys {
    static let clientID: JSONKey = "clientId"
    static let created: JSONKey = "created"
    static let events: JSONKey = "events"
    static let processStart: JSONKey = "processStartTimestamp"
    static let searches: JSONKey = "searches"
    static let sequenceNumber: JSONKey = "seq"
    static let timeZone: JSONKey = "tz"
    static let version: JSONKey = "v"

    /// The client id that other Mozilla clients store in place of a discarded client id.
    static let placeholderClient = "c0ffeec0-ffee-c0ff-eec0-ffeec0ffeec0"
}
