import JSONText
import Telemetry

/// The contents of an NDJSON line, recognized by its keys.
///
/// Sources: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", section 7, and the documents of the
/// systems.
enum LineContents {
    case record
    /// A payload with a description of its request.
    case request
    /// The contents of a store file, which consist of a payload in an envelope.
    case stored(LineShape.Reader)
    /// A payload of a system.
    ///
    /// `isStoredToo` states whether a store file may also consist of only the payload.
    case payload(any TelemetrySystem, isStoredToo: Bool)

    /// Recognizes the contents of a line, or returns `nil` if they are unknown.
    init?(_ document: JSONDocument, _ systems: SystemTable) {
        let root = document.root
        func has(_ keys: JSONKey...) -> Bool { keys.allSatisfy { document.value(of: $0, in: root) != nil } }
        if has("held", "payload", "source", "system") {
            self = .record
        } else if has("url", "body") || has("url", "payload") {
            self = .request
        } else {
            self.init(ofSystems: systems, document)
        }
    }

    // An envelope of any system takes precedence over a payload, because an envelope has more keys.
    private init?(ofSystems systems: SystemTable, _ document: JSONDocument) {
        var found: LineContents?
        for system in systems.all.reversed() {
            switch system.requests.lineShape?(document) {
            case .stored(let reader)?:
                self = .stored(reader)
                return
            case .payload(let isStoredToo)?: found = found ?? .payload(system, isStoredToo: isStoredToo)
            case nil: continue
            }
        }
        guard let found else { return nil }
        self = found
    }

    /// Parses a line and recognizes its contents, or returns `nil` if they are unknown.
    init?(line: [UInt8], _ systems: SystemTable) {
        guard let document = try? JSONDocument(line, policy: PayloadLineReader.policy) else { return nil }
        self.init(document, systems)
    }

    /// Whether a file that consists of only this line may be a store file.
    var mayBeStoreFile: Bool {
        switch self {
        case .record, .request: false
        case .stored: true
        case .payload(_, let isStoredToo): isStoredToo
        }
    }

    var isRecord: Bool {
        if case .record = self { true } else { false }
    }
}
