import JSONText
import Telemetry

/// The form of the body of a ping: `glean.1`, or `glean-min.1` for a ping without the sections of information.
///
/// A violation holds the record; a key that the form does not know is noted, for the schema is closed but grows with the SDK.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 9.
enum GleanSchema {
    static let clientInfo: JSONKey = "client_info"
    static let pingInfo: JSONKey = "ping_info"
    static let metrics: JSONKey = "metrics"
    static let events: JSONKey = "events"

    /// Checks a body.
    /// - Parameters:
    ///   - document: its root is the body, an object.
    ///   - needsInfo: whether the two sections of information must be there.
    static func check(_ document: JSONDocument, needsInfo: Bool) -> SchemaCheck {
        var check = SchemaCheck(document)
        check.check(document.root, needsInfo ? whole : withoutInfo)
        return check
    }

    /// The form of a body with all its sections.
    static let whole = SchemaRule.object([
        .needed(clientInfo, client), .needed(pingInfo, ping), .optional(metrics, allMetrics),
        .optional(events, .list(event)), .optional("$schema", .anyString),
    ])

    private static let withoutInfo = SchemaRule.object([
        .optional(clientInfo, client), .optional(pingInfo, ping), .optional(metrics, allMetrics),
        .optional(events, .list(event)), .optional("$schema", .anyString),
    ])

    // MARK: Information

    private static let client = SchemaRule.object([
        .needed("app_build", .anyString), .needed("app_display_version", .anyString),
        .needed("architecture", .anyString), .needed("first_run_date", .anyString), .needed("os", .anyString),
        .needed("os_version", .anyString), .needed("telemetry_sdk_build", .anyString),
        .optional("android_sdk_version", .anyString), .optional("app_channel", .anyString),
        .optional("attribution", attribution), .optional("build_date", .anyString), .optional("client_id", uuid),
        .optional("device_manufacturer", .anyString), .optional("device_model", .anyString),
        .optional("distribution", .object([.optional("name", .anyString)])), .optional("locale", .anyString),
        .optional("session_count", .anyInteger), .optional("session_id", .anyString),
        .optional("windows_build_number", .anyInteger),
    ])

    private static let attribution = SchemaRule.object([
        .optional("campaign", .anyString), .optional("content", .anyString), .optional("medium", .anyString),
        .optional("source", .anyString), .optional("term", .anyString),
    ])

    private static let ping = SchemaRule.object([
        .needed("end_time", .anyString), .needed("seq", .anyInteger), .needed("start_time", .anyString),
        .optional("experiments", .map(keys: "an experiment", { $0.hasCharacters(atMost: 100) }, experiment)),
        .optional("ping_type", .text("type of a ping", isPingType)), .optional("reason", .string(atMost: 30)),
        .optional("server_knobs_config", serverKnobs),
    ])

    private static let experiment = SchemaRule.object([
        .needed("branch", .anyString),
        .optional("extra", .orNull(.open([.optional("enrollment_id", .anyString), .optional("type", .anyString)]))),
    ])

    private static let serverKnobs = SchemaRule.object([
        .optional("event_threshold", .orNull(.integer(atLeast: 0))),
        .optional("metrics_enabled", .map(keys: "a metric", { _ in true }, .boolean)),
        .optional("pings_enabled", .map(keys: "a ping", { _ in true }, .boolean)),
        .optional("session_sample_rate", .orNull(.share)),
    ])

    // MARK: Events

    private static let event = SchemaRule.object([
        .needed("category", .anyString), .needed("name", .anyString), .needed("timestamp", .integer(atLeast: 0)),
        .optional("extra", .map(keys: "an extra", { $0.hasCharacters(atMost: 40) }, .anyString)),
        .optional("session", session),
    ])

    private static let session = SchemaRule.object([
        .needed("event_seq", .integer(atLeast: 0)), .needed("session_id", .anyString),
        .needed("session_sample_rate", .share), .needed("session_seq", .integer(atLeast: 0)),
        .optional("session_start_time", .anyString),
    ])

    // MARK: Metrics

