import JSONText

/// A body that was on its way to one of the four systems, and what is known of the request around it.
struct CapturedUpload {
    /// Where it went; nil where only the body was captured.
    let route: UploadRoute?
    /// When it was captured.
    let time: Timestamp?
    /// Where it was found.
    let source: Source

    /// Makes a record of a body.
    /// - Parameter document: holds the body; its values are brought into the documented form.
    /// - Throws: ``BodyFault``.
    func record(of system: TelemetrySystem, in document: inout JSONDocument) throws(BodyFault) -> Record {
        guard document.kind(of: document.root) == .object else { throw .invalid("the body is no object") }
        return switch system {
        case .mozilla: mozillaRecord(in: &document)
        case .sift: try siftRecord(in: document)
        case .leanplum: try leanplumRecord(in: document)
        case .activityStream: try activityStreamRecord(in: &document)
        }
    }

    /// Completes a record: where it goes, and what the route found odd.
    /// - Parameter fallback: where all records of the system go, if that is known without a route.
    func finished(_ record: Record, goingTo fallback: Target? = nil) -> Record {
        var record = record
        record.notes += route?.notes ?? []
        record.target = route == nil ? fallback : route?.target
        if record.target == nil { record.held.append(.noTarget) }
        return record
    }
}

/// Why a captured body makes no record.
enum BodyFault: Error {
    /// It is not what the system's server takes.
    case invalid(String)
    /// It is for another client of the same server.
    case foreign
}

extension JSONDocument {
    /// The string at a key, if it is one and not empty.
    func text(_ key: JSONKey, in object: JSONNode) -> String? {
        guard let value = value(of: key, in: object), kind(of: value) == .string, !bytes(of: value).isEmpty else {
            return nil
        }
        return string(of: value)
    }

    /// The array at a key, if it is one.
    func array(_ key: JSONKey, in object: JSONNode) -> JSONNode? {
        value(of: key, in: object).flatMap { kind(of: $0) == .array ? $0 : nil }
    }
}
