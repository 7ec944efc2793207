import Foundation
import JSONText
import Systems
import Telemetry
import TestSupport
import Testing

/// Tests rounding the times of all records in the captures with expected results.
@Suite struct RoundedTimesTests {
    /// The keys of numbers that are in the range of times, but are sizes, sums and ids.
    private static let otherKeys: Set = ["device_memory_size", "messageId", "sum"]

    private func pseudonymized(_ record: Record, _ unit: TimeUnit?) throws -> Record {
        var record = record
        let key = try PseudonymKey([UInt8](repeating: 7, count: 32))
        var pseudonymizer = RecordPseudonymizer(key, knowing: Systems.table, timeUnit: unit)
        _ = try pseudonymizer.pseudonymize(&record)
        return record
    }

    @Test(
        "No time is more exact than the unit, and payloads remain valid.",
        arguments: ["adjust", "glean", "leanplum", "mozilla", "sift"])
    func captures(name: String) async throws {
        let records = try await ReadCapture(path: try SharedCaptures.unpacked(name)).records
        #expect(records.count >= 30)
        for record in records {
            let plain = try pseudonymized(record, nil)
            for (unit, milliseconds) in [(TimeUnit.hour, 3_600_000), (.day, 86_400_000)] {
                let rounded = try pseudonymized(record, unit)
                #expect(try exactTimes(in: rounded, milliseconds) == [], "\(record.id)")
                #expect(rounded.held == plain.held && rounded.id == plain.id && rounded.target == plain.target)
                #expect(rounded.notes == [plain.notes[0], "times-coarsened \(unit)"] + plain.notes.dropFirst())
                if try hasDocumentedForm(plain) { #expect(try hasDocumentedForm(rounded), "\(record.id)") }
            }
        }
    }

    @Test("The search finds times that are not rounded.")
    func searchFindsTimes() async throws {
        let records = try await ReadCapture(path: try SharedCaptures.unpacked("glean")).records
        let exact = try records.filter { try !exactTimes(in: pseudonymized($0, nil), 3_600_000).isEmpty }
        #expect(exact.count > records.count / 2)
    }

    /// Returns whether a check of the payload finds no fault.
    private func hasDocumentedForm(_ record: Record) throws -> Bool {
        let system = try #require(Systems.table[record.system])
        var document = try JSONDocument(record.payload, policy: JSONReadingPolicy(unpairedSurrogates: .keep))
        let upload = CapturedUpload(route: nil, time: nil, source: record.source)
        return (try? upload.record(by: system.requests, in: &document))?.held.contains(where: \.isSchema) == false
    }

    // MARK: Searching for times

    /// Returns the values that are times, but not multiples of the given number of milliseconds.
    private func exactTimes(in record: Record, _ unit: Int) throws -> [String] {
        var line: [UInt8] = []
        record.write(to: &line)
        var found: [String] = []
        search(try JSONSerialization.jsonObject(with: Data(line)), key: "", unit, &found)
        return found
    }

    private func search(_ value: Any, key: String, _ unit: Int, _ found: inout [String]) {
        switch value {
        case let object as [String: Any]:
            for (key, value) in object { search(value, key: key, unit, &found) }
        case let list as [Any]:
            for value in list { search(value, key: key, unit, &found) }
        case let text as String:
            if text.hasPrefix("{"), let nested = try? JSONSerialization.jsonObject(with: Data(text.utf8)) {
                search(nested, key: "", unit, &found)
            } else if isExactTime(text, unit) || isExactNumber(text, key: key, unit) {
                found.append("\(key): \(text)")
            }
        case let number as NSNumber:
            if isExactNumber("\(number)", key: key, unit) { found.append("\(key): \(number)") }
        default: break
        }
    }

    private let timeForm = /(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(\.\d+)?[Z ]{0,2}(?:([+-]\d\d):?(\d\d))?/

    /// Returns whether a string is a date and a time with minutes that is not a multiple of the unit in UTC.
    private func isExactTime(_ text: String, _ unit: Int) -> Bool {
        // This check is much faster than the expression.
        guard text.utf8.count >= 16, ("0"..."9").contains(text.prefix(1)) else { return false }
        guard let match = text.wholeMatch(of: timeForm) else { return false }
        let zone = match.5.map { "\($0):\(match.6 ?? "00")" } ?? "Z"
        let time = Timestamp(rfc3339: "\(match.1)T\(match.2)\(match.3 ?? ":00")\(match.4 ?? "")\(zone)")
        return time.map { Int($0.milliseconds) % unit != 0 } ?? false
    }

    /// Returns whether a number of seconds, milliseconds, microseconds or nanoseconds is in the years 2011 to 2199 and
    /// is not a multiple of the unit.
    private func isExactNumber(_ text: String, key: String, _ unit: Int) -> Bool {
        guard text.utf8.count >= 10, !Self.otherKeys.contains(key), let number = Double(text) else { return false }
        return [0.001, 1, 1_000, 1_000_000].contains { scale in
            (1_293_840_000_000..<7_258_118_400_000).contains(number / scale)
                && (number / scale).truncatingRemainder(dividingBy: Double(unit)) != 0
        }
    }
}
