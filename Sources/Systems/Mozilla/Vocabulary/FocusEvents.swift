extension EventMeanings {
    /// The meanings of the events of Focus and Klar, with the documented words and the words that the apps actually
    /// send.
    ///
    /// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 7.2.
    static let focus = EventMeanings(browsingEvents + searchEvents + settingsEvents + onboardingEvents + tipEvents)

    private static let browsingEvents = [
        EventMeaning("foreground", "app", means: "App came to the front"),
        EventMeaning("background", "app", means: "App went to the background"),
        EventMeaning("opened_from_extension", "app", means: "App opened from the share or action extension"),
        EventMeaning("click", "paste_and_go", means: "Paste and go chosen"),
        EventMeaning("open", "request_handler", means: "Link to another app opened"),
        EventMeaning("cancel", "request_handler", means: "Link to another app declined"),
        EventMeaning("click", "website_link", means: "Link on a page followed"),
        EventMeaning("click", "request_desktop", means: "Desktop site requested"),
        EventMeaning("click", "request_mobile", means: "Mobile site requested"),
        EventMeaning("open", "find_in_page_bar", means: "Find in page opened"),
        EventMeaning("close", "find_in_page_bar", means: "Find in page closed"),
        EventMeaning("click", "find_next", means: "Next match in the page"),
        EventMeaning("click", "find_next_button", means: "Next match in the page"),
        EventMeaning("click", "find_prev", means: "Previous match in the page"),
        EventMeaning("click", "find_previous_buttom", means: "Previous match in the page"),
        EventMeaning("click", "erase_button", means: "Erase button clicked"),
        EventMeaning("siri", "erase_and_open", means: "Siri: erased and opened"),
        EventMeaning("siri", "open_favorite_site", means: "Siri: favorite site opened"),
        EventMeaning("siri", "erase_in_background", means: "Siri: erased in the background"),
        EventMeaning("open", "menu", "firefox", means: "Page opened with Firefox"),
        EventMeaning("open", "menu", "default", means: "Page opened with Safari"),
        EventMeaning("open_app_store", "menu", "firefox", means: "App Store offered for Firefox"),
        EventMeaning("share", "menu", means: "Page shared"),
        EventMeaning("share", "tracker_stats_share_button", means: "Tracker statistics shared"),
        EventMeaning("swipe_to_navigate_back", "app", means: "Swiped back"),
        EventMeaning("swipe_to_navigate_forward", "app", means: "Swiped forward"),
        EventMeaning("click", "copy_image_buuton", means: "Image copied"),
        EventMeaning("click", "save_image_button", means: "Image saved"),
    ]

    private static let searchEvents = [
        EventMeaning("type_url", "search_bar", means: "URL entered"),
        EventMeaning("type_query", "search_bar", means: "Search typed"),
        EventMeaning("select_query", "search_bar", means: "Search hint chosen"),
        EventMeaning("drag", "search_bar", means: "Dragged from the URL bar"),
        EventMeaning("drop", "search_bar", means: "Dropped on the URL bar"),
        EventMeaning("show", "autofill", means: "Autofill of the password manager shown"),
        EventMeaning("click", "autofill", means: "Autofill used, or a completed URL submitted"),
        EventMeaning("click", "search_suggestions_on", means: "Search suggestions switched on"),
        EventMeaning("click", "search_suggestions_off", means: "Search suggestions switched off"),
        EventMeaning("click", "search_suggestion_selected", means: "Search suggestion chosen"),
        EventMeaning("click", "search_suggestion_not_selected", means: "Search suggestion not chosen"),
    ]

    private static let settingsEvents = [
        EventMeaning("click", "settings_button", means: "Settings opened"),
        EventMeaning("change", "setting", means: "Setting changed"),
        EventMeaning("change", "custom_domain", means: "Custom domain added"),
        EventMeaning("removed", "custom_domain", means: "Custom domain removed"),
        EventMeaning("reordered", "custom_domain", means: "Order of custom domains changed"),
        EventMeaning("custom_domain_added", "setting", means: "Custom domain added"),
        EventMeaning("custom_domain_removed", "setting", means: "Custom domain removed"),
        EventMeaning("custom_domain_reordered", "setting", means: "Order of custom domains changed"),
        EventMeaning("click", "quick_add_custom_domain_button", means: "Custom domain added quickly"),
        EventMeaning("open", "tracking_protection_drawer", means: "Tracking-protection drawer opened"),
        EventMeaning("close", "tracking_protection_drawer", means: "Tracking-protection drawer closed"),
        EventMeaning("change", "tracking_protection_toggle", means: "Tracking protection switched"),
    ]

    private static let onboardingEvents =
        ["ios_onboarding_v1", "new_onboarding"].flatMap { object in
            [
                EventMeaning("show", object, means: "First-run page shown"),
                EventMeaning("click", object, "skip", means: "First run skipped"),
                EventMeaning("click", object, "finish", means: "First run finished"),
            ]
        }
        + ["previous_first_run", "previous_first_run_experience", "ios_onboarding_v1"].map { object in
            EventMeaning("coin_flip", object, means: "First-run experiment chose a design")
        }
        + [
            ("coin_flip", "First-run experiment chose a design"), ("onboarding_skipped", "First run skipped"),
            ("onboarding_completed", "First run finished"), ("onboarding_slide_shown", "First-run page shown"),
        ].map { method, meaning in
            EventMeaning(method, "new_onboarding_experience", category: "first_run", means: meaning)
        }

    private static let tipEvents = [
        EventMeaning("show", "autocomplete_tip", means: "Tip shown: autocomplete"),
        EventMeaning("show", "tracking_protection_tip", means: "Tip shown: tracking protection"),
        EventMeaning("show", "request_desktop_tip", means: "Tip shown: desktop site"),
        EventMeaning("show", "tracker_stats_share_button", means: "Tip shown: tracker statistics"),
        EventMeaning("show", "biometric_tip", means: "Tip shown: biometric login"),
        EventMeaning("show", "siri_favorite_tip", means: "Tip shown or tapped: Siri favorite"),
        EventMeaning("show", "siri_erase_tip", means: "Tip shown: Siri erase"),
        EventMeaning("click", "biometric_tip", means: "Tip tapped: biometric login"),
        EventMeaning("click", "siri_favorite_tip", means: "Tip tapped: Siri favorite"),
        EventMeaning("click", "siri_erase_tip", means: "Tip tapped: Siri erase"),
        EventMeaning("click", "release_tip", means: "Tip tapped: release"),
    ]
}