    private static let allMetrics: SchemaRule = {
        let simple: [(JSONKey, SchemaRule)] = [
            ("boolean", .boolean), ("counter", .anyInteger), ("custom_distribution", customDistribution),
            ("datetime", .anyString), ("jwe", .anyString), ("memory_distribution", distribution),
            ("object", .structure), ("quantity", .anyInteger), ("rate", rate), ("string", .anyString),
            ("string_list", .list(.anyString)), ("text", .string(atMost: 204_800)), ("timespan", timespan),
            ("timing_distribution", distribution), ("url", .text("URL", isURL)), ("uuid", uuid),
            ("dual_labeled_counter", labeled(labeled(.anyInteger))),
        ]
        let labeledTypes: [(JSONKey, SchemaRule)] = [
            ("labeled_boolean", .boolean), ("labeled_counter", .anyInteger),
            ("labeled_custom_distribution", customDistribution), ("labeled_memory_distribution", distribution),
            ("labeled_quantity", .anyInteger), ("labeled_rate", rate), ("labeled_string", .anyString),
            ("labeled_timing_distribution", distribution),
        ]
        let all = simple + labeledTypes.map { ($0.0, labeled($0.1)) }
        return .object(SchemaKeys(all.map { .optional($0.0, .map(keys: "a metric", isMetricName, $0.1)) }))
    }()

    private static func labeled(_ rule: SchemaRule) -> SchemaRule {
        .map(keys: "a label", { $0.hasCharacters(atMost: 111) }, rule)
    }

    private static let timespan = SchemaRule.object([
        .needed("time_unit", .text("unit of time", isTimeUnit)), .needed("value", .anyInteger),
    ])

    private static let rate = SchemaRule.object([
        .needed("denominator", .integer(atLeast: 0)), .needed("numerator", .integer(atLeast: 0)),
    ])

    private static let buckets = SchemaRule.map(keys: "a bucket", isDigits, .anyInteger)
    private static let distribution = SchemaRule.object([.needed("values", buckets), .optional("sum", .anyInteger)])
    private static let customDistribution = SchemaRule.object([.needed("values", buckets), .needed("sum", .anyInteger)])

    // MARK: Texts

    private static let uuid = SchemaRule.text("UUID", { $0.isUUID })

    /// `[a-z_][a-z0-9_.]+`, at most 111 characters.
    @Sendable private static func isMetricName(_ name: Span<UInt8>) -> Bool {
        guard (2...111).contains(name.count), !name[0].isDigit, name[0] != UInt8(ascii: ".") else { return false }
        for index in name.indices {
            let byte = name[index]
            guard (0x61...0x7A).contains(byte) || byte.isDigit || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
            else { return false }
        }
        return true
    }

    /// `[a-z-_][a-z0-9-_]*`, at most 30 characters.
    @Sendable private static func isPingType(_ text: Span<UInt8>) -> Bool {
        guard (1...30).contains(text.count), !text[0].isDigit else { return false }
        for index in text.indices {
            let byte = text[index]
            guard (0x61...0x7A).contains(byte) || byte.isDigit || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            else { return false }
        }
        return true
    }

    @Sendable private static func isTimeUnit(_ text: Span<UInt8>) -> Bool {
        let units = ["nanosecond", "microsecond", "millisecond", "second", "minute", "hour", "day"]
        return units.contains { text.equals($0) }
    }

    @Sendable private static func isDigits(_ text: Span<UInt8>) -> Bool {
        for index in text.indices where !text[index].isDigit { return false }
        return !text.isEmpty
    }

    /// A scheme, a colon and more; data in the place of an address is not wanted.
    @Sendable private static func isURL(_ text: Span<UInt8>) -> Bool {
        guard text.count > 1, (0x61...0x7A).contains(text[0] | 0x20) else { return false }
        guard text.count < 4 || !text.extracting(..<4).equals("data") else { return false }
        for index in text.indices {
            let byte = text[index]
            if byte == UInt8(ascii: ":") { return true }
            guard byte.isWordOrHyphen || byte == UInt8(ascii: "+") || byte == UInt8(ascii: ".") else { return false }
        }
        return false
    }
}
