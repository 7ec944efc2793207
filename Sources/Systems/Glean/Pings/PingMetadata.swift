import JSONText
import Telemetry

/// The metadata that the SDK needs to send a ping, from the third line of the ping file.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 4.
struct PingMetadata {
    /// The header fields to send, as stored.
    private(set) var headers: [HeaderField] = []
    /// Whether the body must have the sections `client_info` and `ping_info`.
    private(set) var requiresInfoSections = true
    private(set) var pingName: String?
    /// The capabilities that a program must have to upload the ping.
    private(set) var capabilities: [String] = []
    /// The keys that no known SDK version writes.
    private(set) var unknownKeys: [String] = []

    private static let headers: JSONKey = "headers"
    private static let infoSections: JSONKey = "body_has_info_sections"
    private static let pingName: JSONKey = "ping_name"
    private static let capabilities: JSONKey = "uploader_capabilities"
    private static let knownKeys = [headers, infoSections, pingName, capabilities]

    /// Creates the metadata of a file without a third line.
    init() {}

    /// Reads the metadata in a parsed third line.
    ///
    /// Like the SDK, returns `nil` if the line is not an object, or if the value of a known key has the wrong type.
    init?(_ document: JSONDocument) {
        let root = document.root
        guard document.kind(of: root) == .object else { return nil }
        for index in 0..<document.memberCount(of: root) {
            let member = document.member(at: index, of: root)
            guard let key = Self.knownKeys.first(where: { document.bytes(of: member.key).equals($0.utf8.span) }) else {
                unknownKeys.append(document.string(of: member.key))
                continue
            }
            // `null` has the same meaning as a missing key (case G33).
            guard document.kind(of: member.value) != .null else { continue }
            guard read(member.value, of: key, in: document) else { return nil }
        }
    }

    /// Reads the value of a known key, or returns `false` if the value has the wrong type.
    private mutating func read(_ value: JSONNode, of key: JSONKey, in document: JSONDocument) -> Bool {
        switch key {
        case Self.headers: return readHeaders(value, in: document)
        case Self.infoSections:
            requiresInfoSections = document.kind(of: value) == .true
            return requiresInfoSections || document.kind(of: value) == .false
        case Self.pingName:
            guard document.kind(of: value) == .string else { return false }
            pingName = document.string(of: value)
            return true
        default:
            guard let names = document.strings(of: value) else { return false }
            capabilities = names
            return true
        }
    }

    private mutating func readHeaders(_ value: JSONNode, in document: JSONDocument) -> Bool {
        guard document.kind(of: value) == .object else { return false }
        for index in 0..<document.memberCount(of: value) {
            let member = document.member(at: index, of: value)
            guard document.kind(of: member.value) == .string else { return false }
            headers.append(HeaderField(document.string(of: member.key), document.string(of: member.value)))
        }
        return true
    }
}

extension JSONDocument {
    /// Returns the elements of an array of strings, or `nil` if `array` is anything else.
    func strings(of array: JSONNode) -> [String]? {
        guard kind(of: array) == .array else { return nil }
        var strings: [String] = []
        var element = firstElement(of: array)
        while let current = element {
            guard kind(of: current) == .string else { return nil }
            strings.append(string(of: current))
            element = self.element(after: current, of: array)
        }
        return strings
    }
}
