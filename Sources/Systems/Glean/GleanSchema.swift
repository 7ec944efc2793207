import JSONText
import Telemetry

/// The schema of the body of a ping: `glean.1`, or `glean-min.1` without `client_info` and `ping_info`.
///
/// A record that violates the schema is held. An unknown key only adds a note, because new SDK versions add keys.
///
/// Pseudonymized records omit most strings in metrics and event extras, because their contents depend on the app.
/// Invalid required values become `unknown`, as in the SDK itself.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 8.1, 9 and 14.
enum GleanSchema {
    /// Checks the root of `document`.
    ///
    /// The sections `client_info` and `ping_info` are required if `needsInfo` is `true`.
    static func check(_ document: JSONDocument, needsInfo: Bool) -> PayloadCheck {
        var check = PayloadCheck(document, .terse)
        check.check(document.root, .object(needsInfo ? allFields : fieldsWithoutInfo))
        return check
    }

    /// The fields of a body with all its sections.
    static let allFields: PayloadFields = [
        .string("$schema", .drop, "the URL of the schema"),
        .required(GleanKeys.clientInfo, fields: clientInfo, "information about the client and its app"),
        .optional(GleanKeys.events, listOf: event, "the events"),
        .optional(GleanKeys.metrics, fields: allMetrics, "the metrics by type"),
        .required(GleanKeys.pingInfo, fields: pingInfo, "information about the ping"),
    ]

    private static let fieldsWithoutInfo = allFields.optional([GleanKeys.clientInfo, GleanKeys.pingInfo])

    // MARK: Information

    private static let clientInfo: PayloadFields = [
        .string("android_sdk_version", .keep(.version), "the API level of Android"),
        .required(GleanKeys.appBuild, .string(), .orUnknown(.version), "the build number of the app"),
        .string(GleanKeys.appChannel, .keep(.word), "the release channel of the app"),
        .required(GleanKeys.appDisplayVersion, .string(), .orUnknown(.version), "the version of the app"),
        .required("architecture", .string(), .orUnknown(.model), "the architecture of the processor"),
        .optional("attribution", fields: attribution, "the advertisement or search that led to the installation"),
        .string("build_date", .time(.text), "the time at which the app was built"),
        .optional(GleanKeys.clientID, .string(.uuid), .pseudonym(.client), "the id of the installation, a UUID"),
        .string("device_manufacturer", .keep(.model), "the manufacturer of the device"),
        .string(GleanKeys.deviceModel, .keep(.model), "the model of the device"),
        .optional(
            "distribution", fields: [.string("name", .drop, "the name of the distribution")],
            "the distribution of the app"),
        .required("first_run_date", .string(), .timeOrUnknown, "the day of the first run of the app"),
        .string(GleanKeys.locale, .keep(.locale), "the locale of the app"),
        .required(GleanKeys.os, .string(), .orUnknown(.model), "the name of the operating system"),
        .required(GleanKeys.osVersion, .string(), .orUnknown(.version), "the version of the operating system"),
        .integer("session_count", "the sequence number of the session"),
        .string("session_id", .pseudonym(.session), "the id of the session"),
        .required(GleanKeys.sdkBuild, .string(), .orUnknown(.version), "the version of the SDK"),
        .integer("windows_build_number", "the build number of Windows"),
    ]

    private static let attribution: PayloadFields = [
        .string("campaign", .drop, "the advertising campaign"),
        .string("content", .drop, "the content of the advertisement"),
        .string("medium", .drop, "the advertising medium"),
        .string("source", .drop, "the advertising source"),
        .string("term", .drop, "the search term"),
    ]

    private static let pingInfo: PayloadFields = [
        .required(GleanKeys.endTime, .string(), .timeOrUnknown, "the time at which the ping was created"),
        .optional(
            "experiments", .map(.atMost(100, "an experiment"), .object(experiment)),
            .map(.form(.name), .object(experiment.pseudonyms)), "the experiments that the client takes part in"),
        .optional("ping_type", .string(.named("type of a ping", isPingType)), .keep(.word), "the type of the ping"),
        .optional("reason", .string(.atMost(30)), .keep(.word), "the reason why the ping was created"),
        .required("seq", .integer(), .keep(.number), "the sequence number of the ping among the pings of its type"),
        .optional("server_knobs_config", fields: serverKnobs, "the configuration received from the server"),
        .required(GleanKeys.startTime, .string(), .timeOrUnknown, "the start of the time span that the metrics cover"),
    ]

