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
        .string("arch", .keep(.model), "the processor architecture that the app was compiled for"),
        .required(
            "created", .integer(), .time(.milliseconds),
            "the time at which the ping was created, in milliseconds since 1970"),
        .optional(
            "createdDate", .string(.named("date", containsDate)), .time(.text),
            "the day on which the ping was created"),
        .optional(
            "createdTimestamp", .integer(atLeast: 0), .time(.milliseconds),
            "the time at which the ping was created, in milliseconds since 1970"),
        .string("device", .keep(.model), "the hardware model, such as `iPhone10,6`"),
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

/// The functions that normalize the events of an event ping.
///
/// An event has the form `[timestamp, category, method, object, value?, extras?]`.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 6.4 to 6.6.
enum EventTuples {
    private static let minimumElementCount = 4
    private static let maximumElementCount = 6

    /// Normalizes the events in the array `events`, and adds a note for each event that starts a new run of the app.
    static func normalize(_ events: JSONNode, in document: inout JSONDocument, findings: inout Findings) {
        var index = 0
        var previousOffset: Int64?
        var event = document.firstElement(of: events)
        while let current = event {
            normalize(event: current, index: index, in: &document, findings: &findings)
            let offset = timeOffset(of: current, in: document)
            if let offset, let previousOffset, startsRun(offset, after: previousOffset) {
                findings.note(
                    "E13 events[\(index)]: offset \(offset) follows \(previousOffset); earlier events belong to a "
                        + "previous process run")
            }
            previousOffset = offset ?? previousOffset
            event = document.element(after: current, of: events)
            index += 1
        }
    }

    /// Returns the index of the first event that was recorded in the last run of the app.
    ///
    /// The timestamps of earlier events are relative to the start of another process (case E13).
    static func firstIndexOfLastRun(in events: JSONNode, of document: JSONDocument) -> Int {
        var start = 0
        var index = 0
        var previousOffset: Int64?
        document.forEachElement(of: events) { event in
            let offset = timeOffset(of: event, in: document)
            if let offset, let previousOffset, startsRun(offset, after: previousOffset) { start = index }
            previousOffset = offset ?? previousOffset
            index += 1
        }
        return start
    }

    /// Returns whether `value` has the form of an event, which starts with a number and three strings.
    static func isTuple(_ value: JSONNode, in document: JSONDocument) -> Bool {
        guard document.count(of: value) >= minimumElementCount else { return false }
        var element = document.firstElement(of: value)
        for position in 0..<minimumElementCount {
            guard let current = element, document.kind(of: current) == (position == 0 ? .number : .string) else {
                return false
            }
            element = document.element(after: current, of: value)
        }
        return true
    }

    /// Normalizes the event at `index`, and adds a fault for each invalid part.
    static func normalize(
        event: JSONNode, index: Int, in document: inout JSONDocument, findings: inout Findings
    ) {
        guard document.kind(of: event) == .array else {
            return findings.fault("events[\(index)] is no array")
        }
        dropRepeatedValue(of: event, index: index, in: &document, findings: &findings)
        let count = document.count(of: event)
        guard (minimumElementCount...maximumElementCount).contains(count) else {
            return findings.fault("events[\(index)] has \(count) elements")
        }
        var position = 0
        var element = document.firstElement(of: event)
        while let current = element {
            checkElement(current, at: position, ofEventAt: index, in: &document, findings: &findings)
            position += 1
            element = document.element(after: current, of: event)
        }
    }

    private static func checkElement(
        _ element: JSONNode, at position: Int, ofEventAt index: Int, in document: inout JSONDocument,
        findings: inout Findings
    ) {
        let kind = document.kind(of: element)
        switch position {
        case 0:
            guard kind == .number else { return findings.fault("events[\(index)][0] is no integer") }
            if JSONNumberText.isPlainInteger(document.bytes(of: element)) { return }
            _ = findings.add(IntegerNormalizer.normalize(element, in: &document), name: { "events[\(index)][0]" })
        case 1, 2, 3:
            if kind != .string { findings.fault("events[\(index)][\(position)] is no string") }
        case 4:
            if kind != .string, kind != .null { findings.fault("events[\(index)][4] is no string") }
        default:
            guard kind == .object else {
                if kind != .null { findings.fault("events[\(index)][5] is no object") }
                return
            }
            StringValues.normalize(
                element, in: &document, findings: &findings, isNullable: true, noteCode: { _ in "E8" },
                name: { "events[\(index)][5]" })
        }
    }

    /// Removes the duplicate value that SDK versions 1.0.1, 1.0.3 and 1.0.4 wrote in events with extras (case E7).
    private static func dropRepeatedValue(
        of event: JSONNode, index: Int, in document: inout JSONDocument, findings: inout Findings
    ) {
        guard document.count(of: event) == maximumElementCount + 1 else { return }
        let elements = document.elements(of: event)
        guard document.kind(of: elements[4]) == .string, document.kind(of: elements[5]) == .string,
            document.bytes(of: elements[4]).equals(document.bytes(of: elements[5])),
            document.kind(of: elements[6]) == .object
        else { return }
        document.removeElement(elements[5], from: event)
        findings.note("E7 events[\(index)]: 7 elements; duplicate value element removed")
    }

    private static func timeOffset(of event: JSONNode, in document: JSONDocument) -> Int64? {
        guard let first = document.firstElement(of: event), document.kind(of: first) == .number else { return nil }
        return Int64(decimal: document.bytes(of: first))
    }

    /// Returns whether an event with the timestamp `offset` starts a new run of the app (case E13).
    ///
    /// The preceding event has the timestamp `previous`. A slightly smaller timestamp does not start a new run, because
    /// events can be appended late (case E12).
    private static func startsRun(_ offset: Int64, after previous: Int64) -> Bool {
        offset >= 0 && offset < previous / 2 && previous - offset > 100
    }
}
