import Bytes
import JSONText
import LiveTables

/// The rules of the pipeline for the uploads of a telemetry system.
///
/// Source: "BigQuery rows", section 8.
public protocol LiveTableFormat: Sendable {
    /// Returns why the pipeline discards a message, or `nil` if it does not.
    func rejection(of message: PipelineMessage, payload: JSONDocument) -> String?
    /// Replaces the values in `payload` that the pipeline removes for privacy.
    func redact(_ payload: inout JSONDocument, of message: PipelineMessage)
}

/// The attributes of an upload in Mozilla's pipeline, which are read from its path, its header fields and its payload.
///
/// Source: "BigQuery rows", sections 2, 6, 7 and 8.
public struct PipelineMessage: Sendable {
    /// The namespace, which is `telemetry` for uploads of telemetry-ios.
    public private(set) var namespace: String
    /// The document type as written in the path.
    public private(set) var documentType: String
    /// The version of the document type, or `nil` if the payload states it.
    public private(set) var version: String?
    /// The document id as written in the path.
    public private(set) var documentID: String
    /// The values of the keys in ``uriKeys``.
    private var uri: [String?] = [nil, nil, nil, nil]
    private var headers: [CapturedText: String] = [:]
    private var geo: [CapturedText: String] = [:]
    private var isp: [CapturedText: String] = [:]
    private var userAgent: [CapturedText: String] = [:]
    private var os: String?
    private var osVersion: String?
    /// The client id in lowercase, or `nil` if the payload contains no client id that is a UUID.
    public private(set) var clientID: String?
    /// The time of the delivery, or `nil` if it is unknown.
    public var submissionTimestamp: String?
    /// The values of the keys in ``normalizedKeys``.
    private var normalized: [String?] = [nil, nil, nil, nil, nil]
    private var sampleID: Int32?

    /// The name, version, channel and build of the app in the path of telemetry-ios.
    private static let uriKeys: [JSONKey] = ["app_name", "app_version", "app_update_channel", "app_build_id"]
    private static let channelIndex = 2
    private static let headerNames: Set<CapturedText> = [
        "date", "dnt", "x_debug_id", "x_foxsec_ip_reputation", "x_lb_tags", "x_pingsender_version", "x_source_tags",
        "x_telemetry_agent",
    ]
    private static let normalizedKeys: [JSONKey] = [
        "normalized_app_name", "normalized_channel", "normalized_os", "normalized_os_version",
        "normalized_country_code",
    ]
    private static let metadata: JSONKey = "metadata"
    private static let (clientInfo, appChannel, os): (JSONKey, JSONKey, JSONKey) = ("client_info", "app_channel", "os")
    private static let (osVersion, osversion): (JSONKey, JSONKey) = ("os_version", "osversion")
    private static let (environment, system): (JSONKey, JSONKey) = ("environment", "system")
    private static let releaseChannel: JSONKey = "release_channel"
    private static let versionKeys: [JSONKey] = ["version", "v"]
    private static let documentIDKey: JSONKey = "document_id"
    private static let timestampKey: JSONKey = "submission_timestamp"
    private static let sampleIDKey: JSONKey = "sample_id"

    /// The keys that the pipeline removes from payloads, because it adds them itself.
    public static let reservedKeys = [metadata, documentIDKey, timestampKey, sampleIDKey] + normalizedKeys
    /// The namespace of the uploads of telemetry-ios.
    public static let telemetry = "telemetry"

    /// The name of the app, or `nil` if the path does not contain it.
    public var appName: String? { uri[0] }
    /// The version of the app, or `nil` if the path does not contain it.
    public var appVersion: String? { uri[1] }
    /// The user agent or telemetry agent, or `nil` if it is unknown.
    public var agent: String? { headers["x_telemetry_agent"] }