    private static let experiment: PayloadFields = [
        .required("branch", .string(), .orUnknown(.name), "the experiment branch of the client"),
        .optional(
            "extra", .orNull(.open(experimentExtra)), .object(experimentExtra.pseudonyms),
            "additional information about the experiment"),
    ]

    private static let experimentExtra: PayloadFields = [
        .string(
            "enrollment_id", .pseudonym(PseudonymClass("enrollment")), "the id of the enrollment in the experiment"),
        .string("type", .keep(.word), "the type of the experiment"),
    ]

    private static let serverKnobs: PayloadFields = [
        .optional(
            "event_threshold", .orNull(.integer(atLeast: 0)), .keep(.number),
            "the number of events that triggers an events ping"
        ),
        .added(
            "events_ping_acceleration_factor", .any, .keep(.number),
            "the initial divisor of the event threshold"),
        .optional(
            "metrics_enabled", .map(.boolean), .map(.form(.word), .keep(.boolean)),
            "the metrics that are enabled or disabled"),
        .optional(
            "pings_enabled", .map(.boolean), .map(.form(.word), .keep(.boolean)),
            "the pings that are enabled or disabled"),
        .optional(
            "session_sample_rate", .orNull(.number(.share)), .keep(.number),
            "the fraction of sessions that are recorded"),
    ]

    // MARK: Events

    /// The fields of an event.
    ///
    /// In pseudonymized records, only the extras that the SDK itself defines are kept.
    private static let event: PayloadFields = [
        .required(GleanKeys.category, .string(), .keep(.word, else: .pseudonym(.event)), "the category of the event"),
        .added(
            GleanKeys.executionCounter, .any, .keep(.number),
            "the number of the app run, which only stored events contain"),
        .optional(
            GleanKeys.extra, .map(.atMost(40, "an extra"), .string()),
            .object([
                "glean.startup.date": .time(.text),
                "glean_timestamp": .time(.millisecondsText),
                "session_id": .pseudonym(.session),
            ]), "additional information about the event"),
        .required(GleanKeys.name, .string(), .keep(.word, else: .pseudonym(.event)), "the name of the event"),
        .optional("session", fields: session, "the session of the event"),
        .required(
            GleanKeys.timestamp, .integer(atLeast: 0), .time(.ticks(perSecond: ticksPerSecond)),
            "the number of milliseconds since the first event of the ping"),
    ]

    /// Returns the number of ticks per second of the clock that measures the timestamps of events.
    ///
    /// SDK versions before 36 write nanoseconds on iOS. If the version is unknown, nanoseconds are assumed, because
    /// rounding them as milliseconds would hardly change them.
    ///
    /// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 3 and 6.
    @Sendable private static func ticksPerSecond(in document: JSONDocument) -> Int64 {
        let major = GleanSDKVersion.major(in: document) ?? 0
        return major < GleanSDKVersion.firstWithMilliseconds ? 1_000_000_000 : 1000
    }

    private static let session: PayloadFields = [
        .required("event_seq", .integer(atLeast: 0), .keep(.number), "the sequence number of the event in the session"),
        .required("session_id", .string(), .pseudonym(.session), "the id of the session"),
        .required("session_sample_rate", .number(.share), .keep(.number), "the fraction of sessions that are recorded"),
        .required("session_seq", .integer(atLeast: 0), .keep(.number), "the sequence number of the session"),
        .string("session_start_time", .time(.text), "the time at which the session started"),
    ]

    // MARK: Metrics

