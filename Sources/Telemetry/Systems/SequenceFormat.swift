import Bytes
import JSONText

/// The numbering of the uploads of a system.
///
/// Each client of a system numbers the uploads of each type consecutively.
///
/// ```swift
/// let payload = try JSONDocument(Array(#"{"seq":212,"v":7}"#.utf8))
/// let number = MozillaSystem().sequence?.number(in: payload, type: "core")  // .number(212)
/// ```
public struct SequenceFormat: Sendable {
    /// A member of a payload that contains the sequence number.
    public struct Member: Sendable {
        /// The keys that lead from the payload to the number.
        let path: [JSONKey]
        /// The notation of the number.
        let notation: Notation
        /// The key of a string that each numbered payload contains, or `nil` if all payloads of the type are numbered.
        let requiredKey: JSONKey?

        /// Creates a member that is at `path` in a payload.
        public init(_ path: [JSONKey], notation: Notation = .number, requiredKey: JSONKey? = nil) {
            self.path = path
            self.notation = notation
            self.requiredKey = requiredKey
        }
    }

    /// The notation of a sequence number in a payload.
    public enum Notation: Sendable {
        /// A JSON number.
        case number
        /// A JSON string of decimal digits.
        case string
    }

    /// The possible first numbers of a sequence.
    public let start: ClosedRange<Int64>
    /// The client ids that several installations have in common.
    public let sharedClients: Set<ClientID>
    /// The payload member with the sequence number in uploads of all types, or `nil` if it depends on the type.
    private let commonMember: Member?
    private let members: [CapturedText: Member]

    /// Creates a numbering for uploads of all types if `memberOfEveryType` is given, or else for the types of `members`.
    public init(
        start: ClosedRange<Int64>, sharedClients: Set<ClientID> = [], memberOfEveryType: Member? = nil,
        membersOfTypes members: [CapturedText: Member] = [:]
    ) {
        self.start = start
        self.sharedClients = sharedClients
        commonMember = memberOfEveryType
        self.members = members
    }

    private func member(_ type: String) -> Member? { commonMember ?? members[type] }

    /// Returns whether the uploads of a type are numbered.
    public func isNumbered(_ type: String) -> Bool { member(type) != nil }

    /// Returns the sequence number of an upload of the given type.
    ///
    /// The root of `payload` is the payload of the upload.
    public func number(in payload: JSONDocument, type: String) -> SequenceNumber {
        guard let member = member(type) else { return .unnumbered }
        if let key = member.requiredKey, payload.value(of: key, .string, in: payload.root) == nil {
            return .unnumbered
        }
        var node = payload.root
        for key in member.path {
            guard payload.kind(of: node) == .object, let value = payload.value(of: key, in: node) else {
                return .missing
            }
            node = value
        }
        let number =
            switch (payload.kind(of: node), member.notation) {
            case (.number, .number): Int64(integerValueOf: payload.bytes(of: node))
            case (.string, .string): Int64(decimal: payload.bytes(of: node))
            default: Int64?.none
            }
        guard let number, number >= 0 else { return .invalid }
        return .number(number)
    }
}

/// The sequence number of an upload, or the reason why there is none.
public enum SequenceNumber: Sendable, Equatable {
    /// The number, which is not negative.
    case number(Int64)
    /// The payload does not contain a number, although uploads of its type are numbered.
    case missing
    /// The value that should be the number is not an integer from 0 to 2⁶³ − 1.
    case invalid
    /// The upload is not numbered, for example because no uploads of its type are numbered.
    case unnumbered
}

extension SystemTable {
    /// Returns the sequence number of an upload.
    ///
    /// The root of `payload` is the payload of the upload.
    public func sequenceNumber(in payload: JSONDocument, of record: borrowing RecordSummary) -> SequenceNumber {
        self[record.system]?.sequence?.number(in: payload, type: record.type) ?? .unnumbered
    }
}
