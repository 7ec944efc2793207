/// A kind of record: a system and its own name of this kind of upload.
struct RecordKind: Hashable, Sendable {
    let system: String
    let type: String

    var name: String { "\(system) \(type)" }
}

/// An app as a report tells it.
struct ReportApp: Hashable, Sendable {
    /// Its name, else its id.
    var name: String?
    var version: String?

    func updated(by later: ReportApp) -> ReportApp {
        ReportApp(name: later.name ?? name, version: later.version ?? version)
    }
}

/// A model of phone with its operating system.
struct ReportModel: Hashable, Sendable {
    var device: String?
    var os: String?
    var osVersion: String?

    func updated(by later: ReportModel) -> ReportModel {
        ReportModel(device: later.device ?? device, os: later.os ?? os, osVersion: later.osVersion ?? osVersion)
    }
}

/// What is known of the phone of a client.
struct ReportPhone: Hashable, Sendable {
    var app = ReportApp()
    var model = ReportModel()
}

/// A client, by a hash: a million of them take 8 bytes each then.
///
/// The hash has 64 bits and a seed of its own in each run, so that nobody can make two clients that are taken for one.
struct ClientKey: Hashable, Sendable {
    private let hash: Int

    /// - Parameter client: nil for the records of a system without a client.
    init(system: String, client: String?) {
        var hasher = Hasher()
        hasher.combine(system)
        hasher.combine(client?.lowercased())
        hash = hasher.finalize()
    }

    /// The records of one type that a client has.
    func type(_ type: String) -> ClientKey { ClientKey(of: self, type: type) }

    private init(of client: ClientKey, type: String) {
        var hasher = Hasher()
        hasher.combine(client.hash)
        hasher.combine(type)
        hash = hasher.finalize()
    }
}

struct EventKind: Hashable, Sendable {
    let app: String?
    let name: String?
    let label: String?
}

struct SearchKind: Hashable, Sendable {
    let engine: String
    let source: String?
}

/// A place in a capture that is named as an example of a code.
struct CodeExample: Sendable, Equatable {
    let capture: String
    let path: String
    let offset: Int?
    /// What was found, in words.
    let text: String
}