    /// The metrics of a ping, with a field for each metric type.
    private static let allMetrics: PayloadFields = [
        metric("boolean", .boolean, .keep(.boolean), "Booleans"),
        metric("counter", .integer(), .keep(.number), "counters"),
        metric("custom_distribution", fields: customDistribution, "distributions with buckets that the app defines"),
        metric("datetime", .string(), .time(.text), "dates and times"),
        metric(
            "dual_labeled_counter", .map(metricLabel, .map(metricLabel, .integer())),
            .map(.form(.word), .map(.form(.word), .keep(.number))), "counters by two labels"),
        .optional("jwe", .map(metricName, .string()), .drop, "encrypted strings"),
        labeled("boolean", .boolean, .keep(.boolean), "Booleans by label"),
        labeled("counter", .integer(), .keep(.number), "counters by label"),
        labeled(
            "custom_distribution", fields: customDistribution,
            "distributions with buckets that the app defines, by label"),
        labeled("memory_distribution", fields: distribution, "distributions of memory sizes by label"),
        labeled("quantity", .integer(), .keep(.number), "numbers by label"),
        labeled("rate", fields: rate, "rates by label"),
        .optional("labeled_string", .map(metricName, .map(metricLabel, .string())), .drop, "strings by label"),
        labeled("timing_distribution", fields: distribution, "distributions of durations by label"),
        metric("memory_distribution", fields: distribution, "distributions of memory sizes"),
        .optional("object", .map(metricName, .structure), .drop, "JSON values"),
        metric("quantity", .integer(), .keep(.number), "numbers"),
        metric("rate", fields: rate, "rates"),
        .optional("string", .map(metricName, .string()), .object(stringRules), "strings"),
        .optional(
            GleanKeys.stringLists, .map(metricName, .list(.string())),
            .object([GleanKeys.capabilities: .list(.keep(.word))]), "lists of strings"),
        .optional("text", .map(metricName, .string(.atMost(204_800))), .drop, "long strings"),
        metric("timespan", fields: timespan, "durations"),
        metric("timing_distribution", fields: distribution, "distributions of durations"),
        .optional("url", .map(metricName, .string(.named("URL", isURL))), .drop, "URLs"),
        metric("uuid", .string(.uuid), .pseudonym(PseudonymClass("uuid")), "UUIDs"),
    ]

    /// The rules for the documented string metrics of the SDK and of the usage pings.
    private static let stringRules: PseudonymTable = [
        "glean.client.annotation.experimentation_id": .pseudonym(PseudonymClass("experimentation")),
        "usage.app_build": .keep(.version),
        "usage.app_channel": .keep(.word),
        "usage.app_display_version": .keep(.version),
        "usage.os": .keep(.model),
        "usage.os_version": .keep(.version),
        "usage.reason": .keep(.word),
    ]

    private static let metricName = KeyForm("a metric", isMetricName)
    private static let metricLabel = KeyForm.atMost(111, "a label")

    private static func metric(
        _ type: JSONKey, _ form: PayloadForm, _ rule: PseudonymRule, _ meaning: String
    ) -> PayloadField {
        .optional(type, .map(metricName, form), .map(.form(.word), rule), meaning)
    }

    private static func metric(_ type: JSONKey, fields: PayloadFields, _ meaning: String) -> PayloadField {
        metric(type, .object(fields), .object(fields.pseudonyms), meaning)
    }

    private static func labeled(
        _ type: String, _ form: PayloadForm, _ rule: PseudonymRule, _ meaning: String
    ) -> PayloadField {
        metric(JSONKey("labeled_\(type)"), .map(metricLabel, form), .map(.form(.word), rule), meaning)
    }

    private static func labeled(_ type: String, fields: PayloadFields, _ meaning: String) -> PayloadField {
        labeled(type, .object(fields), .object(fields.pseudonyms), meaning)
    }

    private static let timespan: PayloadFields = [
        .required(GleanKeys.timeUnit, .string(.named("unit of time", isTimeUnit)), .keep(.word), "the time unit"),
        .required(GleanKeys.timespanValue, .integer(), .keep(.number), "the number of units"),
    ]

    private static let rate: PayloadFields = [
        .required(GleanKeys.denominator, .integer(atLeast: 0), .keep(.number), "the denominator"),
        .required(GleanKeys.numerator, .integer(atLeast: 0), .keep(.number), "the numerator"),
    ]

    private static let distribution: PayloadFields = [
        .integer(GleanKeys.sum, "the sum of all values"),
        .required(
            "values", .map(KeyForm("a bucket", isDigits), .integer()), .map(.form(.decimal), .keep(.number)),
            "the number of values in each bucket"),
    ]

    private static let customDistribution = PayloadFields(distribution.sorted.map { $0.with(.required) })

    // MARK: Strings

    /// Returns whether `name` matches `[a-z_][a-z0-9_.]+` and has at most 111 characters.
    @Sendable static func isMetricName(_ name: Span<UInt8>) -> Bool {
        (2...111).contains(name.count) && !name[0].isDigit && name[0] != UInt8(ascii: ".")
            && name.allSatisfy { $0.isLowercaseLetter || $0.isDigit || $0.isOne(of: "_.") }
    }

