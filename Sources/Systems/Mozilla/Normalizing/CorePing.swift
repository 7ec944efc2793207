import Bytes
import JSONText
import Telemetry

/// The fields of a core ping.
///
/// Versions 2 to 10 of the schema differ only in the value of `v`. Version 1 has only the required fields,
/// `experiments` and `profileGroupId`.
///
/// In pseudonymized records, invalid required values become `unknown` or `??`, which the format uses for unknown
/// values. Campaigns, distributions, services and add-ons are omitted, because they reveal facts about a person.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 5.1, 5.2 and 9.
enum CorePing {
    /// All documented fields, and the fields that apps add.
    static let fields = requiredFields + optionalFields + addedFields

    private static let documentedFields = fields.documented
    private static let version1Fields = requiredFields + optionalFields.only(["experiments", "profileGroupId"])

    private static let requiredFields: PayloadFields = [
        .required("arch", .string(), .modelOrUnknown, "the processor architecture that the app was compiled for"),
        .required("clientId", .string(.uuid), .pseudonym(.client), "the id of the installation, a UUID"),
        .required("device", .string(), .modelOrUnknown, "the hardware model, such as `iPhone10,6`"),
        .required(
            "locale", .string(), .localeOrUnknown,
            "the language and the region at the start of the app, such as `en-US`"),
        .required("os", .string(), .modelOrUnknown, "the name of the operating system"),
        .required(
            "osversion", .string(), .keep(.version, else: .text("unknown")), "the version of the operating system"),
        .required(
            "seq", .integer(atLeast: 0), .keep(.number),
            "the sequence number of the ping among the core pings of the installation"),
        .required("v", .version(1...10), .keep(.number), "the version of the ping, which selects its schema"),
    ]

    private static let optionalFields: PayloadFields = [
        .optional("accessibilityServices", .list(.string()), .drop, "the accessibility services in use, on Android"),
        .flag("bug_1501329_affected", "whether bug 1501329 affects the app, on Android"),
        .string("campaign", .drop, "the advertising campaign that led to the installation, on Android"),
        .optional(
            "campaignId", .orNull(.string()), .drop,
            "the id of the advertising campaign that led to the installation, on Android"),
        .string("created", .time(.text), "the day on which the ping was created, as `YYYY-MM-DD`"),
        .flag("defaultBrowser", "whether the app is the default browser, on Android"),
        .optional(
            "defaultMailClient", .orNull(.string()), .keep(.scheme), "the URL scheme of the chosen mail app, in Firefox"
        ),
        .optional(
            "defaultNewTabExperience", .orNull(.string()), .keep(.word), "the chosen page for new tabs, in Firefox"),
        .optional(
            "defaultSearch", .orNull(.string()), .searchEngine, "the name or the id of the default search engine"),
        .optional(
            "displayVersion", .string(.named("version", startsWithNumber)), .keep(.version),
            "the version of the app, on Android"),
        .string("distributionId", .drop, "the id of the distribution of the app, on Android"),
        .integer(
            "durations",
            "the total duration of all sessions since the previous core ping, in seconds, each session rounded down"),
        .flag("enhancedSearchReady", "whether the enhanced search is installed, on Android"),
        .flag("enhancedSearchUsed", "whether the enhanced search was used, on Android"),
        .string("enhancedSearchVersion", .keep(.version), "the version of the enhanced search, on Android"),
        .optional(
            "experiments", .list(.string()), .list(.keep(.word)), "the experiments that the client takes part in"),
        .optional("fennec", fields: FennecFields.root, "settings and counts of Firefox for Android"),
        .integer("flashUsage", "the number of times Flash was used since the previous core ping, on Android"),
        .optional("landings", .orNull(.integer()), .keep(.number), "the number of visits to landing pages, on Android"),
        .optional("openTabCount", .orNull(.integer()), .keep(.number), "the number of open tabs, in Firefox"),
        .integer("profileDate", "the day on which the data folder was created, in days since 1970-01-01"),
        .optional(
            "profileGroupId", .string(.uuid), .pseudonym(.profileGroup), "the id shared by several profiles"),
        .optional(
            "searches", .map(.integer()), .searchCounts,
            "the number of searches since the previous core ping, by `<source>.<engine>`"),
        .integer("sessions", "the number of sessions since the previous core ping"),
        .flag("showTrackerStatsShare", "whether the button for sharing tracker counts is shown, in Focus"),
        .optional(
            "systemTheme", .orNull(.string()), .keep(.word), "the system theme: `light`, `dark` or `unknown`"),
        .integer(
            "tz", "the offset of the local time from UTC at the start of the app, in minutes, positive if it is ahead"),
    ]

    private static let addedFields: PayloadFields = [
        .added(
            "settings", .map(.integer()), .object(["crashedLastLaunch": .keep(.number)]),
            "an object whose member `crashedLastLaunch` is 1 if the app crashed in its previous run, in Firefox"),
        .added(
            "showTrackerStatsSharePhase2", .boolean, .keep(.boolean),
            "whether the button for sharing tracker counts is shown, in the second phase of the experiment in Focus"),
    ]

    /// Returns the fields of the schema version that the member `v` of `measurements` specifies.
    static func fields(of measurements: JSONNode, in document: JSONDocument) -> PayloadFields {
        guard let version = document.value(of: MeasurementKeys.version, in: measurements) else {
            return documentedFields
        }
        let text = document.bytes(of: version)
        let first = UInt8(ascii: "1")
        let isFirst = text.count == 1 ? text[0] == first : JSONNumberText.integer(from: text) == [first]
        return isFirst ? version1Fields : documentedFields
    }

    /// The names of the user interface elements in which a search can start.
    static let searchLocations: Set<CapturedText> = ["actionbar", "listitem", "quicksearch", "suggestion"]

