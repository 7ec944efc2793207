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

/// The app of several records, with its properties in the record that takes precedence.
///
/// A record that states the version of the app takes precedence over records that do not. If all or none of the records
/// state the version, the record with the latest time takes precedence. Records without a time are the earliest. Of
/// records with equal times, the record that was added last takes precedence.
public struct LatestApp: Sendable, Equatable {
    /// The app with its latest properties.
    ///
    /// An id, name or version that the record with precedence does not contain is from another record.
    public private(set) var app: App
    /// The time of the record that takes precedence, or `nil` if that record has no time.
    public private(set) var time: Timestamp?

    /// Creates the app of a record with the given time.
    public init(_ app: App, at time: Timestamp?) {
        self.app = app
        self.time = time
    }

    /// Adds the app of other records.
    public mutating func add(_ other: LatestApp) {
        let hasVersion = app.version != nil
        let isLatest = (other.app.version != nil) == hasVersion ? !other.isEarlier(than: self) : !hasVersion
        if isLatest {
            app = other.app.filled(from: app)
            time = other.time
        } else {
            app = app.filled(from: other.app)
        }
    }

    /// Returns whether ``time`` is earlier than the time of `other`.
    ///
    /// A missing time is earlier than any time.
    public func isEarlier(than other: LatestApp) -> Bool {
        guard let otherTime = other.time else { return false }
        return time.map { $0 < otherTime } ?? true
    }
}
