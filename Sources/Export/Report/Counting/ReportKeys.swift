import Bundle
import Bytes

/// The system and the type of a record.
struct RecordKind: Hashable, Sendable {
    @CapturedText var system: String
    @CapturedText var type: String

    var name: String { "\(system) \(type)" }
}

/// An app and its version.
struct ReportApp: Hashable, Sendable {
    /// The name of the app, its id if the name is unknown, or `nil` if both are unknown.
    @OptionalCapturedText var name: String?
    @OptionalCapturedText var version: String?
}

/// A phone model with its operating system.
struct ReportModel: Hashable, Sendable {
    @OptionalCapturedText var device: String?
    @OptionalCapturedText var os: String?
    @OptionalCapturedText var osVersion: String?
}

/// A 64-bit hash that identifies a client.
///
/// The hash uses a random seed in each run, so that captured data cannot be crafted to produce equal keys.
struct ClientKey: Hashable, Sendable {
    private let hash: Int

    /// Creates the key of a client.
    ///
    /// Pass `nil` for `client` to identify the records of a system without a client.
    init(system: String, client: String?) {
        var hasher = Hasher()
        hasher.combine(CapturedText(system))
        hasher.combine(lowercasedASCIIOf: client)
        hash = hasher.finalize()
    }

    /// Returns a key for the client's records of the given type.
    func key(forType type: String) -> ClientKey { ClientKey(of: self, type: type) }

    private init(of client: ClientKey, type: String) {
        var hasher = Hasher()
        hasher.combine(client.hash)
        hasher.combine(CapturedText(type))
        hash = hasher.finalize()
    }
}

struct EventKind: Hashable, Sendable {
    @OptionalCapturedText var app: String?
    @OptionalCapturedText var name: String?
    @OptionalCapturedText var label: String?
}

struct SearchKind: Hashable, Sendable {
    @CapturedText var engine: String
    @OptionalCapturedText var source: String?

    /// The name of the engine with ASCII letters in lowercase.
    var caselessEngine: CapturedText { CapturedText(engine).lowercasedASCII() }
}

/// A metric of Glean and its type.
struct MetricKind: Hashable, Sendable {
    @CapturedText var name: String
    @CapturedText var type: String
}

/// The location and the description of an item, as an example of the code of the item.
struct CodeExample: Sendable, Equatable {
    let capture: String
    let path: String
    let offset: Int?
    /// The description of the item.
    let text: String
}
