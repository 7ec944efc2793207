import Bytes
import Telemetry

/// The rules that replace identifiers with pseudonyms in the events and settings of event pings.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 3.3, 6.4, 6.5 and 7.
enum EventPseudonyms {
    /// The rule for an event, `[timestamp, category, method, object, value?, extras?]`.
    static let event = PseudonymRule.tuple([
        .time(.milliseconds), eventWord, eventWord, eventWord, .keep(.oneOf(documentedValues)), .object(extras),
    ])

    /// The rule for category, method and object, which keeps a word and replaces any other string with a pseudonym.
    private static let eventWord = PseudonymRule.keep(.word, else: .pseudonym(.event))

    /// The documented values of events: settings, choices and page numbers.
    private static let documentedValues = Set<CapturedText>(
        texts: [
            "BiometricLogin", "BlockAds", "BlockAnalytics", "BlockFonts", "BlockOther", "BlockSocial", "HomeScreenTips",
            "Safari", "SendAnonymousUsageData", "Studies", "TrackingProtection", "default", "displaySecretMenu",
            "enableCustomDomainAutocomplete", "enableDomainAutocomplete", "enableSearchSuggestions", "external link",
            "false", "finish", "firefox", "skip", "true",
        ] + (0..<20).map(String.init))

    /// The rules for the documented extras of events.
    ///
    /// Undocumented extras have no rule and are omitted.
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

    /// The rules for the documented preferences in the settings of event pings.
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
