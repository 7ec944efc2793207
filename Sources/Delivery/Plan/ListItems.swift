import Hashing
import JSONText
import Telemetry

/// An event that an upload contains.
public struct SentItem: Sendable, Hashable {
    /// The index of the event in the list of the record.
    public let index: Int
    /// The key of the event in the ledger.
    public let key: Digest16
}

extension RecordKey {
    /// Returns the key of an upload that contains only `items` of this record.
    func partKey(for items: some Sequence<SentItem>) -> RecordKey {
        var hash = SHA256()
        for item in items { hash.update(item.key) }
        return RecordKey(identity: identity, content: Digest16(hash))
    }
}

/// The events of a list request, in the `ListFormat` of a system.
struct ListItems {
    struct Item: Sendable {
        /// The hash that identifies the event.
        ///
        /// An event has the same key in all requests. An app may report equal events repeatedly, so equal events in one
        /// request are numbered. Equal events with the same number in different requests are treated as the same event.
        let key: Digest16
        /// The byte range of the event in the payload.
        let range: Range<Int>
    }

    let items: [Item]
    private let list: ListFormat

    /// Creates the list of the events in `record`, or returns `nil` if the record does not have the form of `format`.
    init?(_ record: borrowing Record, _ format: ListFormat?, using document: inout JSONDocument) {
        guard let format, (try? document.read(record.payload)) != nil, document.memberCount(of: document.root) == 1,
            let list = document.value(of: format.key, in: document.root), document.kind(of: list) == .array
        else { return nil }
        let scope = [
            record.system.description, record.target?.path ?? "",
            record.client.map { ClientID($0).lowercased.string } ?? "",
        ]
        var items: [Item] = []
        var counts: [Digest16: Int] = [:]
        var element = document.firstElement(of: list)
        while let node = element {
            guard let range = document.sourceRange(of: node) else { return nil }
            let plain = Self.digest(of: node, range, in: document, record, format, scope: scope)
            let number = counts[plain, default: 0]
            counts[plain] = number + 1
            items.append(Item(key: number == 0 ? plain : plain.numbered(number), range: range))
            element = document.element(after: node, of: list)
        }
        self.items = items
        self.list = format
    }

    /// Returns the payload of a request that contains only the events at the `chosen` indices.
    func payload(with chosen: some Sequence<Int>, of payload: [UInt8]) -> [UInt8] {
        var bytes = Self.payloadOpening(of: list)
        for (position, index) in chosen.enumerated() where items.indices.contains(index) {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += payload[items[index].range]
        }
        return bytes + Self.payloadClosing
    }

    /// Returns the bytes of a request before its first event.
    static func payloadOpening(of list: ListFormat) -> [UInt8] { Array("{\"\(list.key)\":[".utf8) }
    /// The bytes of a request after its last event.
    static let payloadClosing = Array("]}".utf8)

    private static func digest(
        of node: JSONNode, _ range: Range<Int>, in document: JSONDocument, _ record: borrowing Record,
        _ list: ListFormat, scope: [String]
    ) -> Digest16 {
        var hash = SHA256()
        for text in scope { hash.update(lengthPrefixed: text.utf8.span) }
        if let key = list.idKey, let id = document.value(of: key, in: node), document.kind(of: id) == .string {
            hash.update(lengthPrefixed: key.utf8.span)
            hash.update(lengthPrefixed: document.string(of: id).utf8.span)
            return Digest16(hash)
        }
        if let key = list.changingKey {
            return Digest16(hash.adding(membersOf: node, in: document, excluding: key))
        }
        hash.update(lengthPrefixed: record.payload.span.extracting(range))
        return Digest16(hash)
    }
}

extension SHA256 {
    /// Returns the hash after adding the value at `node`, without the member `excludedKey` if the value is an object.
    fileprivate func adding(membersOf node: JSONNode, in document: JSONDocument, excluding excludedKey: JSONKey)
        -> SHA256
    {
        var hash = self
        guard document.kind(of: node) == .object else {
            hash.update(lengthPrefixed: document.canonicalBytes(of: node).span)
            return hash
        }
        for member in document.members(of: node) {
            if document.bytes(of: member.key).equals(excludedKey.utf8.span) { continue }
            hash.update(lengthPrefixed: document.bytes(of: member.key))
            hash.update(lengthPrefixed: document.canonicalBytes(of: member.value).span)
        }
        return hash
    }

    fileprivate mutating func update(_ digest: Digest16) {
        let bytes = digest.bytes
        update(bytes.span)
    }
}

extension Digest16 {
    /// Returns the hash of an event that follows `number` equal events in the same request.
    fileprivate func numbered(_ number: Int) -> Digest16 {
        var hash = SHA256()
        hash.update(self)
        hash.update(lengthPrefixed: "\(number)".utf8.span)
        return Digest16(hash)
    }
}
