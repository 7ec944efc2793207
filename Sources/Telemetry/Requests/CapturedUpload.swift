import JSONText

/// A payload that was on its way to a system's server, and what is known of the request around it.
///
/// ```swift
/// let route = try UploadRoute(method: "POST", url: url, Systems.table)
/// let upload = CapturedUpload(route: route, time: nil, source: source)
/// var document = try JSONDocument(body)
/// if let system = Systems.table[route.system] {
///     record = try upload.record(by: system.requests, in: &document)
/// }
/// ```
public struct CapturedUpload: Sendable {
    /// Where it went; nil where only the payload was captured.
    public let route: UploadRoute?
    /// The fields of its header that the system asks for (``RequestFormat/headers``), as they stand in the capture: in its
    /// order and letter case, also those that come twice. A value that is no text is empty.
    public let headers: [HeaderField]
    /// When it was captured.
    public let time: Timestamp?
    /// Where it was found.
    public let source: Source

    /// Describes an upload.
    public init(route: UploadRoute?, headers: [HeaderField] = [], time: Timestamp?, source: Source) {
        self.route = route
        self.headers = headers
        self.time = time
        self.source = source
    }

    /// Makes a record of the payload in `document`, whose values are brought into the documented form.
    public func record(by format: RequestFormat, in document: inout JSONDocument) throws(BodyError) -> Record {
        guard document.kind(of: document.root) == .object else { throw .invalid("the body is no object") }
        return try format.record(self, &document)
    }

    /// Completes a record: where it goes, and what the route found odd.
    /// - Parameter fallback: where all records of the system go, if that is known without a route.
    public func finished(_ record: Record, goingTo fallback: Target? = nil) -> Record {
        var record = record
        record.notes += route?.notes ?? []
        record.target = route == nil ? fallback : route?.target
        if record.target == nil { record.held.append(.noTarget) }
        return record
    }
}

/// Why a captured request makes no record. The reason must not contain captured data.
public enum BodyError: Error {
    /// The body is not what the server of the system accepts. `code` is `nil` for the usual code of the log.
    case invalid(String, code: String? = nil)
    /// The request is no upload, or one of another client of the same server.
    case foreign(OtherTraffic)
}

extension JSONDocument {
    /// The string at a key, if it is one and not empty.
    public func text(_ key: JSONKey, in object: JSONNode) -> String? {
        guard let value = value(of: key, .string, in: object), !bytes(of: value).isEmpty else { return nil }
        return string(of: value)
    }

    /// The array at a key, if it is one.
    public func array(_ key: JSONKey, in object: JSONNode) -> JSONNode? {
        value(of: key, .array, in: object)
    }
}
