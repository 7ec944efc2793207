import Hashing
import JSONText
import Telemetry

/// The key of one event of a list request: the same wherever the event turns up again.
///
/// Equal events in one request are told apart by their number, for an app may well report the same twice; across
/// requests the n-th of them is the same.
public struct ItemKey: Sendable, Hashable {
    let digest: Digest16
}

/// An event that an upload carries.
public struct SentItem: Sendable, Hashable {
    /// Its place in the list of the record.
    public let index: Int
    /// The key by which the ledger knows it.
    public let key: ItemKey
}

/// The events of a request that is a list without an id on the server, as the system's `ListFormat` says.
struct ListItems {
    /// An event.
    struct Item: Sendable {
        let key: ItemKey
        /// Where it stands in the payload.
        let range: Range<Int>
    }

    let items: [Item]
    private let list: ListFormat

    /// Finds the events of a record. Returns `nil` if it is not a list of the format, or its system has no lists.
    init?(_ record: borrowing Record, _ format: ListFormat?, using document: inout JSONDocument) {
        guard let format, (try? document.read(record.payload)) != nil,
            document.memberCount(of: document.root) == 1,
            let list = document.value(of: format.key, in: document.root), document.kind(of: list) == .array
        else { return nil }
        let scope = [record.system.description, record.target?.path ?? "", record.client?.lowercased() ?? ""]
        var items: [Item] = []
        var counts: [Digest16: Int] = [:]
        var element = document.firstElement(of: list)
        while let node = element {
            guard let range = document.sourceRange(of: node) else { return nil }
            let plain = Self.digest(of: node, range, in: document, record, format, scope: scope)
            let number = counts[plain, default: 0]
            counts[plain] = number + 1
            items.append(Item(key: ItemKey(digest: number == 0 ? plain : plain.numbered(number)), range: range))
            element = document.element(after: node, of: list)
        }
        self.items = items
        self.list = format
    }

    /// The request with some of its events.
    func payload(with chosen: some Sequence<Int>, of payload: [UInt8]) -> [UInt8] {
        var bytes = Self.opening(list)
        for (place, index) in chosen.enumerated() where items.indices.contains(index) {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += payload[items[index].range]
        }
        return bytes + Self.closing
    }

    /// The bytes of the request before the first event.
    static func opening(_ list: ListFormat) -> [UInt8] { Array("{\"\(list.key)\":[".utf8) }
    /// The bytes of the request after the last event.
    static let closing = Array("]}".utf8)

    private static func digest(
        of node: JSONNode, _ range: Range<Int>, in document: JSONDocument, _ record: borrowing Record,
        _ list: ListFormat, scope: [String]
    ) -> Digest16 {
        var hash = SHA256()
        for text in scope { hash.update(lengthPrefixed: Array(text.utf8)[...]) }
        if let key = list.idKey, let id = document.value(of: key, in: node), document.kind(of: id) == .string {
            hash.update(lengthPrefixed: Array(key.utf8)[...])
            hash.update(lengthPrefixed: Array(document.string(of: id).utf8)[...])
            return Digest16(hash)
        }
        if let key = list.changingKey {
            return Digest16(hash.adding(membersOf: node, in: document, but: key))
        }
        hash.update(lengthPrefixed: record.payload[range])
        return Digest16(hash)
    }
}

extension SHA256 {
    /// The hash with the members of an object, but for one; with the whole value if it is no object.
    fileprivate func adding(membersOf node: JSONNode, in document: JSONDocument, but left: JSONKey) -> SHA256 {
        var hash = self
        guard document.kind(of: node) == .object else {
            hash.update(lengthPrefixed: document.canonicalBytes(of: node)[...])
            return hash
        }
        for place in 0..<document.memberCount(of: node) {
            let member = document.member(at: place, of: node)
            if document.bytes(of: member.key).equals(left.utf8.span) { continue }
            hash.update(lengthPrefixed: document.bytes(of: member.key).copied()[...])
            hash.update(lengthPrefixed: document.canonicalBytes(of: member.value)[...])
        }
        return hash
    }
}

extension Digest16 {
    /// The hash for the event of this number among equal ones.
    fileprivate func numbered(_ number: Int) -> Digest16 {
        var bytes: [UInt8] = []
        append(to: &bytes)
        var hash = SHA256()
        hash.update(bytes.span)
        hash.update(lengthPrefixed: Array("\(number)".utf8)[...])
        return Digest16(hash)
    }
}
