import Bytes

/// The properties of a record that are kept for statistics after the record is written.
public struct RecordSummary: Sendable, Equatable {
    /// The system of the record.
    public let system: SystemName
    /// The type of the upload in the terms of the system.
    public let type: String
    /// The client id, as stored, or `nil` if it is unknown.
    public let client: String?
    /// The time at which the device queued the upload, or `nil` if it is unknown.
    public let time: Timestamp?
    /// The bundle id or application id of the app, or `nil` if it is unknown.
    public let appID: String?
    /// The name of the app in upload paths, or `nil` if it is unknown.
    public let appName: String?
    /// The version of the app, or `nil` if it is unknown.
    public let appVersion: String?
    /// The codes of the record's holds, without duplicates, in alphabetical order.
    public let holds: [String]
    /// The id of the pseudonym key, or `nil` if the record has no pseudonyms.
    @OptionalCapturedText public private(set) var pseudonymKeyID: String?

    /// Creates the summary of a record.
    public init(_ record: borrowing Record) {
        system = record.system
        type = record.type
        client = record.client
        time = record.time
        appID = record.app?.id
        appName = record.app?.name
        appVersion = record.app?.version
        holds = record.held.isEmpty ? [] : Set(record.held.map { CapturedText($0.code) }).sortedStrings
        pseudonymKeyID = record.held.contains(.pseudonymized) ? record.pseudonymKeyID : nil
    }

    /// Whether the record can be uploaded as it is.
    public var isUploadable: Bool { holds.isEmpty }
}