    @Sendable private static func startsWithNumber(_ text: Span<UInt8>) -> Bool {
        var index = 0
        while index < text.count, text[index].isDigit { index += 1 }
        return index > 0 && index < text.count && text[index] == UInt8(ascii: ".")
    }
}

extension PseudonymRule {
    /// The rule that keeps the names of models and operating systems, and replaces any other value with `unknown`.
    fileprivate static let modelOrUnknown = PseudonymRule.keep(.model, else: .text("unknown"))
    /// The rule that keeps valid locales and replaces any other value with `??`.
    fileprivate static let localeOrUnknown = PseudonymRule.keep(.locale, else: .text("??"))
    /// The rule that keeps the names of built-in search engines and replaces other names with pseudonyms.
    ///
    /// The name of a search engine that a user added can reveal the user's employer.
    static let searchEngine = PseudonymRule.keep(.oneOf(builtInEngines), else: .pseudonym(engineClass))
    /// The rule that keeps search counts, and replaces an engine name with a pseudonym unless the engine is built in.
    fileprivate static let searchCounts = PseudonymRule.map(
        .dottedKey(CorePing.searchLocations, known: builtInEngines, engineClass), .keep(.number))

    private static let engineClass = PseudonymClass("engine")

    private static let builtInEngines: Set<CapturedText> = [
        "Amazon", "Amazon.com", "Bing", "DuckDuckGo", "Ecosia", "Google", "Qwant", "Twitter", "Wikipedia", "Yahoo",
        "Yandex", "amazondotcom", "baidu", "bing", "bing.com", "custom", "ddg", "duckduckgo", "ebay", "ecosia",
        "google", "google-b-1-m", "google-b-m", "google-nocodes", "other", "qwant", "twitter", "unknown", "wikipedia",
        "yahoo", "yandex",
    ]
}

extension PseudonymClass {
    /// The pseudonym class of profile group ids, which several profiles of one person share.
    fileprivate static let profileGroup = PseudonymClass("profile-group")
}

/// The fields of a core ping that only Firefox for Android writes.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 9.
private enum FennecFields {
    static let root: PayloadFields = [
        .optional("addons", fields: addons, "the add-ons"),
        .optional("new_tab", fields: newTab, "usage of the new tab page"),
        .optional("page_options", fields: pageOptions, "usage of page options"),
        .optional("settings_advanced", fields: advancedSettings, "advanced settings"),
        .optional("settings_general", fields: generalSettings, "general settings"),
        .optional(
            "settings_notifications",
            fields: [flag("product_feature_tips", "whether notifications with tips on features are enabled")],
            "notification settings"),
        .optional("settings_privacy", fields: privacy, "privacy settings"),
        .optional("sync", fields: [flag("only_over_wifi", "whether Sync runs only over Wi-Fi")], "Sync settings"),
    ]

    private static let addons: PayloadFields = [
        list("active", "the enabled add-ons"), list("disabled", "the disabled add-ons"),
    ]

    private static let newTab: PayloadFields = [
        count("pocket_stories_clicked", "the number of clicks on Pocket stories"),
        count("top_sites_clicked", "the number of clicks on top sites"),
    ]

    private static let pageOptions: PayloadFields = [
        count("bookmark_with_star", "the number of pages bookmarked with the star button"),
        count("current_pwas_count", "the number of installed web apps"),
        count("print", "the number of printed pages"),
        count("save_as_pdf", "the number of pages saved as PDF"),
        count("total_added_search_engines", "the number of added search engines"),
        count("total_sites_pinned_to_topsites", "the number of sites pinned to the new tab page"),
        count("view_source", "the number of pages whose source was viewed"),
    ]

    private static let advancedSettings: PayloadFields = [
        flag("restore_tabs", "whether tabs are restored at startup"),
        .optional(
            "show_images", .orNull(.string()), .keep(.word),
            "the setting that determines when images are shown"),
        flag("show_web_fonts", "whether web fonts are shown"),
    ]

    private static let generalSettings: PayloadFields = [
        flag("compact_tabs", "whether the tab list is compact"),
        flag("full_screen_browsing", "whether the address bar is hidden while scrolling"),
        .optional("homepage", fields: homepage, "home page settings"),
        flag("tab_queue", "whether links from other apps are queued"),
        count("tab_queue_usage_count", "the number of times the tab queue was used"),
    ]

    private static let homepage: PayloadFields = [
        flag("bookmarks_enabled", "whether bookmarks are shown"),
        flag("custom_homepage", "whether the user chose a home page"),
        flag("custom_homepage_use_for_newtab", "whether new tabs show the chosen home page"),
        flag("history_enabled", "whether the history is shown"),
        flag("pocket_enabled", "whether Pocket stories are shown"),
        flag("recent_bookmarks_enabled", "whether recent bookmarks are shown"),
        flag("topsites_enabled", "whether top sites are shown"),
        flag("visited_enabled", "whether visited pages are shown"),
    ]

    private static let privacy: PayloadFields = [
        flag("do_not_track", "whether sites are asked not to track"),
        flag("master_password", "whether a master password is set"),
        count("master_password_usage_count", "the number of times the master password was used"),
    ]

    private static func flag(_ key: JSONKey, _ meaning: String) -> PayloadField {
        .optional(key, .orNull(.boolean), .keep(.boolean), meaning)
    }

    private static func count(_ key: JSONKey, _ meaning: String) -> PayloadField {
        .optional(key, .orNull(.integer()), .keep(.number), meaning)
    }

    private static func list(_ key: JSONKey, _ meaning: String) -> PayloadField {
        .optional(key, .orNull(.list(.orNull(.string()))), .drop, meaning)
    }
}
