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
    static let eventCount: JSONKey = "event_count"
    static let eventToken: JSONKey = "event_token"
    static let language: JSONKey = "language"
    static let measurement: JSONKey = "measurement"
    static let osName: JSONKey = "os_name"
    static let osVersion: JSONKey = "os_version"
    static let params: JSONKey = "params"
    static let partnerParams: JSONKey = "partner_params"
    static let revenue: JSONKey = "revenue"
    static let sessionCount: JSONKey = "session_count"
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
            AdjustType.event: SequenceFormat.Member([eventCount], notation: .string, requiredKey: bundleID),
            AdjustType.session: SequenceFormat.Member([sessionCount], notation: .string),
        ]))

    /// The parameter that SDKs before version 4.35.2 store but do not send.
    static let eventCallbackID: JSONKey = "event_callback_id"
    /// The first version of the SDK that sends ``eventCallbackID``.
    static let firstVersionWithCallbackID = [4, 35, 2]

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
        clients.map { .optional($0, .string(), .pseudonym(.client), "an id of the installation") }
            + keeping(.oneOf(["0", "1"]), "a flag", flags) + keeping(.decimal, "a number", numbers)
            + times.map { .optional($0, .string(), .time(.text), "a time") }
            + keeping(.word, "a code, such as a country or a currency, or the bundle id of the app", codes)
            + keeping(.model, "a property of the device", properties)
            + keeping(.version, "a version of the app or of the operating system", versions)
            + dropped.map { .optional($0, .string(), .drop, "a value of the app, of the device or of a campaign") }
            + [
                .optional(appToken, .string(), .keep(.code(length: 12)), "the id of the app at Adjust"),
                .optional("att_status", .string(), .keep(.oneOf(["0", "1", "2", "3"])), "the permission to track"),
                .optional(
                    environment, .string(), .keep(.oneOf(["production", "sandbox", "unknown"])), "the kind of build"),
                .optional(measurement, .string(), .keep(.oneOf(choices)), "the choice on measurement"),
                .optional(sharing, .string(), .keep(.oneOf(choices)), "the choice on sharing"),
                .optional(
                    eventToken, .string(), .keep(.oneOf(Set(FocusTokens.meanings.keys)), else: .pseudonym(.event)),
                    "the token of the event"),
                .optional(
                    "external_device_id", .string(), .pseudonym(PseudonymClass("external-device")),
                    "the app's own id of the device"),
                .optional("source", .string(), .keep(.oneOf(sources)), "the source of the package"),
            ])

    private static func keeping(_ form: KeptForm, _ meaning: String, _ keys: [JSONKey]) -> [PayloadField] {
        keys.map { .optional($0, .string(), .keep(form), meaning) }
    }

    private static let flags: [JSONKey] = [
        "attribution_deeplink", "background", "device_known", "event_buffering_enabled", "ff_att_disabled", "ff_coppa",
        "ff_skadn_disabled", "foreground", "is_iad", "needs_attribution_data", "needs_cost", "needs_response_details",
        "offline_mode_enabled", "send_in_background_enabled", "tce", "tracking_enabled",
    ]

    private static let numbers: [JSONKey] = [
        "ad_impressions_count", amount, "connectivity_type", "enqueue_size", eventCount,
        "last_interval", "mcc", "mnc", "mobile_country_code", "mobile_network_code", revenue, "seq", sessionCount,
        "session_length", "subsession_count", "time_spent",
    ]

    private static let times: [JSONKey] = [
        "app_updated_at", createdAt, "installed_at", "skadn_registered_at", "started_at", "transaction_date",
    ]

    private static let codes: [JSONKey] = [
        "billing_store", bundleID, country, "cpu_type", currency, language, "network_type", "sales_region",
    ]

    private static let properties: [JSONKey] = [deviceName, "device_type", "hardware_name", osName]

    private static let versions: [JSONKey] = [appVersion, appVersionShort, "os_build", osVersion]

    private static let dropped: [JSONKey] = [
        "ad_revenue_network", "ad_revenue_placement", "ad_revenue_unit", "adgroup", "attribution_token",
        callbackParams, "campaign", "click_time", "content", "control_params", "creative", "deduplication_id",
        "deeplink", "deeplink_parameters", "default_tracker", "details", "error_code", eventCallbackID, "fb_anon_id",
        "fb_id", sharingOptions, "idfa", "initiated_by", "install_receipt", "last_skan_update",
        "m", "mac_md5", "mac_sha1", "odm_info", params, partnerParams, sharingSettings, "payload",
        "product_id", "purchase_time", "push_token", "receipt", "referrer", "reftag", "store_app_id_from_client",
        "store_name_from_client", "tracker", "transaction_id",
    ]
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
        var rfc3339 = text.extracting(..<zone).copied()
        rfc3339.append(copying: text.extracting((zone + 1)..<(zone + 4)))
        rfc3339.append(UInt8(ascii: ":"))
        rfc3339.append(copying: text.extracting((zone + 4)...))
        self.init(rfc3339: rfc3339.span)
        guard isPlausible else { return nil }
    }

    /// The instant as the SDK writes it, in UTC.
    var adjustText: String { description + "+0000" }
}
