import Bytes
import JSONText
import Telemetry

/// The documented meanings of the events of Firefox, Focus, Klar and WebXR Viewer.
///
/// Each app has its own vocabulary, because apps use the same words with different meanings. The events of any other app,
/// such as Lockwise, have only the meanings that all apps share.
struct MozillaVocabulary: Vocabulary {
    func labels(of payload: JSONDocument, in record: RecordSummary, nested: inout JSONDocument) -> [String?] {
        guard let events = payload.array(MeasurementKeys.events, in: payload.root) else { return [] }
        // Other ping types have no documented events.
        let app = ["focus-event", "mobile-event"].contains(record.type) ? DocumentedApp(of: record) : nil
        var labels: [String?] = []
        labels.reserveCapacity(payload.count(of: events))
        payload.forEachElement(of: events) { labels.append(app?.meaning(of: $0, in: payload)) }
        return labels
    }
}

/// The vocabulary of an app.
private enum DocumentedApp {
    case focus
    case firefox
    case webXR
    /// An app without a vocabulary, or an unknown app.
    case other

    /// Returns the vocabulary of the app that queued a record.
    ///
    /// The name of the app in the upload path takes precedence over the bundle id, because the app itself wrote it.
    ///
    /// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 1.2.
    init(of record: RecordSummary) {
        self = Self.apps[record.appName ?? ""] ?? Self.apps[record.appID ?? ""] ?? .other
    }

    private static let apps: [CapturedText: DocumentedApp] = [
        "Fennec": .firefox, "Focus": .focus, "Klar": .focus, "Lockbox": .other, "WebXR": .webXR,
        "org.mozilla.ios.Fennec": .firefox, "org.mozilla.ios.FennecEnterprise": .firefox,
        "org.mozilla.ios.Firefox": .firefox, "org.mozilla.ios.FirefoxBeta": .firefox, "org.mozilla.ios.Focus": .focus,
        "org.mozilla.ios.Klar": .focus, "org.mozilla.ios.XRViewer": .webXR,
    ]

    /// Returns the meaning of an event in a ping, or `nil` if it is not documented.
    func meaning(of event: JSONNode, in payload: JSONDocument) -> String? {
        guard EventTuples.isTuple(event, in: payload), let time = payload.firstElement(of: event),
            let category = payload.element(after: time, of: event),
            let method = payload.element(after: category, of: event),
            let object = payload.element(after: method, of: event)
        else { return nil }
        let value = payload.element(after: object, of: event)
        let words = EventNodes(category: category, method: method, object: object, value: value)
        switch self {
        case .focus: return EventMeanings.focus.meaning(of: words, in: payload)?.text
        case .webXR: return EventMeanings.webXR.meaning(of: words, in: payload)?.text
        case .other: return EventMeanings.shared.meaning(of: words, in: payload)?.text
        case .firefox:
            let extras = value.flatMap { payload.element(after: $0, of: event) }
            return FirefoxVocabulary.meaning(of: words, extras: extras, in: payload)
        }
    }
}

/// The words of an event in a ping.
struct EventNodes {
    let category, method, object: JSONNode
    let value: JSONNode?
}

extension EventMeanings {
    /// Returns the meaning of an event with the words in a ping, or `nil` if the table does not contain the event.
    ///
    /// `dependsOnValue` is whether events with the same words but another value have another meaning.
    func meaning(of words: EventNodes, in payload: JSONDocument) -> (text: String, dependsOnValue: Bool)? {
        guard let value = words.value, payload.kind(of: value) == .string else {
            return meaning(
                category: payload.bytes(of: words.category), method: payload.bytes(of: words.method),
                object: payload.bytes(of: words.object), value: nil)
        }
        return meaning(
            category: payload.bytes(of: words.category), method: payload.bytes(of: words.method),
            object: payload.bytes(of: words.object), value: payload.bytes(of: value))
    }
}

// MARK: - Documented events

extension EventMeanings {
    /// The meanings of the events of Focus and Klar, with the documented words and the words that the apps actually
    /// send.
    ///
    /// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 7.2.
    static let focus = EventMeanings(
        appStateEvents + browsingEvents + searchEvents + settingsEvents + onboardingEvents + tipEvents)

    /// The meanings that the events of all apps have.
    static let shared = EventMeanings(appStateEvents)

    private static let appStateEvents = [
        EventMeaning("foreground", "app", means: "App came to the front"),
        EventMeaning("background", "app", means: "App went to the background"),
    ]

