import Bundle
import Bytes
import Files
import Hashing
import JSONText
import Telemetry

/// The times at which records were delivered, from delivery receipts.
///
/// Of several times for a record, the earliest applies.
///
/// Source: "Receipts", "Delivery receipts".
public struct DeliveryTimes: Sendable {
    private var times: [RecordKey: Timestamp] = [:]

    /// The maximum size, in bytes, of an entry for a record.
    private static let entryLimit = 1 << 20
    private static let pieceSize = 1 << 20
    private static let deliveredStatuses = 200...299

    /// Creates an empty collection.
    public init() {}

    /// Adds the times in the delivery receipt at `path`.
    ///
    /// - Throws: ``LiveTableError`` if the file is not a delivery receipt with records, or `FileError`.
    public mutating func read(_ path: String) throws {
        let source = ByteSource(try InputFile(path: path))
        var records = JSONArrayStreamReader(
            path: ["predicate", "records"],
            outline: [
                "id": .whole, "outcome": .whole, "sha256": .whole, "status": .whole, "system": .whole, "time": .whole,
                "type": .whole,
            ], limit: Self.entryLimit)
        var subjects = JSONArrayStreamReader(
            path: ["subject"], neighbors: [Self.predicateType], outline: [:], limit: Self.entryLimit)
        var isReceipt = false
        var offset = 0
        do {
            while offset < source.count {
                let piece = try source.bytes(at: offset, count: Self.pieceSize)
                if piece.isEmpty { break }
                offset += piece.count
                var position = 0
                while try records.next(in: piece.span, from: &position) != nil { try add(records, in: path) }
                position = 0
                while let finding = try subjects.next(in: piece.span, from: &position) {
                    if finding == .neighbor(Self.predicateType), subjects.text == Self.receiptType { isReceipt = true }
                }
            }
        } catch let error as JSONError {
            throw LiveTableError(receipt: path, "not a delivery receipt: \(error)")
        }
        guard isReceipt, records.isComplete else { throw LiveTableError(receipt: path, "not a delivery receipt") }
        guard records.hasFoundArray else {
            throw LiveTableError(receipt: path, "the delivery receipt does not list records")
        }
    }

    private static let predicateType: JSONKey = "predicateType"
    private static let receiptType = Array("\"\(Statement.deliveryType)\"".utf8)

    /// Adds the time of the record that `reader` has found, if the record was delivered.
    private mutating func add(_ reader: JSONArrayStreamReader, in path: String) throws {
        guard !reader.isTooLong, let record = try? JSONFields(reader.text), let system = record.text("system"),
            let type = record.text("type"), let id = record.text("id"), let hash = record.text("sha256"),
            let outcome = record.text("outcome")
        else {
            throw LiveTableError(receipt: path, "not a record of a delivery receipt at byte \(reader.range.lowerBound)")
        }
        guard CapturedText(outcome) == "delivered",
            record.integer("status").map({ Self.deliveredStatuses.contains($0) }) == true,
            let time = record.text("time").flatMap({ Timestamp(rfc3339: $0) })
        else { return }
        let key = Self.key(system: SystemName(system), type: type, id: id, payloadHash: hash)
        times[key] = min(times[key] ?? time, time)
    }

    private static func key(system: SystemName, type: String, id: String, payloadHash: String) -> RecordKey {
        RecordKey(
            identity: RecordKey.identity(system: system, type: type, id: id),
            content: Digest16(of: payloadHash.utf8.span))
    }

    /// Returns the time at which a record was delivered, with a precision of seconds, or `nil` if it is unknown.
    ///
    /// `payloadHash` is the SHA-256 of the payload in hexadecimal.
    func time(system: SystemName, type: String, id: String, payloadHash: String) -> String? {
        // The end `.000Z` of the time is replaced.
        times[Self.key(system: system, type: type, id: id, payloadHash: payloadHash)].map {
            "\($0.description.dropLast(5))Z"
        }
    }
}

extension LiveTableError {
    fileprivate init(receipt path: String, _ reason: String) {
        self.init(
            "\(path): \(reason)",
            remedy:
                "make a receipt with pingferry-upload receipt --receipt-records, or send --receipt --receipt-records")
    }
}