    /// Reads the path and the header fields of an upload.
    public init(path: String, headers: [CapturedText: String]) throws(RowRefusal) {
        let bytes = path.utf8.prefix { $0 != UInt8(ascii: "?") }
        let submit = "/submit/"
        guard bytes.starts(with: submit.utf8) else { throw RowRefusal("uri: unknown path") }
        var parts = bytes.dropFirst(submit.utf8.count).split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
        )
        .map { String(decoding: $0, as: UTF8.self) }
        // The path `/submit/telemetry` without a slash is not that of telemetry-ios.
        let isTelemetry = parts.count > 1 && CapturedText(parts[0]) == Self.telemetry
        if isTelemetry { parts.removeFirst() }
        while parts.count > 1, parts.last?.isEmpty == true { parts.removeLast() }
        let count = isTelemetry ? 6 : 4
        guard parts.count == count else { throw RowRefusal("uri: \(parts.count.counted("part")), not \(count)") }
        if isTelemetry {
            (namespace, documentType, documentID) = (Self.telemetry, parts[1], parts[0])
            uri = parts[2...].map { $0 }
        } else {
            (namespace, documentType, version, documentID) = (parts[0], parts[1], parts[2], parts[3])
        }
        guard Self.isUUID(documentID.utf8.span) else { throw RowRefusal("uri: document id is not a UUID") }
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            let attribute = name.lowercasedASCII().string.replacing("-", with: "_")
            if Self.headerNames.contains(attribute) { self.headers[attribute] = value }
        }
    }

    /// Returns whether Java accepts a string as a UUID: five groups of hexadecimal digits with numbers below 2⁶³.
    private static func isUUID(_ text: Span<UInt8>) -> Bool {
        guard text.count <= 36 else { return false }
        var (groups, digits, isPositive) = (1, 0, false)
        var number: UInt64 = 0
        for index in text.indices {
            if text[index] == UInt8(ascii: "-") {
                guard digits > 0 else { return false }
                (groups, digits, isPositive, number) = (groups + 1, 0, false, 0)
            } else if text[index] == UInt8(ascii: "+"), digits == 0, !isPositive {
                isPositive = true
            } else {
                guard let digit = text[index].hexadecimalValue, number < 1 << 59 else { return false }
                number = number << 4 | UInt64(digit)
                digits += 1
            }
        }
        return groups == 5 && digits > 0
    }

    // MARK: Payloads

    /// Replaces attributes by the values of the reserved keys of a payload.
    public mutating func readReservedKeys(of payload: JSONDocument) {
        let root = payload.root
        if let metadata = payload.value(of: Self.metadata, in: root), payload.kind(of: metadata) == .object {
            geo = Self.members("geo", of: metadata, in: payload)
            isp = Self.members("isp", of: metadata, in: payload)
            userAgent = Self.members("user_agent", of: metadata, in: payload)
            let given = Self.members("header", of: metadata, in: payload)
            headers.merge(given.filter { Self.headerNames.contains($0.key) }) { $1 }
            let parts = Self.members("uri", of: metadata, in: payload)
            uri = zip(Self.uriKeys, uri).map { parts[$0.description] ?? $1 }
            namespace = payload.string(forKey: "document_namespace", in: metadata) ?? namespace
            documentType = payload.string(forKey: "document_type", in: metadata) ?? documentType
            version = payload.string(forKey: "document_version", in: metadata) ?? version
        }
        submissionTimestamp = payload.string(forKey: Self.timestampKey, in: root) ?? submissionTimestamp
        documentID = payload.string(forKey: Self.documentIDKey, in: root) ?? documentID
        normalized = zip(Self.normalizedKeys, normalized).map { payload.string(forKey: $0, in: root) ?? $1 }
        sampleID = payload.value(of: Self.sampleIDKey, in: root).flatMap { Int32(Self.text(of: $0, in: payload)) }
    }

    /// Returns the members of the object for `key` as strings, without those that are null.
    private static func members(
        _ key: JSONKey, of metadata: JSONNode, in payload: JSONDocument
    ) -> [CapturedText: String] {
        guard let object = payload.value(of: key, in: metadata) else { return [:] }
        var found: [CapturedText: String] = [:]
        for member in payload.members(of: object) {
            guard payload.kind(of: member.value) != .null else { continue }
            found[payload.string(of: member.key)] = text(of: member.value, in: payload)
        }
        return found
    }

    /// Returns a scalar as a string, or an empty string for an array or object.
    private static func text(of node: JSONNode, in payload: JSONDocument) -> String {
        switch payload.kind(of: node) {
        case .string: return payload.string(of: node)
        case .array, .object, .removed: return ""
        case .null, .true, .false, .number:
            var text = TextBuffer()
            payload.write(node, in: .jackson, to: &text)
            return String(readingUTF8: text.span)
        }
    }

    /// Returns the version of the document type, or throws an error if neither the path nor the payload states it.
    public func version(in payload: JSONDocument) throws(RowRefusal) -> String {
        if let version { return version }
        for key in Self.versionKeys {
            guard let value = payload.value(of: key, in: payload.root) else { continue }
            let kind = payload.kind(of: value)
            if kind != .array, kind != .object { return Self.text(of: value, in: payload) }
        }
        throw RowRefusal("no version")
    }

    /// The keys of the client id, with the objects that contain them.
    private static let clientKeys: [(object: JSONKey?, key: JSONKey)] = [
        ("client_info", "client_id"), (nil, "client_id"), (nil, "clientId"),
    ]

    /// Replaces the first client id that is a UUID by its normal form, in lowercase and without braces.
    public mutating func normalizeClientID(of payload: inout JSONDocument) {
        for (object, key) in Self.clientKeys {
            guard let parent = object.map({ payload.value(of: $0, in: payload.root) }) ?? payload.root,
                let value = payload.value(of: key, in: parent), payload.kind(of: value) == .string
            else { continue }
            let id = payload.bytes(of: value).copied().filter { $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "}") }
            guard Self.isUUID(id.span) else { continue }
            let normal = id.map(\.lowercased)
            if !payload.bytes(of: value).equals(normal.span) { payload.replace(value, withString: normal) }
            clientID = String(decoding: normal, as: UTF8.self)
            sampleID = Int32(normal.span.checksum % 100)
            return
        }
    }

    /// Reads the channel and the operating system of a payload, and derives the normalized attributes.
    public mutating func readAttributes(of payload: JSONDocument) {
        func object(_ keys: JSONKey...) -> JSONNode? {
            var node: JSONNode? = payload.root
            for key in keys { node = node.flatMap { payload.value(of: key, in: $0) } }
            return node.flatMap { payload.kind(of: $0) == .object ? $0 : nil }
        }
        if let info = object(Self.clientInfo) {
            uri[Self.channelIndex] = payload.text(Self.appChannel, in: info) ?? uri[Self.channelIndex]
            (os, osVersion) = (payload.text(Self.os, in: info), payload.text(Self.osVersion, in: info))
        } else if let system = object(Self.environment, Self.system, Self.os) {
            (os, osVersion) = (payload.text("name", in: system), payload.text("version", in: system))
        } else {
            uri[Self.channelIndex] = payload.text(Self.releaseChannel, in: payload.root) ?? uri[Self.channelIndex]
            (os, osVersion) = (payload.text(Self.os, in: payload.root), payload.text(Self.osversion, in: payload.root))
        }
        let derived = [
            appName.map(NormalizedAttribute.appName), uri[Self.channelIndex].map(NormalizedAttribute.channel),
            os.map(NormalizedAttribute.os), osVersion.map(NormalizedAttribute.osVersion),
            geo["country"].map(NormalizedAttribute.countryCode),
        ]
        normalized = zip(derived, normalized).map { $0 ?? $1 }
    }

    /// Appends the keys that precede those of the payload, as a JSON object.
    public func writeAttributes(to output: inout TextBuffer) {
        func write(_ members: [(key: String, value: String)]) {
            for (index, member) in members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                output.append(jsonString: member.key.utf8.span)
                output.append(UInt8(ascii: ":"))
                output.append(jsonString: member.value.utf8.span)
            }
        }
        func write(_ name: String, _ members: [CapturedText: String]) {
            output.append(copying: name.utf8.span)
            write(members.isEmpty ? [] : members.sorted { $0.key < $1.key }.map { ($0.key.string, $0.value) })
            output.append(UInt8(ascii: "}"))
        }
        write("{\"metadata\":{\"geo\":{", geo)
        write(",\"isp\":{", isp)
        write(",\"user_agent\":{", userAgent)
        write(",\"header\":{", headers)
        if CapturedText(namespace) == Self.telemetry {
            output.append(copying: ",\"uri\":{".utf8.span)
            write(zip(Self.uriKeys, uri).compactMap { key, value in value.map { (key.description, $0) } })
            output.append(UInt8(ascii: "}"))
        }
        output.append(copying: "},".utf8.span)
        var members = [(Self.documentIDKey.description, documentID)]
        if let submissionTimestamp { members.insert((Self.timestampKey.description, submissionTimestamp), at: 0) }
        write(
            members
                + zip(Self.normalizedKeys, normalized).compactMap { key, value in value.map { (key.description, $0) } })
        if let sampleID { output.append(copying: ",\"\(Self.sampleIDKey)\":\(sampleID)".utf8.span) }
        output.append(UInt8(ascii: "}"))
    }
}

