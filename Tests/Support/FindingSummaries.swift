import JSONText
import Telemetry

/// A rejected span of bytes, with only the code of the reason.
public struct RejectSummary: Equatable, Sendable {
    /// The case id at the start of the reason.
    public let code: String
    /// The offset of the span in the file, in bytes.
    public let offset: Int?
    /// The length of the span, in bytes.
    public let length: Int?

    /// Creates an expected value.
    public init(_ code: String, at offset: Int? = nil, length: Int? = nil) {
        self.code = code
        self.offset = offset
        self.length = length
    }

    /// Creates a value from a reject.
    public init(_ reject: Reject) {
        self.init(reject.reason.code, at: reject.offset, length: reject.length)
    }
}

extension String {
    /// The case id at the start of a note or a reason.
    public var code: String { String(prefix { $0 != " " }) }
}

/// Calls `body`, which throws no error unless the test is wrong.
///
/// An output without a spool and pseudonyms throws no errors.
public func withoutErrors<Value>(_ body: () throws -> Value) -> Value {
    do {
        return try body()
    } catch {
        preconditionFailure("\(error)")
    }
}

extension ScanOutput {
    /// The records that were written.
    public var records: [Record] {
        var document = JSONDocument()
        return entries.map { entry in
            withoutErrors { try Record(line: Array(lines[entry.line].dropLast()), using: &document) }
        }
    }
    /// The rejects, without the files that contain them.
    public var rejects: [Reject] { quarantined.map(\.reject) }
    /// The rejects, with only the codes of their reasons.
    public var refused: [RejectSummary] { rejects.map { RejectSummary($0) } }
}

extension Record {
    /// The payload as a string.
    public var text: String { String(decoding: payload, as: UTF8.self) }
    /// The codes of the notes.
    public var noteCodes: [String] { notes.map(\.code) }
    /// The codes of the holds.
    public var heldCodes: [String] { held.map(\.code) }

    /// The line of the record, without the line feed.
    public var line: String {
        var line: [UInt8] = []
        write(to: &line)
        return String(decoding: line.dropLast(), as: UTF8.self)
    }

    /// The line of the record with only the codes of its notes, without the line feed.
    public var lineWithNoteCodes: String {
        var record = self
        record.notes = noteCodes
        return record.line
    }
}

extension LogFinding {
    /// The record, if the finding is an upload.
    public var record: Record? {
        if case .upload(let record, _) = self { record } else { nil }
    }

    /// The reason for the rejection, or `nil` if the finding is not a reject.
    public var reason: String? {
        if case .reject(let reason) = self { reason } else { nil }
    }

    /// The kind of traffic, if the finding is neither an upload nor a reject.
    public var other: OtherTraffic? {
        if case .other(let traffic) = self { traffic } else { nil }
    }
}

/// Parses decimal seconds, or returns `nil` if the string is not a number of seconds.
public func decimalTime(_ text: String) -> DecimalTime? { DecimalTime(text.utf8.span) }
