import JSONText
import Telemetry

/// The fields of a core ping that only Firefox for Android writes.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 9.
enum FennecFields {
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
