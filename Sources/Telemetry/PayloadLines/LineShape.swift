import JSONText

/// What stands on a line of an NDJSON file, told by its keys.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", section 7, for its two layouts; the
/// documented payloads of the other systems.
public enum LineShape: Sendable, Equatable {
    /// A record of ours.
    case record
    /// A payload and the request around it.
    case request
    /// A ping as Mozilla's apps store it.
    case envelope
    /// A payload of a system.
    case payload(TelemetrySystem)

    /// Tells the shape of a line; nil if it has none that is known.
    init?(_ document: JSONDocument) {
        let root = document.root
        func has(_ keys: JSONKey...) -> Bool { keys.allSatisfy { document.value(of: $0, in: root) != nil } }
        if has("held", "payload", "source", "system") {
            self = .record
        } else if has("url", "body") || has("url", "payload") {
            self = .request
        } else if has("documentId", "measurements", "uploadPath") {
            self = .envelope
        } else if has("topic") || has("app_version", "event") || has("app_version", "session_duration") {
            self = .payload(.activityStream)
        } else if let items = document.array("data", in: root), let first = document.firstElement(of: items) {
            guard document.kind(of: first) == .object else { return nil }
            self = .payload(document.value(of: LeanplumRequestKeys.action, in: first) == nil ? .sift : .leanplum)
        } else if has("clientId", "v") {
            self = .payload(.mozilla)
        } else {
            return nil
        }
    }

    /// Tells the shape of a complete line; nil if it has none that is known.
    public init?(line: [UInt8]) {
        guard let document = try? JSONDocument(line, policy: PayloadLineReader.policy) else { return nil }
        self.init(document)
    }
}
