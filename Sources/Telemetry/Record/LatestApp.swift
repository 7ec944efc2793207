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
