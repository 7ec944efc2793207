import Telemetry

extension MozillaPseudonyms {
    /// The fields of a core ping.
    ///
    /// `arch`, `device`, `os` and `osversion` are required: `unknown`, which section 5.1 has for `arch`, takes the place of one
    /// that may be anything, and `??` that of a locale. Campaigns and distributions name who advertised to a person, lists of
    /// services and add-ons tell what a person needs: they are left out.
    ///
    /// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 5.1, 5.2 and 9.
    static let core: PseudonymTable = [
        "accessibilityServices": .drop,
        "arch": word,
        "bug_1501329_affected": .keep(.boolean),
        "campaign": .drop,
        "campaignId": .drop,
        "clientId": .pseudonym(.client),
        "created": .keep(.date),
        "defaultBrowser": .keep(.boolean),
        "defaultMailClient": .keep(.scheme),
        "defaultNewTabExperience": .keep(.word),
        "defaultSearch": .keep(.oneOf(engines), else: .pseudonym(engine)),
        "device": word,
        "displayVersion": .keep(.version),
        "distributionId": .drop,
        "durations": .keep(.number),
        "enhancedSearchReady": .keep(.boolean),
        "enhancedSearchUsed": .keep(.boolean),
        "enhancedSearchVersion": .keep(.version),
        "experiments": .list(.keep(.word)),
        "fennec": .object(fennec),
        "flashUsage": .keep(.number),
        "landings": .keep(.number),
        "locale": .keep(.locale, else: .text("??")),
        "openTabCount": .keep(.number),
        "os": word,
        "osversion": .keep(.version, else: .text("unknown")),
        "profileDate": .keep(.number),
        "profileGroupId": .pseudonym(profileGroup),
        "searches": .map(
            .afterPoint(["actionbar", "listitem", "quicksearch", "suggestion"], known: engines, engine), .keep(.number)),
        "seq": .keep(.number),
        "sessions": .keep(.number),
        "settings": .object(["crashedLastLaunch": .keep(.number)]),
        "showTrackerStatsShare": .keep(.boolean),
        "showTrackerStatsSharePhase2": .keep(.boolean),
        "systemTheme": .keep(.word),
        "tz": .keep(.number),
        "v": .keep(.number),
    ]

    /// Ids that several profiles of a person have in common.
    static let profileGroup = PseudonymClass("profile-group")

    /// The Android-only part: counts and switches.
    private static let fennec: PseudonymTable = [
        "addons": .object(["active": .drop, "disabled": .drop]),
        "new_tab": .object(PseudonymTable(["pocket_stories_clicked", "top_sites_clicked"], .keep(.number))),
        "page_options": .object(
            PseudonymTable(
                [
                    "bookmark_with_star", "current_pwas_count", "print", "save_as_pdf", "total_added_search_engines",
                    "total_sites_pinned_to_topsites", "view_source",
                ], .keep(.number))),
        "settings_advanced": .object([
            "restore_tabs": .keep(.boolean), "show_images": .keep(.word), "show_web_fonts": .keep(.boolean),
        ]),
        "settings_general": .object([
            "compact_tabs": .keep(.boolean), "full_screen_browsing": .keep(.boolean),
            "homepage": .object(
                PseudonymTable(
                    [
                        "bookmarks_enabled", "custom_homepage", "custom_homepage_use_for_newtab", "history_enabled",
                        "pocket_enabled", "recent_bookmarks_enabled", "topsites_enabled", "visited_enabled",
                    ], .keep(.boolean))),
            "tab_queue": .keep(.boolean), "tab_queue_usage_count": .keep(.number),
        ]),
        "settings_notifications": .object(["product_feature_tips": .keep(.boolean)]),
        "settings_privacy": .object([
            "do_not_track": .keep(.boolean), "master_password": .keep(.boolean),
            "master_password_usage_count": .keep(.number),
        ]),
        "sync": .object(["only_over_wifi": .keep(.boolean)]),
    ]
}
