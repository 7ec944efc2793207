/// The name of a system as records have it, such as `mozilla`. Each system declares its own; equal names are one system.
public struct SystemName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The name in records, options and reports.
    public let description: String

    /// Declares a name: lower-case words joined by hyphens.
    public init(_ name: String) {
        description = name
    }

    /// Whether a name comes first in the order of the alphabet.
    public static func < (left: SystemName, right: SystemName) -> Bool { left.description < right.description }
}

/// A kind of store as records and reports name it, such as `mozilla-ping-file`. Each system declares its own.
public struct StoreKind: Hashable, Sendable, CustomStringConvertible {
    /// The name in `source.store`.
    public let description: String

    /// Declares a kind: lower-case words joined by hyphens.
    public init(_ name: String) {
        description = name
    }

    /// An entry of an HTTP archive, whichever system the request went to.
    public static let harEntry = StoreKind("har-entry")
    /// A line of an NDJSON file, whichever system its payload is of.
    public static let ndjsonLine = StoreKind("ndjson-line")

    /// The kinds of request logs, which contain the traffic of any number of apps and systems.
    public static let requestLogs: [StoreKind] = [.harEntry, .ndjsonLine]

    /// Whether the store is a request log.
    public var isRequestLog: Bool { Self.requestLogs.contains(self) }
}
