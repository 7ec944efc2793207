import Bytes
import JSONText
import Telemetry

/// The contents of `db/data.safe.bin`, the database of SDK versions since 51.0.
///
/// The database contains the client id and the metrics that are not yet included in a ping. No records are created from
/// it, because the app creates the pings itself.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 7.
struct SafeDatabase {
    /// The client id, or `nil` if the database contains none.
    private(set) var clientID: String?
    /// Whether the SDK may have written the file.
    ///
    /// This is true if the file contains one of the SDK's databases, or no databases at all.
    private(set) var mayBeFromSDK: Bool
    /// The number of metrics that are not yet included in a ping, by ping name.
    var metricCounts: [CapturedText: Int] { metricKeys.mapValues(\.count) }

    /// The sequence numbers of the next pings, by ping name.
    private(set) var nextNumbers: [CapturedText: Int64] = [:]
    /// The metric keys without labels, by the name of the ping that will contain the metrics.
    private var metricKeys: [CapturedText: Set<ArraySlice<UInt8>>] = [:]
    private var metricCount = 0

    private static let clientKey = Array("glean_client_info#client_id".utf8)
    /// The names that the keys of the SDK's own values contain instead of a ping name.
    private static let internalNames: Set = ["glean_client_info", "glean_internal_info"]
    /// The names of the SDK's databases, which distinguish the SDK's file from files of other libraries.
    private static let databaseNames: Set = ["user", "ping", "app"]
    private static let uuidVariant: UInt32 = 9
    /// The maximum number of metrics that are counted, which limits the memory that a hostile file can require.
    private static let maximumMetricCount = 100_000

    /// Parses a database file, or returns `nil` if the bytes do not have its format.
    init?(_ bytes: [UInt8]) {
        var cursor = SafeDatabaseCursor(bytes: bytes)
        guard let databases = cursor.readLength() else { return nil }
        mayBeFromSDK = databases == 0
        for _ in 0..<databases {
            guard cursor.readBytes(1)?.elementsEqual([1]) == true, let name = cursor.readString(),
                cursor.readBytes(4) != nil,
                let entries = cursor.readLength()
            else { return nil }
            mayBeFromSDK = mayBeFromSDK || Self.databaseNames.contains(String(decoding: name, as: UTF8.self))
            let isUserDatabase = name.elementsEqual("user".utf8)
            for _ in 0..<entries {
                guard let key = cursor.readString(), let value = cursor.readString() else { return nil }
                addEntry(key, value, inUserDatabase: isUserDatabase)
            }
        }
        guard cursor.isAtEnd else { return nil }
    }

    /// Returns the reason why a database in `bytes` is damaged.
    ///
    /// Returns `nil` if the database is intact, or if `bytes` do not begin as a database does and `isFromSDK` is `false`,
    /// because other libraries use the same file name.
    static func fault(of bytes: [UInt8], isFromSDK: Bool) -> String? {
        guard SafeDatabase(bytes) == nil else { return nil }
        if bytes.isEmpty { return "empty file" }
        if bytes.allSatisfy({ $0 == 0 }) { return "only zero bytes" }
        // The file begins with a small number of databases, each of which begins with the byte 01.
        let hasStart = bytes.prefix(8).dropFirst().allSatisfy { $0 == 0 } && (bytes.count < 9 || bytes[8] == 1)
        return hasStart || isFromSDK ? "truncated or overwritten" : nil
    }

    private mutating func addEntry(_ key: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>, inUserDatabase: Bool) {
        if inUserDatabase, key.elementsEqual(Self.clientKey) { clientID = Self.uuid(in: value) }
        guard let separator = key.firstIndex(of: UInt8(ascii: "#")) else { return }
        let name = key[..<separator]
        guard GleanName.isPingName(name.span) else { return }
        let ping = String(decoding: name, as: UTF8.self)
        addNextNumber(key[key.index(after: separator)...], value, of: ping)
        guard !Self.internalNames.contains(ping), metricCount < Self.maximumMetricCount else { return }
        let metric = key.prefix { !Self.labelSeparators.contains($0) }
        if metricKeys[ping, default: []].insert(metric).inserted { metricCount += 1 }
    }

    /// Adds the sequence number in an entry of the SDK's own values, which `name` identifies.
    private mutating func addNextNumber(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>, of owner: String) {
        guard owner == Self.numbersName, name.count > Self.numberSuffix.count,
            name.suffix(Self.numberSuffix.count) == Self.numberSuffix[...], nextNumbers.count < Self.maximumNumberCount
        else { return }
        var cursor = SafeDatabaseCursor(bytes: Array(value))
        guard cursor.readBytes(1)?.elementsEqual([9]) == true, cursor.readLength() != nil,
            cursor.readUInt32() == Self.counterVariant, let bits = cursor.readUInt32(),
            let number = Int32(exactly: bits)
        else { return }
        nextNumbers[CapturedText(String(decoding: name.dropLast(Self.numberSuffix.count), as: UTF8.self))] = Int64(
            number)
    }

    private static let numbersName = "glean_internal_info"
    private static let numberSuffix = Array("#sequence".utf8)
    private static let counterVariant: UInt32 = 1
    /// The maximum number of pings whose sequence numbers are read, which limits the output of a hostile file.
    private static let maximumNumberCount = 1000

    /// The bytes before a label: a slash before a single label, and U+001E before each of two labels.
    private static let labelSeparators: Set = [UInt8(ascii: "/"), 0x1E]

    /// Returns the UUID in a value that consists of the byte `09`, the length of the rest, the variant and a string.
    ///
    /// Returns `nil` if the value has another form or the string is not a UUID.
    private static func uuid(in value: ArraySlice<UInt8>) -> String? {
        var cursor = SafeDatabaseCursor(bytes: Array(value))
        guard cursor.readBytes(1)?.elementsEqual([9]) == true, cursor.readLength() != nil,
            cursor.readUInt32() == uuidVariant, let text = cursor.readString(), text.span.isUUID
        else { return nil }
        return String(decoding: text, as: UTF8.self)
    }
}

/// A cursor that reads little-endian numbers and strings from bytes, without reading past the end.
private struct SafeDatabaseCursor {
    let bytes: [UInt8]
    var position = 0

    var isAtEnd: Bool { position == bytes.count }

    mutating func readBytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= bytes.count - position else { return nil }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// Reads a 64-bit count, or returns `nil` if it exceeds the number of remaining bytes.
    mutating func readLength() -> Int? {
        guard let digits = readBytes(8) else { return nil }
        let number = digits.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return number <= UInt64(bytes.count - position) ? Int(number) : nil
    }

    mutating func readUInt32() -> UInt32? { readBytes(4)?.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) } }

    mutating func readString() -> ArraySlice<UInt8>? { readLength().flatMap { readBytes($0) } }
}
