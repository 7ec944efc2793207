import JSONText
import Telemetry

/// The fields of a core ping that only Firefox for Android writes.
///
/// Every value may be `null`.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 9.
enum FennecFields {
    static let root: PayloadFields = [
        .optional("addons", fields: addons, "add-ons"),
        .optional("new_tab", fields: newTab, "the page of new tabs"),
        .optional("page_options", fields: pageOptions, "uses of the options of pages"),
        .optional("settings_advanced", fields: advancedSettings, "advanced settings"),
        .optional("settings_general", fields: generalSettings, "general settings"),
        .optional(
            "settings_notifications", fields: [flag("product_feature_tips", "tips on features")], "notifications"),
        .optional("settings_privacy", fields: privacy, "settings of privacy"),
        .optional("sync", fields: [flag("only_over_wifi", "whether Sync waits for a Wi-Fi")], "settings of Sync"),
    ]

    private static let addons: PayloadFields = [
        list("active", "the add-ons in use"), list("disabled", "the add-ons that are disabled"),
    ]

    private static let newTab: PayloadFields = [
        count("pocket_stories_clicked", "clicks on stories of Pocket"),
        count("top_sites_clicked", "clicks on frequently visited sites"),
    ]

    private static let pageOptions: PayloadFields = [
        count("bookmark_with_star", "pages bookmarked with the star"),
        count("current_pwas_count", "installed web apps"),
        count("print", "printed pages"),
        count("save_as_pdf", "pages saved as PDF"),
        count("total_added_search_engines", "added search engines"),
        count("total_sites_pinned_to_topsites", "sites pinned to the page of new tabs"),
        count("view_source", "pages whose source was shown"),
    ]

    private static let advancedSettings: PayloadFields = [
        flag("restore_tabs", "whether tabs are restored"),
        .optional("show_images", .orNull(.string()), .keep(.word), "when images are shown"),
        flag("show_web_fonts", "whether web fonts are shown"),
    ]

    private static let generalSettings: PayloadFields = [
        flag("compact_tabs", "whether the list of tabs is compact"),
        flag("full_screen_browsing", "whether the address bar is hidden while scrolling"),
        .optional("homepage", fields: homepage, "settings of the home page"),
        flag("tab_queue", "whether links from other apps are queued"),
        count("tab_queue_usage_count", "uses of that queue"),
    ]

    private static let homepage: PayloadFields = [
        flag("bookmarks_enabled", "whether bookmarks are shown"),
        flag("custom_homepage", "whether a page was chosen as the home page"),
        flag("custom_homepage_use_for_newtab", "whether new tabs show that page"),
        flag("history_enabled", "whether the history is shown"),
        flag("pocket_enabled", "whether stories of Pocket are shown"),
        flag("recent_bookmarks_enabled", "whether recent bookmarks are shown"),
        flag("topsites_enabled", "whether frequently visited sites are shown"),
        flag("visited_enabled", "whether visited pages are shown"),
    ]

    private static let privacy: PayloadFields = [
        flag("do_not_track", "whether sites are asked not to track"),
        flag("master_password", "whether there is a master password"),
        count("master_password_usage_count", "uses of the master password"),
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