    private static let browsingEvents = [
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

extension EventMeanings {
    /// The meanings of the events of WebXR Viewer, with the documented words and the words that the app actually sends.
    ///
    /// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 7.1.
    static let webXR = EventMeanings(appStateEvents + sampleEvents + startEvents + buttonEvents)

    /// The events in the sample of the documentation, whose method and object are in the wrong order.
    private static let sampleEvents = appStateEvents.map {
        EventMeaning($0.object, $0.method, means: $0.meaning)
    }

    private static let startEvents = ["WebXR", "webXR"].map {
        EventMeaning($0, "init", category: "api", means: "Page started WebXR")
    }

    private static let buttonEvents = [
        ("record_video_button", "Video recording started"), ("record_picture_button", "Picture taken"),
        ("release_video_button", "Video recording ended"),
    ].flatMap { button, meaning in
        [EventMeaning(button, "app", means: meaning), EventMeaning("tap", button, means: meaning)]
    }
}

// MARK: - Lookup

/// The documented meaning of an event of a Mozilla app.
struct EventMeaning: Sendable {
    let category: String
    let method: String
    let object: String
    /// The value that the event must have, or `nil` if the meaning applies to all values.
    let value: String?
    let meaning: String

    init(_ method: String, _ object: String, _ value: String? = nil, category: String = "action", means meaning: String)
    {
        self.category = category
        self.method = method
        self.object = object
        self.value = value
        self.meaning = meaning
    }
}

/// The meanings of the events of a Mozilla app, by category, method, object and value.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 7.1 to 7.4.
struct EventMeanings: Sendable {
    /// A row of the table, with either the complete words of an event or the words as old SDKs truncated them.
    ///
    /// The words are ranges of ``EventMeanings/wordBytes``, because copying strings for each event would be slower.
    private struct Entry: Sendable {
        let category: Range<Int>
        let method: Range<Int>
        let object: Range<Int>
        let value: Range<Int>?
        let meaningIndex: Int
        /// The hash of category, method and object.
        let hash: UInt64
    }

    private let meanings: [String]
    private let wordBytes: [UInt8]
    /// The rows, sorted by their hashes.
    private let entries: [Entry]

    /// The length, in characters, to which SDK versions before 1.0.12 truncated method and object.
    private static let truncatedWordLength = 20

    init(_ rows: [EventMeaning]) {
        var wordBytes: [UInt8] = []
        func range(of word: String) -> Range<Int> {
            wordBytes += word.utf8
            return wordBytes.count - word.utf8.count..<wordBytes.count
        }
        // Complete words are first, because they take precedence over equal truncated words.
        let entries = [Int.max, Self.truncatedWordLength].flatMap { length in
            rows.enumerated().map { index, row in
                let (method, object) = (String(row.method.prefix(length)), String(row.object.prefix(length)))
                return Entry(
                    category: range(of: row.category), method: range(of: method), object: range(of: object),
                    value: row.value.map { range(of: $0) }, meaningIndex: index,
                    hash: Self.hash(row.category.utf8.span, method.utf8.span, object.utf8.span))
            }
        }
        meanings = rows.map(\.meaning)
        self.wordBytes = wordBytes
        self.entries = entries.enumerated().sorted { ($0.element.hash, $0.offset) < ($1.element.hash, $1.offset) }
            .map(\.element)
    }

    /// Returns the meaning of an event, or `nil` if the table does not contain the event.
    ///
    /// A row with the value of the event takes precedence over a row without a value.
    private func meaning(
        category: Span<UInt8>, method: Span<UInt8>, object: Span<UInt8>, value: Span<UInt8>?
    ) -> (text: String, dependsOnValue: Bool)? {
        let hash = Self.hash(category, method, object)
        let wordBytes = wordBytes.span
        var generalIndex: Int?
        let start = entries.indices.partitioningIndex { entries[$0].hash >= hash }
        for index in start..<entries.count {
            let entry = entries[index]
            guard entry.hash == hash else { break }
            guard wordBytes.extracting(entry.method).equals(method), wordBytes.extracting(entry.object).equals(object),
                wordBytes.extracting(entry.category).equals(category)
            else { continue }
            guard let requiredValue = entry.value else {
                generalIndex = generalIndex ?? entry.meaningIndex
                continue
            }
            if let value, wordBytes.extracting(requiredValue).equals(value) {
                return (meanings[entry.meaningIndex], true)
            }
        }
        return generalIndex.map { (meanings[$0], false) }
    }

    private static func hash(_ category: Span<UInt8>, _ method: Span<UInt8>, _ object: Span<UInt8>) -> UInt64 {
        var hash = UInt64(category.count) &* 31 &+ category.prefixAsNumber
        hash = mixed(mixed(hash, UInt64(method.count)), UInt64(object.count))
        hash = mixed(mixed(hash, method.prefixAsNumber), object.prefixAsNumber)
        // The suffixes are included, because many words have the same prefix.
        hash = mixed(mixed(hash, method.suffixAsNumber), object.suffixAsNumber)
        return hash
    }

    private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let mixed = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
        return mixed ^ mixed >> 32
    }

}

extension Span<UInt8> {
    /// The last eight bytes as a number, with zeros for missing bytes.
    fileprivate var suffixAsNumber: UInt64 { extracting(Swift.max(0, count - 8)...).prefixAsNumber }
}
