import Telemetry

/// A reject without its free text.
public struct Refused: Equatable, Sendable {
    /// The case id that its reason begins with.
    public let code: String
    /// Where it begins in the file.
    public let offset: Int?
    /// How long it is, in bytes.
    public let length: Int?

    /// Tells what is expected.
    public init(_ code: String, at offset: Int? = nil, length: Int? = nil) {
        self.code = code
        self.offset = offset
        self.length = length
    }

    /// Leaves out the free text.
    public init(_ reject: Reject) {
        self.init(reject.reason.code, at: reject.offset, length: reject.length)
    }
}

extension String {
    /// The case id that a note or a reason begins with.
    public var code: String { String(prefix { $0 != " " }) }
}

extension ScanOutput {
    /// The rejects without their free text.
    public var refused: [Refused] { rejects.map { Refused($0) } }
}

extension Record {
    /// The payload as text.
    public var text: String { String(decoding: payload, as: UTF8.self) }
    /// The notes without their free text.
    public var noteCodes: [String] { notes.map(\.code) }
    /// The holds without their details.
    public var heldCodes: [String] { held.map(\.code) }

    /// The record as a line without its line feed.
    public var line: String {
        var line: [UInt8] = []
        write(to: &line)
        return String(decoding: line.dropLast(), as: UTF8.self)
    }

    /// The record with nothing but codes as notes, as a line without its line feed.
    public var lineWithNoteCodes: String {
        var record = self
        record.notes = noteCodes
        return record.line
    }
}

extension LogFinding {
    /// The upload, if it is one.
    public var record: Record? {
        if case .upload(let record, _) = self { record } else { nil }
    }

    /// Why it cannot be understood, if that is so.
    public var reason: String? {
        if case .reject(let reason) = self { reason } else { nil }
    }

    /// What else it is, if it is no upload.
    public var other: OtherTraffic? {
        if case .other(let traffic) = self { traffic } else { nil }
    }
}

/// Reads decimal seconds; nil if the text is none.
public func decimalTime(_ text: String) -> DecimalTime? { DecimalTime(text.utf8.span) }
