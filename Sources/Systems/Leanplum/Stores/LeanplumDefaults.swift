import JSONText
import PropertyList

/// The queue of requests that the SDK stores in the preferences of an app.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section A.4.
struct LeanplumDefaults {
    /// The prefix of all keys of the SDK.
    static let keyPrefix = "__leanplum_"

    /// The items, sorted by index.
    ///
    /// Indexes can exceed the range that ``itemCount`` specifies.
    let items: [(index: Int, value: PropertyListNode)]
    /// The stored number of items, which is 0 if it is missing and `nil` if it is not an integer.
    let itemCount: Int?
    /// The application id, or `nil` if no key contains it.
    let applicationID: String?

    private static let countKey: JSONKey = "__leanplum_unsynced"
    private static let itemKeyPrefix = Array("__leanplum_unsynced_".utf8)
    private static let applicationKeyPrefixes = [
        Array("__leanplum_push_token_".utf8), Array("__leanplum_user_notification_".utf8),
    ]

    init(_ document: PropertyListDocument) {
        var items: [(index: Int, value: PropertyListNode)] = []
        var applicationID: String?
        var key: [UInt8] = []
        let members = document.members(of: document.root)
        for position in 0..<members.count {
            key.removeAll(keepingCapacity: true)
            document.appendUTF8(of: document.key(at: position, of: members), to: &key)
            if key.starts(with: Self.itemKeyPrefix) {
                guard let index = Self.itemIndex(fromDigits: key[Self.itemKeyPrefix.count...]) else { continue }
                items.append((index, document.value(at: position, of: members)))
            } else if applicationID == nil {
                applicationID = Self.applicationID(in: key)
            }
        }
        self.items = items.sorted { $0.index < $1.index }
        self.applicationID = applicationID
        itemCount = Self.itemCount(in: document)
    }

    private static func itemCount(in document: PropertyListDocument) -> Int? {
        guard let node = document.value(of: countKey, in: document.root) else { return 0 }
        guard document.kind(of: node) == .integer, let count = document.integer(of: node).signed else { return nil }
        return max(0, Int(count))
    }

    /// Returns the index that `digits` represent, or `nil` if they are not a decimal number without leading zeros.
    private static func itemIndex(fromDigits digits: ArraySlice<UInt8>) -> Int? {
        guard digits.allSatisfy(\.isDigit), digits.count == 1 || digits.first != UInt8(ascii: "0") else { return nil }
        return Int(String(decoding: digits, as: UTF8.self))
    }

    /// Returns the application id in `key`, or `nil` if the key contains none.
    ///
    /// The id ends at the first hyphen, because application ids contain no hyphens.
    private static func applicationID(in key: [UInt8]) -> String? {
        guard let prefix = applicationKeyPrefixes.first(where: { key.starts(with: $0) }),
            let dash = key[prefix.count...].firstIndex(of: UInt8(ascii: "-")), dash > prefix.count
        else { return nil }
        return String(decoding: key[prefix.count..<dash], as: UTF8.self)
    }
}
