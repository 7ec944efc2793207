import JSONText
import Telemetry

/// The database of the SDK since 51.0, `db/data.safe.bin`: what it tells of the client and of metrics that are in no ping yet.
/// Nothing of it becomes a record, for the phone makes the pings itself.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 7.
struct SafeDatabase {
    /// The client id, where the database has one.
    private(set) var client: String?
    /// How many metrics wait, by the name of their ping.
    private(set) var metrics: [String: Int] = [:]

    private static let clientKey = Array("glean_client_info#client_id".utf8)
    /// What the SDK keeps for itself, in the place of a ping's name.
    private static let ownNames: Set = ["glean_client_info", "glean_internal_info"]
    private static let uuid: UInt32 = 9
    /// A hostile file can name millions of pings; an app has some twenty.
    private static let mostPings = 1000

    /// Reads a database; nil if it has another form.
    init?(_ bytes: [UInt8]) {
        var reading = SafeDatabaseReading(bytes)
        guard let databases = reading.length() else { return nil }
        for _ in 0..<databases {
            guard reading.take(1)?.elementsEqual([1]) == true, let name = reading.text(), reading.take(4) != nil,
                let entries = reading.length()
            else { return nil }
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
        // A label counts with its metric.
        guard let mark = key.firstIndex(of: UInt8(ascii: "#")), !key[mark...].contains(UInt8(ascii: "/")) else {
            return
        }
        let name = key[..<mark]
        guard GleanName.isPing(name.span) else { return }
        let ping = String(decoding: name, as: UTF8.self)
        guard !Self.ownNames.contains(ping), metrics[ping] != nil || metrics.count < Self.mostPings else { return }
        metrics[ping, default: 0] += 1
    }

    /// The text of a value that is a UUID: `09`, the length of the rest, the variant, and a text.
    private static func uuid(in value: ArraySlice<UInt8>) -> String? {
        var reading = SafeDatabaseReading(Array(value))
        guard reading.take(1)?.elementsEqual([9]) == true, reading.length() != nil, reading.number() == uuid,
            let text = reading.text(), text.span.isUUID
        else { return nil }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Takes numbers and texts from bytes, little-endian, and never more than there are.
private struct SafeDatabaseReading {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

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
