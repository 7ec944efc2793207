extension MozillaVocabulary {
    /// What the events of Focus and Klar mean: the documented words, and those that the apps really send.
    ///
    /// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 7.2.
    static let focus = MozillaVocabulary(browsing + searching + settings + onboarding + tips)

    private static let browsing = [
        MozillaEventMeaning("foreground", "app", means: "App came to the front"),
        MozillaEventMeaning("background", "app", means: "App went to the background"),
        MozillaEventMeaning("opened_from_extension", "app", means: "App opened from the share or action extension"),
        MozillaEventMeaning("click", "paste_and_go", means: "Paste and go chosen"),
        MozillaEventMeaning("open", "request_handler", means: "Link to another app opened"),
        MozillaEventMeaning("cancel", "request_handler", means: "Link to another app declined"),
        MozillaEventMeaning("click", "website_link", means: "Link on a page followed"),
        MozillaEventMeaning("click", "request_desktop", means: "Desktop site requested"),
        MozillaEventMeaning("click", "request_mobile", means: "Mobile site requested"),
        MozillaEventMeaning("open", "find_in_page_bar", means: "Find in page opened"),
        MozillaEventMeaning("close", "find_in_page_bar", means: "Find in page closed"),
        MozillaEventMeaning("click", "find_next", means: "Next match in the page"),
        MozillaEventMeaning("click", "find_next_button", means: "Next match in the page"),
        MozillaEventMeaning("click", "find_prev", means: "Previous match in the page"),
        MozillaEventMeaning("click", "find_previous_buttom", means: "Previous match in the page"),
        MozillaEventMeaning("click", "erase_button", means: "Erase button clicked"),
        MozillaEventMeaning("siri", "erase_and_open", means: "Siri: erased and opened"),
        MozillaEventMeaning("siri", "open_favorite_site", means: "Siri: favorite site opened"),
        MozillaEventMeaning("siri", "erase_in_background", means: "Siri: erased in the background"),
        MozillaEventMeaning("open", "menu", "firefox", means: "Page opened with Firefox"),
        MozillaEventMeaning("open", "menu", "default", means: "Page opened with Safari"),
        MozillaEventMeaning("open_app_store", "menu", "firefox", means: "App Store offered for Firefox"),
        MozillaEventMeaning("share", "menu", means: "Page shared"),
        MozillaEventMeaning("share", "tracker_stats_share_button", means: "Tracker statistics shared"),
        MozillaEventMeaning("swipe_to_navigate_back", "app", means: "Swiped back"),
        MozillaEventMeaning("swipe_to_navigate_forward", "app", means: "Swiped forward"),
        MozillaEventMeaning("click", "copy_image_buuton", means: "Image copied"),
        MozillaEventMeaning("click", "save_image_button", means: "Image saved"),
    ]

    private static let searching = [
        MozillaEventMeaning("type_url", "search_bar", means: "URL entered"),
        MozillaEventMeaning("type_query", "search_bar", means: "Search typed"),
        MozillaEventMeaning("select_query", "search_bar", means: "Search hint chosen"),
        MozillaEventMeaning("drag", "search_bar", means: "Dragged from the URL bar"),
        MozillaEventMeaning("drop", "search_bar", means: "Dropped on the URL bar"),
        MozillaEventMeaning("show", "autofill", means: "Autofill of the password manager shown"),
        MozillaEventMeaning("click", "autofill", means: "Autofill used, or a completed URL submitted"),
        MozillaEventMeaning("click", "search_suggestions_on", means: "Search suggestions switched on"),
        MozillaEventMeaning("click", "search_suggestions_off", means: "Search suggestions switched off"),
        MozillaEventMeaning("click", "search_suggestion_selected", means: "Search suggestion chosen"),
        MozillaEventMeaning("click", "search_suggestion_not_selected", means: "Search suggestion not chosen"),
    ]

    private static let settings = [
        MozillaEventMeaning("click", "settings_button", means: "Settings opened"),
        MozillaEventMeaning("change", "setting", means: "Setting changed"),
        MozillaEventMeaning("change", "custom_domain", means: "Custom domain added"),
        MozillaEventMeaning("removed", "custom_domain", means: "Custom domain removed"),
        MozillaEventMeaning("reordered", "custom_domain", means: "Order of custom domains changed"),
        MozillaEventMeaning("custom_domain_added", "setting", means: "Custom domain added"),
        MozillaEventMeaning("custom_domain_removed", "setting", means: "Custom domain removed"),
        MozillaEventMeaning("custom_domain_reordered", "setting", means: "Order of custom domains changed"),
        MozillaEventMeaning("click", "quick_add_custom_domain_button", means: "Custom domain added quickly"),
        MozillaEventMeaning("open", "tracking_protection_drawer", means: "Tracking-protection drawer opened"),
        MozillaEventMeaning("close", "tracking_protection_drawer", means: "Tracking-protection drawer closed"),
        MozillaEventMeaning("change", "tracking_protection_toggle", means: "Tracking protection switched"),
    ]

    private static let onboarding =
        ["ios_onboarding_v1", "new_onboarding"].flatMap { object in
            [
                MozillaEventMeaning("show", object, means: "First-run page shown"),
                MozillaEventMeaning("click", object, "skip", means: "First run skipped"),
                MozillaEventMeaning("click", object, "finish", means: "First run finished"),
            ]
        }
        + ["previous_first_run", "previous_first_run_experience", "ios_onboarding_v1"].map { object in
            MozillaEventMeaning("coin_flip", object, means: "First-run experiment chose a design")
        }
        + [
            ("coin_flip", "First-run experiment chose a design"), ("onboarding_skipped", "First run skipped"),
            ("onboarding_completed", "First run finished"), ("onboarding_slide_shown", "First-run page shown"),
        ].map { method, meaning in
            MozillaEventMeaning(method, "new_onboarding_experience", category: "first_run", means: meaning)
        }

    private static let tips = [
        MozillaEventMeaning("show", "autocomplete_tip", means: "Tip shown: autocomplete"),
        MozillaEventMeaning("show", "tracking_protection_tip", means: "Tip shown: tracking protection"),
        MozillaEventMeaning("show", "request_desktop_tip", means: "Tip shown: desktop site"),
        MozillaEventMeaning("show", "tracker_stats_share_button", means: "Tip shown: tracker statistics"),
        MozillaEventMeaning("show", "biometric_tip", means: "Tip shown: biometric login"),
        MozillaEventMeaning("show", "siri_favorite_tip", means: "Tip shown or tapped: Siri favorite"),
        MozillaEventMeaning("show", "siri_erase_tip", means: "Tip shown: Siri erase"),
        MozillaEventMeaning("click", "biometric_tip", means: "Tip tapped: biometric login"),
        MozillaEventMeaning("click", "siri_favorite_tip", means: "Tip tapped: Siri favorite"),
        MozillaEventMeaning("click", "siri_erase_tip", means: "Tip tapped: Siri erase"),
        MozillaEventMeaning("click", "release_tip", means: "Tip tapped: release"),
    ]
}
