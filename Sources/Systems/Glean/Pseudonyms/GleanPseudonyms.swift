import JSONText
import Telemetry

/// What becomes of Glean's pings when their records get pseudonyms.
///
/// All pings have one schema. What an app puts into texts of metrics and of events, no document tells: it is left out.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 8.1, 9 and 14.
enum GleanPseudonyms {
    static let format = PseudonymFormat(tables: [(["every ping"], ping)], path: path(of:_:))

    /// The document id in the path follows that of the record. The name of the app and that of the ping may be anything.
    private static func path(
        of target: Target, _ pseudonym: (_ value: String, PseudonymClass) -> String
    ) -> String? {
        let path = target.path.utf8.span
        guard let parts = GleanPath(path) else { return nil }
        func text(_ range: Range<Int>) -> String { String(readingUTF8: path.extracting(range)) }
        let namespace = AppFact.id.shown(text(parts.namespace), pseudonym) ?? AppFact.unknown
        let ping = AppFact.channel.shown(text(parts.ping), pseudonym) ?? AppFact.unknown
        let version = text(parts.ping.upperBound..<parts.documentID.lowerBound)
        return "/submit/\(namespace)/\(ping)\(version)\(pseudonym(text(parts.documentID), .document))"
    }

    private static let ping: PseudonymTable = [
        "$schema": .drop,
        "client_info": .object(clientInfo),
        "events": .list(.object(event)),
        "metrics": .object(metrics),
        "ping_info": .object(pingInfo),
    ]

    private static let enrollment = PseudonymClass("enrollment")

    // MARK: Information

    /// Required texts that may be anything become `unknown`, which the SDK writes for what it cannot tell.
    private static func required(_ form: KeptForm) -> PseudonymRule { .keep(form, else: .text("unknown")) }

    private static let clientInfo: PseudonymTable = [
        "android_sdk_version": .keep(.version),
        "app_build": required(.version),
        "app_channel": .keep(.word),
        "app_display_version": required(.version),
        "architecture": required(.name),
        "attribution": .object(PseudonymTable(["campaign", "content", "medium", "source", "term"], .drop)),
        "build_date": .keep(.date),
        "client_id": .pseudonym(.client),
        "device_manufacturer": .keep(.name),
        "device_model": .keep(.name),
        "distribution": .object(["name": .drop]),
        "first_run_date": required(.date),
        "locale": .keep(.locale),
        "os": required(.name),
        "os_version": required(.version),
        "session_count": .keep(.number),
        "session_id": .pseudonym(.session),
        "telemetry_sdk_build": required(.version),
        "windows_build_number": .keep(.number),
    ]

    private static let pingInfo: PseudonymTable = [
        "end_time": required(.date),
        "experiments": .map(
            .form(.name),
            .object([
                "branch": required(.name),
                "extra": .object(["enrollment_id": .pseudonym(enrollment), "type": .keep(.word)]),
            ])),
        "ping_type": .keep(.word),
        "reason": .keep(.word),
        "seq": .keep(.number),
        "server_knobs_config": .object([
            "event_threshold": .keep(.number),
            "events_ping_acceleration_factor": .keep(.number),
            "metrics_enabled": .map(.form(.word), .keep(.boolean)),
            "pings_enabled": .map(.form(.word), .keep(.boolean)),
            "session_sample_rate": .keep(.number),
        ]),
        "start_time": required(.date),
    ]

    // MARK: Events

    /// Categories and names are words of the app's code. Of the extras, those of the SDK stay.
    private static let event: PseudonymTable = [
        "category": .keep(.word, else: .pseudonym(.event)),
        "execution_counter": .keep(.number),
        "extra": .object([
            "glean.startup.date": .keep(.date),
            "glean_timestamp": .keep(.decimal),
            "session_id": .pseudonym(.session),
        ]),
        "name": .keep(.word, else: .pseudonym(.event)),
        "session": .object([
            "event_seq": .keep(.number),
            "session_id": .pseudonym(.session),
            "session_sample_rate": .keep(.number),
            "session_seq": .keep(.number),
            "session_start_time": .keep(.date),
        ]),
        "timestamp": .keep(.number),
    ]

    // MARK: Metrics

    /// Metrics by their types: numbers and switches stay under their names and labels, ids become pseudonyms.
    private static let metrics: PseudonymTable = [
        "boolean": named(.keep(.boolean)),
        "counter": named(.keep(.number)),
        "custom_distribution": named(distribution),
        "datetime": named(.keep(.date)),
        "dual_labeled_counter": named(labeled(labeled(.keep(.number)))),
        "jwe": .drop,
        "labeled_boolean": named(labeled(.keep(.boolean))),
        "labeled_counter": named(labeled(.keep(.number))),
        "labeled_custom_distribution": named(labeled(distribution)),
        "labeled_memory_distribution": named(labeled(distribution)),
        "labeled_quantity": named(labeled(.keep(.number))),
        "labeled_rate": named(labeled(rate)),
        "labeled_string": .drop,
        "labeled_timing_distribution": named(labeled(distribution)),
        "memory_distribution": named(distribution),
        "object": .drop,
        "quantity": named(.keep(.number)),
        "rate": named(rate),
        "string": .object(strings),
        "string_list": .object(["glean.ping.uploader_capabilities": .list(.keep(.word))]),
        "text": .drop,
        "timespan": named(.object(["time_unit": .keep(.word), "value": .keep(.number)])),
        "timing_distribution": named(distribution),
        "url": .drop,
        "uuid": named(.pseudonym(PseudonymClass("uuid"))),
    ]

    /// Texts of metrics are whatever an app puts there; of the SDK's own and of the usage pings it is documented.
    private static let strings: PseudonymTable = [
        "glean.client.annotation.experimentation_id": .pseudonym(PseudonymClass("experimentation")),
        "usage.app_build": .keep(.version),
        "usage.app_channel": .keep(.word),
        "usage.app_display_version": .keep(.version),
        "usage.os": .keep(.name),
        "usage.os_version": .keep(.version),
        "usage.reason": .keep(.word),
    ]

    private static func named(_ rule: PseudonymRule) -> PseudonymRule { .map(.form(.word), rule) }
    private static func labeled(_ rule: PseudonymRule) -> PseudonymRule { .map(.form(.word), rule) }

    private static let distribution = PseudonymRule.object([
        "sum": .keep(.number), "values": .map(.form(.decimal), .keep(.number)),
    ])
    private static let rate = PseudonymRule.object(["denominator": .keep(.number), "numerator": .keep(.number)])
}
