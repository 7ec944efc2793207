import JSONText
import Telemetry

/// Whose credential an upload needs.
public struct Account: Sendable, Hashable {
    /// The system that knows the account.
    public let system: TelemetrySystem
    /// Sift's account id; Leanplum's app id, or nothing where the store does not name it.
    public let name: String
    /// Whether the development key is the right one, which Leanplum alone has.
    public let isDevelopment: Bool

    /// Makes an account.
    public init(system: TelemetrySystem, name: String, isDevelopment: Bool = false) {
        self.system = system
        self.name = name
        self.isDevelopment = isDevelopment
    }

    /// The account of a record; nil for systems that ask for none, and where the target names none.
    ///
    /// Sift's account is the one that its path names, so that no record can borrow another account's credential.
    public init?(_ record: borrowing Record, using document: inout JSONDocument) {
        switch record.system {
        case .mozilla, .activityStream: return nil
        case .sift:
            guard let name = record.target?.siftAccount else { return nil }
            self.init(system: .sift, name: name)
        case .leanplum:
            self.init(
                system: .leanplum, name: record.app?.id ?? "",
                isDevelopment: Self.isDevelopment(record.payload, using: &document))
        }
    }

    /// The first request of the list says for all, for lists are never mixed.
    private static func isDevelopment(_ payload: [UInt8], using document: inout JSONDocument) -> Bool {
        guard (try? document.read(payload)) != nil, let list = document.value(of: "data", in: document.root),
            let first = document.firstElement(of: list), let mode = document.value(of: "devMode", in: first)
        else { return false }
        return document.kind(of: mode) == .true
    }
}

extension Account {
    /// The account in words, for reports.
    public var label: String {
        let name = name.isEmpty ? "its app" : name
        return "\(system.rawValue) \(name)\(isDevelopment ? " (development)" : "")"
    }
}
