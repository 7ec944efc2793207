import JSONText

/// The documented fields of a core ping.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 5.1, 5.2 and 9. The schemas of
/// versions 2 to 10 differ only in the value of `v`; that of version 1 knows few fields.
enum CorePing {
    static let required: [Field] = [
        .required("arch", .string()),
        .required("clientId", .string(.uuid)),
        .required("device", .string()),
        .required("locale", .string()),
        .required("os", .string()),
        .required("osversion", .string()),
        .required("seq", .integer(isNatural: true)),
        .required("v", .version(1...10)),
    ]

    static let version1 =
        (required + [
            .optional("experiments", .stringList()),
            .optional("profileGroupId", .string(.uuid)),
        ]).inCanonicalOrder

    static let fields =
        (required + [
            .optional("accessibilityServices", .stringList()),
            .optional("bug_1501329_affected", .boolean()),
            .optional("campaign", .string()),
            .optional("campaignId", .string(nullable: true)),
            .optional("created", .string()),
            .optional("defaultBrowser", .boolean()),
            .optional("defaultMailClient", .string(nullable: true)),
            .optional("defaultNewTabExperience", .string(nullable: true)),
            .optional("defaultSearch", .string(nullable: true)),
            .optional("displayVersion", .string(.startsWithNumber)),
            .optional("distributionId", .string()),
            .optional("durations", .integer()),
            .optional("enhancedSearchReady", .boolean()),
            .optional("enhancedSearchUsed", .boolean()),
            .optional("enhancedSearchVersion", .string()),
            .optional("experiments", .stringList()),
            .optional("fennec", .fennec(.root)),
            .optional("flashUsage", .integer()),
            .optional("landings", .integer(nullable: true)),
            .optional("openTabCount", .integer(nullable: true)),
            .optional("profileDate", .integer()),
            .optional("profileGroupId", .string(.uuid)),
            .optional("searches", .integers),
            .optional("sessions", .integer()),
            .optional("showTrackerStatsShare", .boolean()),
            .optional("systemTheme", .string(nullable: true)),
            .optional("tz", .integer()),
        ]).inCanonicalOrder

    /// The fields by which a ping with this `v` is checked.
    static func fields(of measurements: JSONNode, in document: JSONDocument) -> [Field] {
        guard let version = document.value(of: MeasurementKeys.version, in: measurements) else { return fields }
        let text = document.bytes(of: version)
        let first = UInt8(ascii: "1")
        let isFirst = text.count == 1 ? text[0] == first : JSONNumberText.integer(from: text) == [first]
        return isFirst ? version1 : fields
    }
}

/// The Android-only part of a core ping: groups of fields, every leaf of which may be null.
enum FennecFields {
    /// An object of that part.
    enum Group: Sendable {
        case root, addons, newTab, pageOptions, advancedSettings, generalSettings, homepage, notifications, privacy
        case sync

        /// The fields of the object, in canonical order.
        var fields: [Field] {
            switch self {
            case .root: FennecFields.root
            case .addons: FennecFields.addons
            case .newTab: FennecFields.newTab
            case .pageOptions: FennecFields.pageOptions
            case .advancedSettings: FennecFields.advancedSettings
            case .generalSettings: FennecFields.generalSettings
            case .homepage: FennecFields.homepage
            case .notifications: FennecFields.notifications
            case .privacy: FennecFields.privacy
            case .sync: FennecFields.sync
            }
        }
    }

    private static let integer = FieldRule.integer(nullable: true)
    private static let boolean = FieldRule.boolean(nullable: true)
    private static let list = FieldRule.stringList(nullable: true, nullableItems: true)

    private static let root = group([
        ("addons", .fennec(.addons)), ("new_tab", .fennec(.newTab)), ("page_options", .fennec(.pageOptions)),
        ("settings_advanced", .fennec(.advancedSettings)), ("settings_general", .fennec(.generalSettings)),
        ("settings_notifications", .fennec(.notifications)), ("settings_privacy", .fennec(.privacy)),
        ("sync", .fennec(.sync)),
    ])
    private static let addons = group([("active", list), ("disabled", list)])
    private static let newTab = group([("pocket_stories_clicked", integer), ("top_sites_clicked", integer)])
    private static let pageOptions = group([
        ("bookmark_with_star", integer), ("current_pwas_count", integer), ("print", integer),
        ("save_as_pdf", integer), ("total_added_search_engines", integer),
        ("total_sites_pinned_to_topsites", integer), ("view_source", integer),
    ])
    private static let advancedSettings = group([
        ("restore_tabs", boolean), ("show_images", .string(nullable: true)), ("show_web_fonts", boolean),
    ])
    private static let generalSettings = group([
        ("compact_tabs", boolean), ("full_screen_browsing", boolean), ("homepage", .fennec(.homepage)),
        ("tab_queue", boolean), ("tab_queue_usage_count", integer),
    ])
    private static let homepage = group([
        ("bookmarks_enabled", boolean), ("custom_homepage", boolean), ("custom_homepage_use_for_newtab", boolean),
        ("history_enabled", boolean), ("pocket_enabled", boolean), ("recent_bookmarks_enabled", boolean),
        ("topsites_enabled", boolean), ("visited_enabled", boolean),
    ])
    private static let notifications = group([("product_feature_tips", boolean)])
    private static let privacy = group([
        ("do_not_track", boolean), ("master_password", boolean), ("master_password_usage_count", integer),
    ])
    private static let sync = group([("only_over_wifi", boolean)])

    private static func group(_ fields: [(JSONKey, FieldRule)]) -> [Field] {
        fields.map { Field.optional($0.0, $0.1) }.inCanonicalOrder
    }
}
