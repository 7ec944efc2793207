import JSONText
import Telemetry

/// A file of a ping folder that was parsed before its pings are read, because its name tells no time.
struct ParsedPingFile: Sendable {
    /// The JSON, or why it is none.
    let json: Result<JSONDocument, JSONError>

    /// Parses the bytes of a file.
    init(_ bytes: [UInt8]) {
        json = Result { () throws(JSONError) in try JSONDocument(bytes) }
    }

    /// The time that orders the file: the timestamp of its envelope, or of the first of several.
    var time: DecimalTime? {
        guard case .success(let document) = json else { return nil }
        return document.timestamp(ofEnvelope: document.firstElement(of: document.root) ?? document.root)
    }

    /// How many bytes of memory this takes besides the bytes of the file, about.
    var memorySize: Int {
        guard case .success(let document) = json else { return 0 }
        return document.memorySize
    }
}

extension JSONDocument {
    /// The timestamp of an envelope, as far as it orders pings: a number, or text that is a plain decimal.
    func timestamp(ofEnvelope envelope: JSONNode) -> DecimalTime? {
        guard let value = value(of: EnvelopeKeys.timestamp, in: envelope) else { return nil }
        return switch kind(of: value) {
        case .number: DecimalTime(bytes(of: value))
        case .string: DecimalTime(plain: bytes(of: value))
        default: nil
        }
    }
}
