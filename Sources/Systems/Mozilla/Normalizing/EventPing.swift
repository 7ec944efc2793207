import Bytes
import JSONText
import Telemetry

/// The fields of event pings, and the limits on the number of events.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 3.3, 6.1, 6.3 to 6.5, 7 and 9.
enum EventPing {
    /// The minimum number of events in a ping.
    static let minimumEventCount = 3
    /// The maximum number of events in a ping.
    static let maximumEventCount = 500

    /// The fields of a `mobile-event` ping, including the fields that apps add.
    static let mobileFields = fieldsOfCorePings + ownFields

    private static let fieldsOfCorePings = CorePing.fields.only([
        "clientId", "locale", "os", "osversion", "profileDate", "profileGroupId", "tz",
    ])

    private static let ownFields: PayloadFields = [
        .optional("arch", .string(), .keep(.model), "the processor architecture that the app was compiled for"),
        .required(
            "created", .integer(), .time(.milliseconds),
            "the time at which the ping was created, in milliseconds since 1970"),
        .optional(
            "createdDate", .string(.named("date", containsDate)), .time(.text),
            "the day on which the ping was created"),
        .optional(
            "createdTimestamp", .integer(atLeast: 0), .time(.milliseconds),
            "the time at which the ping was created, in milliseconds since 1970"),
        .optional("device", .string(), .keep(.model), "the hardware model, such as `iPhone10,6`"),
        .required("events", .list(.structure), .list(EventPseudonyms.event), "the events"),
        .optional("experiments", .map(.string()), .map(.form(.name), .keep(.name)), "the branch of each experiment"),
        .added("openTabCount", .integer(), .keep(.number), "the number of open tabs, in Firefox"),
        .required(
            "processStartTimestamp", .integer(), .time(.milliseconds),
            "the time of the first event of the process, in milliseconds since 1970"),
        .required(
            "seq", .integer(atLeast: 0), .keep(.number),
            "the sequence number of the ping among the event pings of the installation"),
        .required(
            "settings", .map(.orNull(.string())), .object(EventPseudonyms.settings),
            "the preferences that the app reports"),
        .required("v", .version(1...Int.max), .keep(.number), "the version of the ping, which selects its schema"),
    ]

    /// The fields of a `focus-event` ping, including the fields that apps add.
    static let focusFields = mobileFields.optional(["processStartTimestamp"])

    /// Returns whether `text` contains a date of the form `YYYY-MM-DD`.
    @Sendable private static func containsDate(_ text: Span<UInt8>) -> Bool {
        text.count >= 10 && (0...(text.count - 10)).contains { text.extracting($0..<$0 + 10).isDate }
    }
}

/// The rules that replace identifiers with pseudonyms in the events and settings of event pings.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 3.3, 6.4, 6.5 and 7.
private enum EventPseudonyms {
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

extension Span<UInt8> {
    /// Whether the bytes have the form `YYYY-MM-DD`, where each letter is a digit.
    var isDate: Bool {
        guard count == 10 else { return false }
        for index in indices {
            let isDash = index == 4 || index == 7
            if isDash ? self[index] != UInt8(ascii: "-") : !self[index].isDigit { return false }
        }
        return true
    }
}
