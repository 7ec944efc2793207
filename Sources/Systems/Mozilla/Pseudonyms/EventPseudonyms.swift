import Telemetry

/// The rules by which the events and settings of an event ping get pseudonyms.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 3.3, 6.4, 6.5 and 7.
enum EventPseudonyms {
    /// `[timestamp, category, method, object, value?, extras?]`
    static let event = PseudonymRule.tuple([
        .keep(.number), eventWord, eventWord, eventWord, .keep(.oneOf(values)), .object(extras),
    ])

    /// Category, method and object are words of the app's code. What is no word is told from others, and not shown.
    private static let eventWord = PseudonymRule.keep(.word, else: .pseudonym(.event))

    /// The values that documents name: settings, choices, and the numbers of pages.
    private static let values: Set<String> = Set(
        [
            "BiometricLogin", "BlockAds", "BlockAnalytics", "BlockFonts", "BlockOther", "BlockSocial", "HomeScreenTips",
            "Safari", "SendAnonymousUsageData", "Studies", "TrackingProtection", "default", "displaySecretMenu",
            "enableCustomDomainAutocomplete", "enableDomainAutocomplete", "enableSearchSuggestions", "external link",
            "false", "finish", "firefox", "skip", "true",
        ] + (0..<20).map(String.init))

    /// Extras hold what apps put there: those that are documented stay where they are choices.
    private static let extras: PseudonymTable = [
        "DidShowNewIntro": .keep(.flag),
        "Experiment id": .keep(.decimal),
        "Experiment name": .keep(.name),
        "Experiment variant": .keep(.name),
        "action": .keep(.word),
        "didSucceed": .keep(.flag),
        "error": .drop,
        "flow_type": .keep(.word),
        "from": .keep(.flag),
        "fxauid": .pseudonym(.user),
        "gesture": .keep(.word),
        "is-private": .keep(.flag),
        "itemid": .drop,
        "orientation": .keep(.oneOf(["Landscape", "Portrait"])),
        "pref": .keep(.word),
        "slide-num": .keep(.decimal),
        "to": .keep(.flag),
    ]

    /// The preferences that documents name.
    static let settings: PseudonymTable =
        PseudonymTable(
            [
                "BiometricLogin", "BlockAds", "BlockAnalytics", "BlockFonts", "BlockOther", "BlockSocial",
                "enableSearchSuggestions", "prefKeyAutomaticSwitchOnOff", "prefKeySystemThemeSwitchOnOff",
                "profile.ASBookmarkHighlightsVisible", "profile.ASPocketStoriesVisible",
                "profile.ASRecentHighlightsVisible", "profile.blockPopups",
                "profile.prefkey.trackingprotection.enabled", "profile.prefkey.trackingprotection.normalbrowsing",
                "profile.prefkey.trackingprotection.privatebrowsing", "profile.saveLogins",
                "profile.settings.closePrivateTabs", "profile.show-translation", "profile.showClipboardBar",
            ], .keep(.flag))
        + [
            "defaultSearchEngine": .searchEngine,
            "prefKeyAutomaticSliderValue": .keep(.decimal),
            "prefKeyEngine": .searchEngine,
            "prefKeyThemeName": .keep(.word),
            "profile.prefkey.trackingprotection.strength": .keep(.word),
            "windowHeight": .keep(.decimal),
            "windowWidth": .keep(.decimal),
        ]
}
