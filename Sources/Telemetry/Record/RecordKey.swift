import Hashing
import JSONText

/// A 32-byte key that identifies an upload.
///
/// Records with equal systems, types, ids and canonical payloads have equal keys, unless only one of them has
/// pseudonyms. A key is the same in each run. Different records have equal keys only with negligible probability.
///
/// Source: "The record", section "Copies".
public struct RecordKey: Sendable, Hashable, Comparable {
    /// The hash of the three values that servers use to recognize repeated uploads: the system, the type and the id.
    ///
    /// The hash of a record with pseudonyms also includes the id of their key.
    public let identity: Digest16
    /// The hash of the payload, or of the item keys if the upload is a part of a list.
    public let content: Digest16

    /// Creates a key from two hashes.
    public init(identity: Digest16, content: Digest16) {
        self.identity = identity
        self.content = content
    }

    /// Creates the key of a record.
    public init(_ record: borrowing Record) {
        // A record with pseudonyms cannot be uploaded, so it must not replace an equal record without pseudonyms.
        // Such a record is always held, so that the notes of other records are not searched.
        let keyID = record.held.isEmpty ? nil : record.pseudonymKeyID
        self.init(
            identity: Self.identity(system: record.system, type: record.type, id: record.id, pseudonymKeyID: keyID),
            content: Digest16(of: record.payload.span))
    }

    /// Returns the hash of a system, type and id, and of the id of the pseudonym key if the record has pseudonyms.
    public static func identity(
        system: SystemName, type: String, id: String, pseudonymKeyID: String? = nil
    ) -> Digest16 {
        var hash = SHA256()
        hash.update(lengthPrefixed: system.description.utf8.span)
        hash.update(lengthPrefixed: type.utf8.span)
        hash.update(lengthPrefixed: id.utf8.span)
        if let pseudonymKeyID { hash.update(lengthPrefixed: pseudonymKeyID.utf8.span) }
        return Digest16(hash)
    }

    /// Returns the hash of the system, the type and the events of a record of pending events, or `nil` if its payload
    /// contains no events.
    ///
    /// Unlike the id of the record, the hash does not include the client, which is borrowed. `document` parses the
    /// payload.
    static func identity(ofPendingEvents record: borrowing Record, using document: inout JSONDocument) -> Digest16? {
        guard (try? document.read(record.payload)) != nil else { return nil }
        defer { document.reset() }
        guard let events = document.value(of: "events", in: document.root) else { return nil }
        let id = UUIDText.ofPendingEvents(document.canonicalBytes(of: events), type: record.type, client: nil)
        return identity(system: record.system, type: record.type, id: id)
    }

    /// Returns whether `left` sorts before `right`, in an order that groups keys of the same identity.
    public static func < (left: RecordKey, right: RecordKey) -> Bool {
        (left.identity, left.content) < (right.identity, right.content)
    }
}
