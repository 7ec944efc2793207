/// The app of several records, with its properties in the record that has the latest time.
///
/// A record that states the version of the app takes precedence over records that do not. Records without a time are
/// the earliest ones. Of records with equal times, the one that was added last takes precedence.
public struct LatestApp: Sendable, Equatable {
    /// The app.
    ///
    /// An id, name or version that the latest record does not contain is from another record.
    public private(set) var app: App
    /// The time of the latest record.
    public private(set) var time: Timestamp?

    /// Creates the app of a record with the given time.
    public init(_ app: App, at time: Timestamp?) {
        self.app = app
        self.time = time
    }

    /// Adds the app of another record.
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

    /// Returns whether the time of the latest record is earlier than that of `other`.
    public func isEarlier(than other: LatestApp) -> Bool {
        guard let otherTime = other.time else { return false }
        return time.map { $0 < otherTime } ?? true
    }
}
