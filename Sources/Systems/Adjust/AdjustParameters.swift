import Bytes
import JSONText
import Telemetry

/// The parameters of packages, all of which are strings.
///
/// A parameter is accepted in packages of every type and of every SDK version, because the rules of the server are not
/// public.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", sections 4.3 and 13.
enum AdjustParameters {
    static let amount: JSONKey = "amount"
    static let appToken: JSONKey = "app_token"
    static let appVersion: JSONKey = "app_version"
    static let appVersionShort: JSONKey = "app_version_short"
    static let bundleID: JSONKey = "bundle_id"
    static let callbackParams: JSONKey = "callback_params"
    static let country: JSONKey = "country"
    static let createdAt: JSONKey = "created_at"
    static let currency: JSONKey = "currency"
    static let deviceName: JSONKey = "device_name"
    static let environment: JSONKey = "environment"
    static let eventToken: JSONKey = "event_token"
    static let language: JSONKey = "language"
    static let measurement: JSONKey = "measurement"
    static let osName: JSONKey = "os_name"
    static let osVersion: JSONKey = "os_version"
    static let params: JSONKey = "params"
    static let partnerParams: JSONKey = "partner_params"
    static let revenue: JSONKey = "revenue"
    static let sharing: JSONKey = "sharing"
    static let sharingOptions: JSONKey = "granular_third_party_sharing_options"
    static let sharingSettings: JSONKey = "partner_sharing_settings"

    /// The numbering of sessions and events.
    ///
    /// Before version 4.0 of the SDK, events and revenues shared one count, so events of these versions are not
    /// numbered. They lack the parameter ``bundleID``, which version 4.0 introduced.
    ///
    /// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 4.4.
    static let sequence = SequenceFormat(
        start: 1...1,
        membersOfTypes: Dictionary(texts: [
            AdjustType.event: SequenceFormat.Member(["event_count"], notation: .string, requiredKey: bundleID),
            AdjustType.session: SequenceFormat.Member(["session_count"], notation: .string),
        ]))

    /// The parameter that SDKs before version 4.35.2 store but do not send.
    static let callbackID: JSONKey = "event_callback_id"

    /// The parameters that are credentials or are computed from credentials, all of which are omitted from records.
    static let credentials: [JSONKey] = [
        "adj_signing_id", "algorithm", "app_secret", "headers_id", "native_version", "secret_id", "signature",
    ]

    /// The parameters that describe a single attempt to send a package.
    static let attempts: [JSONKey] = [
        "first_error", "last_error", "queue_size", "retry_count", "sent_at", "wait_time", "wait_total",
    ]

    /// The parameters that contain an id of the client, ordered from the most to the least reliable.
    static let clients: [JSONKey] = [
        "persistent_ios_uuid", "ios_uuid", "primary_dedupe_token", "secondary_dedupe_token", "idfv",
    ]

    private static let choices: Set<CapturedText> = ["disable", "enable"]

    /// The values of the parameter `source` that the SDK itself uses.
    private static let sources: Set<CapturedText> = [
        "apple_ads", "att", "deeplink", "google_odm", "iad", "iad3", "linkme", "push",
    ]

    /// The known fields of a payload.
    ///
    /// Records also keep unknown fields, but pseudonymized records omit them.
    static let fields = PayloadFields(
        [
            clients.map { .string($0, .pseudonym(.client), "an id of the installation") },
            strings(
                "a flag", .keep(.oneOf(["0", "1"])), "attribution_deeplink", "background", "device_known",
                "event_buffering_enabled", "ff_att_disabled", "ff_coppa", "ff_skadn_disabled", "foreground", "is_iad",
                "needs_attribution_data", "needs_cost", "needs_response_details", "offline_mode_enabled",
                "send_in_background_enabled", "tce", "tracking_enabled"),
            strings(
                "a number", .keep(.decimal), "ad_impressions_count", amount, "connectivity_type", "enqueue_size",
                "event_count", "last_interval", "mcc", "mnc", "mobile_country_code", "mobile_network_code", revenue,
                "seq", "session_count", "session_length", "subsession_count", "time_spent"),
            strings(
                "a time", .time(.text), "app_updated_at", createdAt, "installed_at", "skadn_registered_at",
                "started_at", "transaction_date"),
            strings(
                "a code, such as a country or a currency, or the bundle id of the app", .keep(.word), "billing_store",
                bundleID, country, "cpu_type", currency, language, "network_type", "sales_region"),
            strings(
                "a property of the device", .keep(.model), deviceName, "device_type", "hardware_name", osName),
            strings(
                "a version of the app or of the operating system", .keep(.version), appVersion, appVersionShort,
                "os_build", osVersion),
            strings(
                "a value of the app, of the device or of a campaign", .drop, "ad_revenue_network",
                "ad_revenue_placement", "ad_revenue_unit", "adgroup", "attribution_token", callbackParams, "campaign",
                "click_time", "content", "control_params", "creative", "deduplication_id", "deeplink",
                "deeplink_parameters", "default_tracker", "details", "error_code", callbackID, "fb_anon_id",
                "fb_id", "idfa", "initiated_by", "install_receipt", "last_skan_update", "m", "mac_md5", "mac_sha1",
                "odm_info", params, partnerParams, "payload", "product_id", "purchase_time", "push_token", "receipt",
                "referrer", "reftag", sharingOptions, sharingSettings, "store_app_id_from_client",
                "store_name_from_client", "tracker", "transaction_id"),
            strings("the id of the app at Adjust", .keep(.code(length: 12)), appToken),
            strings("the permission to track", .keep(.oneOf(["0", "1", "2", "3"])), "att_status"),
            strings("the kind of build", .keep(.oneOf(["production", "sandbox", "unknown"])), environment),
            strings("the choice on measurement", .keep(.oneOf(choices)), measurement),
            strings("the choice on sharing", .keep(.oneOf(choices)), sharing),
            strings(
                "the token of the event", .keep(.oneOf(Set(AdjustVocabulary.meanings.keys)), else: .pseudonym(.event)),
                eventToken),
            strings(
                "the app's own id of the device", .pseudonym(PseudonymClass("external-device")), "external_device_id"),
            strings("the source of the package", .keep(.oneOf(sources)), "source"),
        ].flatMap(\.self))

    private static func strings(_ meaning: String, _ rule: PseudonymRule, _ keys: JSONKey...) -> [PayloadField] {
        keys.map { .string($0, rule, meaning) }
    }
}

extension Timestamp {
    /// Creates an instant from a time such as `2017-03-20T10:53:20.418Z+0200`.
    ///
    /// The letter `Z` has no meaning, and the offset from UTC counts. Returns `nil` for any other form, and for
    /// instants before 2011 or after 2199.
    ///
    /// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 4.2.
    init?(adjust text: Span<UInt8>) {
        // A fraction has at most nine digits.
        guard (25...35).contains(text.count) else { return nil }
        let zone = text.count - 6
        guard text[10] == UInt8(ascii: "T"), text[zone] == UInt8(ascii: "Z"),
            // Seconds from 60 on are rejected here, because RFC 3339 allows leap seconds.
            text[17] != UInt8(ascii: "6")
        else { return nil }
        var rfc3339 = text.copied()
        rfc3339.insert(UInt8(ascii: ":"), at: zone + 4)
        rfc3339.remove(at: zone)
        self.init(rfc3339: rfc3339.span)
        guard isPlausible else { return nil }
    }

    /// The instant as the SDK writes it, in UTC.
    var adjustText: String { description + "+0000" }
}
