import JSONText
import Telemetry

/// The third line of a ping file: what the SDK has to know to send the ping.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 4.
struct PingMetadata {
    /// Fields that are sent in the header, as stored.
    private(set) var headers: [HeaderField] = []
    /// Whether the body has to have the two sections of information.
    private(set) var hasInfoSections = true
    private(set) var pingName: String?
    /// What an uploader must be able to do.
    private(set) var capabilities: [String] = []
    /// Keys that no version of the SDK is known to write.
    private(set) var unknownKeys: [String] = []

    private static let headers: JSONKey = "headers"
    private static let infoSections: JSONKey = "body_has_info_sections"
    private static let pingName: JSONKey = "ping_name"
    private static let capabilities: JSONKey = "uploader_capabilities"
    private static let known = [headers, infoSections, pingName, capabilities]

    /// The metadata of a file without a third line.
    init() {}

    /// Reads a third line; nil if the SDK could not: it is no object, or a key of the SDK has a value of another type.
    /// - Parameter document: the line was read into it.
    init?(_ document: JSONDocument) {
        let root = document.root
        guard document.kind(of: root) == .object else { return nil }
        for place in 0..<document.memberCount(of: root) {
            let member = document.member(at: place, of: root)
            guard let key = Self.known.first(where: { document.bytes(of: member.key).equals($0.utf8.span) }) else {
                unknownKeys.append(document.string(of: member.key))
                continue
            }
            // A null is as good as nothing [G33].
            guard document.kind(of: member.value) != .null else { continue }
            guard take(member.value, of: key, in: document) else { return nil }
        }
    }

    /// Takes the value of a key that the SDK writes.
    /// - Returns: whether it has the type that it must have.
    private mutating func take(_ value: JSONNode, of key: JSONKey, in document: JSONDocument) -> Bool {
        switch key {
        case Self.headers: return takeHeaders(value, in: document)
        case Self.infoSections:
            hasInfoSections = document.kind(of: value) == .true
            return hasInfoSections || document.kind(of: value) == .false
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

    private mutating func takeHeaders(_ value: JSONNode, in document: JSONDocument) -> Bool {
        guard document.kind(of: value) == .object else { return false }
        for place in 0..<document.memberCount(of: value) {
            let member = document.member(at: place, of: value)
            guard document.kind(of: member.value) == .string else { return false }
            headers.append(HeaderField(document.string(of: member.key), document.string(of: member.value)))
        }
        return true
    }
}

extension JSONDocument {
    /// The strings of an array of strings; nil for anything else.
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
