import Bytes
import JSONText

/// A fact of a capture because of which records of a client or profile must not be uploaded.
///
/// A withdrawal applies to all records of its subject in all bundles of a job, not only to those of its own capture.
/// Final withdrawals are stored in the ledger, so that they also apply to later jobs.
///
/// Source: "The record", section "Withdrawals".
public struct Withdrawal: Sendable, Hashable {
    /// The kind of a withdrawal.
    public enum Reason: String, Sendable, CaseIterable {
        /// The user asked a service to forget the device.
        case forgotten
        /// An app requested the deletion of the data of its client or profile.
        case deletionRequested = "deletion-requested"
        /// The user has switched off usage data in the settings of an app.
        case optedOut = "opted-out"

        /// Whether the operator cannot release records from the withdrawal.
        public var isFinal: Bool { self != .optedOut }
    }

    /// The client or profile whose records must not be uploaded.
    public struct Subject: Sendable, Hashable {
        /// The kind of id that identifies a subject.
        public enum Kind: String, Sendable {
            /// The client of a record.
            case client
            /// A profile, which records name in their payloads instead of a client.
            case profile
        }

        /// The system of the records.
        public let system: SystemName
        /// The kind of the id.
        public let kind: Kind
        /// The id of the client or profile.
        public let id: ClientID

        /// Creates a subject, ignoring the case of ASCII letters in `id`.
        public init(_ system: SystemName, _ kind: Kind, id: String) {
            (self.system, self.kind, self.id) = (system, kind, ClientID(id))
        }
    }

    /// The kind of the withdrawal.
    public let reason: Reason
    /// The client or profile whose records must not be uploaded.
    public let subject: Subject
    /// The label of the capture that contains the fact.
    @CapturedText public private(set) var capture: String
    /// The path of the file that contains the fact, relative to the root of the capture.
    @CapturedText public private(set) var path: String

    /// Creates a withdrawal.
    public init(_ reason: Reason, of subject: Subject, capture: String, path: String) {
        (self.reason, self.subject, self.capture, self.path) = (reason, subject, capture, path)
    }

    /// The withdrawal as canonical JSON, which is a line of `withdrawals.ndjson`.
    public var json: CanonicalObject {
        [
            "capture": capture, "code": reason.rawValue, "id": subject.id.lowercased.string,
            "kind": subject.kind.rawValue, "path": path, "system": subject.system.description,
        ]
    }

    /// Reads a line of `withdrawals.ndjson`.
    ///
    /// Returns `nil` if the line is malformed or if the system is unknown.
    public init?(json bytes: [UInt8], knowing systems: SystemTable) {
        guard let fields = try? JSONFields(bytes), let capture = fields.text("capture"), let path = fields.text("path"),
            let reason = fields.text("code").flatMap(Reason.init), let id = fields.text("id"),
            let kind = fields.text("kind").flatMap(Subject.Kind.init),
            let system = fields.text("system").flatMap(systems.name)
        else { return nil }
        self.init(reason, of: Subject(system, kind, id: id), capture: capture, path: path)
    }
}

extension Withdrawal.Subject: CustomStringConvertible {
    /// A description such as `adjust client 5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415`.
    public var description: String { "\(system) \(kind.rawValue) \(id.lowercased.string)" }
}

/// The order in which the records of a client are uploaded, by type.
///
/// A request to delete a client's data must be sent first, and no earlier record of the client may follow it. This is a
/// rule for the upload plan and not a hold, because it concerns several records.
public struct Precedence: Sendable, Equatable {
    /// The types of records that are sent before all others.
    ///
    /// They count against the same limits as other records.
    public let first: Set<CapturedText>
    /// The types of records that request the deletion of a client's data.
    ///
    /// If the ledger or a bundle contains such a request, only the types in ``first`` are still sent for the client.
    public let deletionRequests: Set<CapturedText>

    /// An order without priorities, in which records are sent by time.
    public static let none = Precedence(first: [], deletionRequests: [])

    /// Creates an order in which requests for deletion are always sent first.
    public init(first: [String], deletionRequests: [String]) {
        self.first = Set((first + deletionRequests).map { CapturedText($0) })
        self.deletionRequests = Set(deletionRequests.map { CapturedText($0) })
    }
}
