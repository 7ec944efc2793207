import JSONText
import Telemetry

/// The database of the SDK since 51.0, `db/data.safe.bin`: what it tells of the client and of metrics that are in no ping yet.
/// Nothing of it becomes a record, for the phone makes the pings itself.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 7.
struct SafeDatabase {
    /// The client id, where the database has one.
    private(set) var client: String?
    /// Whether the SDK can have written the file: it has one of the SDK's databases, or none at all.
    private(set) var isOfSDK: Bool
    /// The number of metrics that wait, by the names of their pings. All labels of a metric count once.
    var metrics: [String: Int] { keys.mapValues(\.count) }

    /// The keys of the metrics without their labels, by the names of their pings.
    private var keys: [String: Set<ArraySlice<UInt8>>] = [:]
    private var keyCount = 0

    private static let clientKey = Array("glean_client_info#client_id".utf8)
    /// What the SDK keeps for itself, in the place of a ping's name.
    private static let ownNames: Set = ["glean_client_info", "glean_internal_info"]
    /// The databases of the SDK in the file. Other libraries keep theirs in files of the same name and format.
    private static let databaseNames: Set = ["user", "ping", "app"]
    private static let uuid: UInt32 = 9
    /// The maximum number of metrics that are counted. A hostile file can name millions; an app has some hundreds.
    private static let mostMetrics = 100_000

    /// Reads a database; nil if it has another form.
    init?(_ bytes: [UInt8]) {
        var reading = SafeDatabaseReading(bytes: bytes)
        guard let databases = reading.length() else { return nil }
        isOfSDK = databases == 0
        for _ in 0..<databases {
            guard reading.take(1)?.elementsEqual([1]) == true, let name = reading.text(), reading.take(4) != nil,
                let entries = reading.length()
            else { return nil }
            isOfSDK = isOfSDK || Self.databaseNames.contains(String(decoding: name, as: UTF8.self))
            let isOfUser = name.elementsEqual("user".utf8)
            for _ in 0..<entries {
                guard let key = reading.text(), let value = reading.text() else { return nil }
                take(key, value, isOfUser: isOfUser)
            }
        }
        guard reading.isAtEnd else { return nil }
    }

    private mutating func take(_ key: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>, isOfUser: Bool) {
        if isOfUser, key.elementsEqual(Self.clientKey) { client = Self.uuid(in: value) }
        guard let mark = key.firstIndex(of: UInt8(ascii: "#")) else { return }
        let name = key[..<mark]
        guard GleanName.isPing(name.span) else { return }
        let ping = String(decoding: name, as: UTF8.self)
        guard !Self.ownNames.contains(ping), keyCount < Self.mostMetrics else { return }
        let metric = key.prefix { !Self.labelMarks.contains($0) }
        if keys[ping, default: []].insert(metric).inserted { keyCount += 1 }
    }

    /// The bytes in front of a label: a slash, or U+001E in front of each of two labels.
    private static let labelMarks: Set = [UInt8(ascii: "/"), 0x1E]

    /// The text of a value that is a UUID: `09`, the length of the rest, the variant, and a text.
    private static func uuid(in value: ArraySlice<UInt8>) -> String? {
        var reading = SafeDatabaseReading(bytes: Array(value))
        guard reading.take(1)?.elementsEqual([9]) == true, reading.length() != nil, reading.number() == uuid,
            let text = reading.text(), text.span.isUUID
        else { return nil }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Takes numbers and texts from bytes, little-endian, and never more than there are.
private struct SafeDatabaseReading {
    let bytes: [UInt8]
    var place = 0

    var isAtEnd: Bool { place == bytes.count }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= bytes.count - place else { return nil }
        defer { place += count }
        return bytes[place..<place + count]
    }

    /// A count of 64 bits, at most as large as what is left: everything that is counted has bytes.
    mutating func length() -> Int? {
        guard let taken = take(8) else { return nil }
        let number = taken.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return number <= UInt64(bytes.count - place) ? Int(number) : nil
    }

    mutating func number() -> UInt32? { take(4)?.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) } }

    mutating func text() -> ArraySlice<UInt8>? { length().flatMap { take($0) } }
}
