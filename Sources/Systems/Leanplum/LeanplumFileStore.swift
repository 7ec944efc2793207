import Bytes
import Files
import JSONText
import PropertyList
import Telemetry

/// A property list in which an older SDK stored requests.
struct LeanplumFileStore: FileStore {
    enum Contents: Sendable {
        /// A file that contains only requests. `applicationID` is from the name of the file, and is `nil` if the name
        /// contains no id.
        case requests(applicationID: String?)
        /// The preferences of an app, which also contain requests.
        case preferences
    }

    let contents: Contents
    let location: FileLocation

    init(_ contents: Contents, name: String, in folder: borrowing InspectedFolder) {
        self.contents = contents
        location = FileLocation(name: name, in: folder)
    }

    var system: SystemName? { .leanplum }

    var kind: StoreKind {
        switch contents {
        case .requests: .leanplumPlist
        case .preferences: .leanplumUserDefaults
        }
    }

    // The app and other SDKs can store credentials in the preferences. Leanplum itself stores none.
    var credentials: StoreFile.Credentials { kind == .leanplumUserDefaults ? .always : .never }

    func makeReader(in context: StoreContext) -> any StoreReader { LeanplumFileReader(contents: contents) }
}

extension StoreContext {
    /// Leanplum's id of the app, or the bundle id if no preferences in the container contain Leanplum's id.
    var leanplumApplicationID: String? {
        // A container can have many databases and preferences.
        let stored = neighbors.fact(named: "leanplum-application-id") {
            neighbors.stores.lazy.compactMap { ($0 as? LeanplumFileStore)?.applicationIDInPreferences(tree) }.first
        }
        return stored ?? container.applicationID
    }
}

extension LeanplumFileStore {
    /// Returns Leanplum's id of the app, or `nil` if the file does not contain preferences with the id.
    fileprivate func applicationIDInPreferences(_ tree: FileTree) -> String? {
        // The scan of the preferences reports the error if they cannot be read.
        guard case .preferences = contents, let bytes = fileContents(in: tree),
            let document = try? PropertyListDocument(bytes), document.kind(of: document.root) == .dictionary
        else { return nil }
        return LeanplumDefaults(document).applicationID
    }
}

/// A reader that converts the contents of a property list to records.
private struct LeanplumFileReader: StoreReader {
    let contents: LeanplumFileStore.Contents

    func read(
        _ bytes: [UInt8], ofFile index: Int, from source: Source, into output: inout ScanOutput
    ) throws -> Bool {
        switch contents {
        case .requests(let applicationID):
            let requests = LeanplumRequests(from: source, applicationID: applicationID)
            try LeanplumPropertyList.readRequests(bytes, adding: requests, into: &output)
        case .preferences: try LeanplumPropertyList.readDefaults(bytes, from: source, into: &output)
        }
        return false
    }
}

// MARK: - Property lists

/// A reader for the property lists in which older SDKs store requests.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections A.3 and A.4.
package struct LeanplumPropertyList {
    private let document: PropertyListDocument
    private var requests: LeanplumRequests
    private var jsonWriter: PropertyListJSONWriter
    private var isOutOfBudget = false

    /// Reads a property list that is an array of requests.
    package static func readRequests(
        _ bytes: [UInt8], adding requests: LeanplumRequests, into output: inout ScanOutput
    ) throws {
        guard let document = try parse(bytes, into: &output) else { return }
        guard document.kind(of: document.root) == .array else {
            return try output.reject(Reject("unsupported_schema the root is no array"))
        }
        var reader = LeanplumPropertyList(document, requests)
        let elements = document.elements(of: document.root)
        for position in 0..<elements.count where !reader.isOutOfBudget {
            try reader.add(document.element(at: position, of: elements), into: &output)
        }
        try reader.requests.finish(into: &output)
    }

    /// Reads the requests in the preferences of an app.
    package static func readDefaults(
        _ bytes: [UInt8], from source: Source, into output: inout ScanOutput
    ) throws {
        guard let document = try parse(bytes, into: &output) else { return }
        guard document.kind(of: document.root) == .dictionary else {
            return try output.reject(Reject("unsupported_schema the root is no dictionary"))
        }
        let defaults = LeanplumDefaults(document)
        guard let itemCount = defaults.itemCount else {
            return try output.reject(Reject("unsupported_schema the number of items is no integer"))
        }
        let requests = LeanplumRequests(from: source, applicationID: defaults.applicationID)
        var reader = LeanplumPropertyList(document, requests)
        for (index, node) in defaults.items where index < itemCount && !reader.isOutOfBudget {
            reader.requests.reportMissing(before: index, into: &output)
            try reader.add(node, into: &output)
        }
        if !reader.isOutOfBudget { reader.requests.reportMissing(before: itemCount, into: &output) }
        try reader.requests.finish(into: &output)
    }

    private static func parse(_ bytes: [UInt8], into output: inout ScanOutput) throws -> PropertyListDocument? {
        do throws(PropertyListError) {
            let document = try PropertyListDocument(bytes)
            if let repeated = document.repeatedKeys {
                output.report(Problem(repeated.code.rawValue, repeated.reason, at: repeated.offset))
            }
            return document
        } catch {
            try output.reject(Reject("corrupt \(error.code.rawValue): \(error.reason)", offset: error.offset))
            return nil
        }
    }

    private init(_ document: PropertyListDocument, _ requests: LeanplumRequests) {
        self.document = document
        self.requests = requests
        // Keys are not sorted here because requests are sorted later. The SDK writes only values that JSON can express.
        let sizeLimit = requests.limits.byteCount
        jsonWriter = PropertyListJSONWriter(
            document, keyOrder: .file, nonJSONValues: .refused,
            limits: PropertyListJSONWriter.Limits(valueSize: sizeLimit, fileSize: sizeLimit + 4 * document.sourceLength)
        )
    }

    private mutating func add(_ node: PropertyListNode, into output: inout ScanOutput) throws {
        let position = "at byte \(document.offset(of: node))"
        guard document.kind(of: node) == .dictionary else {
            return try requests.skipItem(.notObject, position, into: &output)
        }
        do throws(PropertyListJSONWriter.WritingError) {
            try jsonWriter.write(node)
        } catch {
            switch error.kind {
            case .unrepresentable: try requests.skipItem(.nonJSONValue, position, into: &output)
            case .tooLarge: try requests.skipItem(.tooLarge, position, into: &output)
            case .outOfBudget:
                isOutOfBudget = true
                try output.reject(
                    Reject("budget-exceeded the items from \(requests.itemCount) on share more than they hold"))
            }
            return
        }
        try requests.append(jsonWriter.text, into: &output)
    }
}

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
