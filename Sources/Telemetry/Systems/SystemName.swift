/// The name of a system in records, such as `mozilla`.
public struct SystemName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The name in records, options and reports.
    public let description: String

    /// Creates a name of lowercase words joined by hyphens.
    public init(_ name: String) { description = name }

    /// Returns whether `left` is before `right` in alphabetical order.
    public static func < (left: SystemName, right: SystemName) -> Bool { left.description < right.description }
}

/// The kind of a store in records and reports, such as `mozilla-ping-file`.
public struct StoreKind: Hashable, Sendable, CustomStringConvertible {
    /// The name of the kind in the member `source.store` of a record.
    public let description: String

    /// Creates a kind with a name of lowercase words joined by hyphens.
    public init(_ name: String) { description = name }

    /// An entry of an HTTP archive, for requests to any system.
    public static let harEntry = StoreKind("har-entry")
    /// A line of an NDJSON file, for payloads of any system.
    public static let ndjsonLine = StoreKind("ndjson-line")

    /// The kinds of request logs.
    ///
    /// A request log can contain the traffic of any number of apps and systems.
    public static let requestLogs: [StoreKind] = [.harEntry, .ndjsonLine]

    /// Whether the store is a request log.
    public var isRequestLog: Bool { Self.requestLogs.contains(self) }
}