/// The normal forms of attributes, by which live data is grouped.
///
/// Source: "BigQuery rows", section 7.
private enum NormalizedAttribute {
    private static let other = "Other"
    /// The names of apps, of which a specific name precedes its prefixes.
    private static let appNames = [
        "Zerda_cn", "Zerda", "Focus-TV", "Focus", "Klar", "FirefoxReality_oculusvr", "FirefoxReality_googlevr",
        "FirefoxReality_wavevr", "FirefoxForFireTV", "FirefoxConnect", "Fennec", "Scryer", "WebXR", "Lockbox",
        "Firefox",
    ]

    static func appName(_ name: String) -> String {
        appNames.first { name.utf8.starts(with: $0.utf8) } ?? other
    }

    static func channel(_ name: String) -> String {
        if ["release", "esr", "beta", "aurora", "nightly"].contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
            return name
        }
        if name.utf8.starts(with: "nightly-cck-".utf8) { return "nightly" }
        return name.utf8.starts(with: "beta".utf8) ? "beta" : other
    }

    static func os(_ name: String) -> String {
        let bytes = Array(name.utf8)
        func begins(with prefixes: String...) -> Bool { prefixes.contains { bytes.starts(with: $0.utf8) } }
        if begins(with: "Windows", "WINNT") { return "Windows" }
        if begins(with: "Darwin") { return "Mac" }
        if ["Linux", "BSD", "SunOS", "Solaris"].contains(where: bytes.contains(text:)) { return "Linux" }
        if begins(with: "iOS") || bytes.contains(text: "iPhone") { return "iOS" }
        return begins(with: "Android") ? "Android" : other
    }

    /// Returns the first one to three numbers, or an empty string if there are none or the text has several lines.
    static func osVersion(_ version: String) -> String {
        let lineEnds: [Unicode.Scalar] = ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"]
        guard !version.unicodeScalars.contains(where: lineEnds.contains) else { return "" }
        var numbers: [Substring.UTF8View] = []
        for part in version.utf8.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false) {
            let number = part.prefix { $0.isDigit }
            if number.isEmpty || numbers.count == 3 { break }
            numbers.append(number)
            if number.count < part.count { break }
        }
        return numbers.map { String(Substring($0)) }.joined(separator: ".")
    }

    static func countryCode(_ code: String) -> String {
        let code = code.uppercased()
        return code.utf8.count == 2 && code.utf8.allSatisfy(\.isUppercaseLetter) ? code : other
    }
}

extension Span<UInt8> {
    /// The CRC-32 of the bytes, as zlib computes it.
    fileprivate var checksum: UInt32 {
        var remainder = UInt32.max
        for index in indices {
            remainder ^= UInt32(self[index])
            for _ in 0..<8 { remainder = remainder >> 1 ^ (remainder & 1 == 0 ? 0 : 0xEDB8_8320) }
        }
        return ~remainder
    }
}
