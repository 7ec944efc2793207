/// The parts of a record that are counted: they alone stay in memory once its line is written.
public struct RecordSummary: Sendable, Equatable {
    /// The system.
    public let system: SystemName
    /// The system's name of this kind of upload.
    public let type: String
    /// The client, as stored.
    public let client: String?
    /// When the device queued it.
    public let time: Timestamp?
    /// Bundle id of the app.
    public let appID: String?
    /// Name of the app in upload paths.
    public let appName: String?
    /// Version of the app.
    public let appVersion: String?
    /// The codes of what holds the record, each once.
    public let holds: [String]

    /// Summarizes a record.
    public init(_ record: borrowing Record) {
        system = record.system
        type = record.type
        client = record.client
        time = record.time
        appID = record.app?.id
        appName = record.app?.name
        appVersion = record.app?.version
        holds = record.held.isEmpty ? [] : Set(record.held.map(\.code)).sorted()
    }

    /// Whether the record may be uploaded as it stands.
    public var isUploadable: Bool { holds.isEmpty }
}
