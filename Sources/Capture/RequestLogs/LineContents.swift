import JSONText
import Telemetry

/// What stands on a line of an NDJSON file, told by its keys.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", section 7, for its two layouts; the
/// documented payloads of the other systems.
enum LineContents {
    case record
    /// A payload and the request around it.
    case request
    /// A file of a store of a system, with what stands around the payload there.
    case stored(LineShape.Reader)
    /// A payload of a system; whether it may also be a file of a store by itself.
    case payload(any TelemetrySystem, isStoredToo: Bool)

    /// Finds out what a line holds; nil if that is nothing known.
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

    /// What is a whole file is told by more keys than a payload, so it goes first, whichever system it is of.
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

    /// Finds out what a complete line holds; nil if that is nothing known.
    init?(line: [UInt8], _ systems: SystemTable) {
        guard let document = try? JSONDocument(line, policy: PayloadLineReader.policy) else { return nil }
        self.init(document, systems)
    }

    /// Whether a file that holds nothing else may be a file of a store.
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