    /// Returns whether `text` matches `[a-z-_][a-z0-9-_]*` and has at most 30 characters.
    @Sendable private static func isPingType(_ text: Span<UInt8>) -> Bool {
        (1...30).contains(text.count) && !text[0].isDigit
            && text.allSatisfy { $0.isLowercaseLetter || $0.isDigit || $0.isOne(of: "_-") }
    }

    @Sendable private static func isTimeUnit(_ text: Span<UInt8>) -> Bool {
        let units = ["nanosecond", "microsecond", "millisecond", "second", "minute", "hour", "day"]
        return units.contains { text.equals($0) }
    }

    @Sendable static func isDigits(_ text: Span<UInt8>) -> Bool { !text.isEmpty && text.allSatisfy(\.isDigit) }

    /// Returns whether `text` starts with a URL scheme and a colon, but not with `data`.
    @Sendable private static func isURL(_ text: Span<UInt8>) -> Bool {
        guard text.count > 1, text[0].isLetter else { return false }
        guard text.count < 4 || !text.extracting(..<4).equals("data") else { return false }
        for index in text.indices {
            let byte = text[index]
            if byte == UInt8(ascii: ":") { return true }
            guard byte.isWordOrHyphen || byte == UInt8(ascii: "+") || byte == UInt8(ascii: ".") else { return false }
        }
        return false
    }
}

extension PseudonymRule {
    /// Returns a rule that keeps a value of the form `form` and replaces any other value with `unknown`.
    fileprivate static func orUnknown(_ form: KeptForm) -> PseudonymRule { .keep(form, else: .text("unknown")) }
    /// A rule that keeps or rounds a time and replaces any other value with `unknown`.
    fileprivate static let timeOrUnknown = PseudonymRule.time(.text, else: .text("unknown"))
}

/// The version of the SDK that wrote a ping.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 3 and 6.
enum GleanSDKVersion {
    /// The first major version whose events on iOS have timestamps in milliseconds instead of nanoseconds.
    static let firstWithMilliseconds = 36

    /// Returns the major version that the ping in `document` states, or `nil` if it states none.
    static func major(in document: JSONDocument) -> Int? {
        guard let client = document.value(of: GleanKeys.clientInfo, .object, in: document.root),
            let version = document.text(GleanKeys.sdkBuild, in: client)
        else { return nil }
        return Int(version.prefix { $0.isASCII && $0.isNumber })
    }
}

/// The keys of pings and events that the code reads.
enum GleanKeys {
    static let clientInfo: JSONKey = "client_info"
    static let events: JSONKey = "events"
    static let metrics: JSONKey = "metrics"
    static let pingInfo: JSONKey = "ping_info"

    // Information
    static let appBuild: JSONKey = "app_build"
    static let appChannel: JSONKey = "app_channel"
    static let appDisplayVersion: JSONKey = "app_display_version"
    static let clientID: JSONKey = "client_id"
    static let deviceModel: JSONKey = "device_model"
    static let endTime: JSONKey = "end_time"
    static let locale: JSONKey = "locale"
    static let os: JSONKey = "os"
    static let osVersion: JSONKey = "os_version"
    static let sdkBuild: JSONKey = "telemetry_sdk_build"
    static let sequenceNumber: JSONKey = "seq"
    static let startTime: JSONKey = "start_time"

    // Events
    static let category: JSONKey = "category"
    /// The key of the extra that contains the time of the event according to the phone's clock.
    static let clockTime: JSONKey = "glean_timestamp"
    static let executionCounter: JSONKey = "execution_counter"
    static let extra: JSONKey = "extra"
    static let name: JSONKey = "name"
    static let timestamp: JSONKey = "timestamp"

    // Metrics
    static let denominator: JSONKey = "denominator"
    static let numerator: JSONKey = "numerator"
    static let sum: JSONKey = "sum"
    static let timeUnit: JSONKey = "time_unit"
    static let timespanValue: JSONKey = "value"
    static let capabilities: JSONKey = "glean.ping.uploader_capabilities"
    static let stringLists: JSONKey = "string_list"
    static let usageProfile: JSONKey = "usage.profile_id"
    static let uuids: JSONKey = "uuid"
}
