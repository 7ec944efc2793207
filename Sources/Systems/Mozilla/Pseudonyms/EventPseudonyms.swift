import Telemetry

extension MozillaPseudonyms {
    /// The fields of an event ping.
    ///
    /// `locale`, `os` and `osversion` are required, as in a core ping. `settings` is required too: it stays, without what no
    /// document names.
    ///
    /// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 3.3, 6.1, 6.4, 6.5 and 7.
    static let events: PseudonymTable = [
        "arch": .keep(.name),
        "clientId": .pseudonym(.client),
        "created": .keep(.number),
        "createdDate": .keep(.date),
        "createdTimestamp": .keep(.number),
        "device": .keep(.name),
        "events": .list(
            .tuple([
                .keep(.number), eventWord, eventWord, eventWord, .keep(.oneOf(values)), .object(extras),
            ])),
        "experiments": .map(.form(.name), .keep(.name)),
        "locale": .keep(.locale, else: .text("??")),
        "openTabCount": .keep(.number),
        "os": word,
        "osversion": .keep(.version, else: .text("unknown")),
        "processStartTimestamp": .keep(.number),
        "profileDate": .keep(.number),
        "profileGroupId": .pseudonym(profileGroup),
        "seq": .keep(.number),
        "settings": .object(settings),
        "tz": .keep(.number),
        "v": .keep(.number),
    ]

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

    private static let settings: PseudonymTable =
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
            "defaultSearchEngine": .keep(.oneOf(engines), else: .pseudonym(engine)),
            "prefKeyAutomaticSliderValue": .keep(.decimal),
            "prefKeyEngine": .keep(.oneOf(engines), else: .pseudonym(engine)),
            "prefKeyThemeName": .keep(.word),
            "profile.prefkey.trackingprotection.strength": .keep(.word),
            "windowHeight": .keep(.decimal),
            "windowWidth": .keep(.decimal),
        ]
}
