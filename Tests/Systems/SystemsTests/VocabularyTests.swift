import ActivityStream
import Adjust
import Mozilla
import Sift
import Telemetry
import TestSupport
import Testing

@testable import Leanplum

/// Tests the meanings of events.
///
/// The names of tests begin with the section of the format document.
@Suite struct VocabularyTests {
    private func labels(_ payload: String, _ system: SystemName, _ type: String, _ app: App? = nil) -> [String?] {
        var labeler = EventLabeler()
        return labeler.labels(of: payload, system: system, type: type, app: app)
    }

    private func focus(_ event: String) -> String? {
        labels(#"{"events":[\#(event)]}"#, .mozilla, "focus-event", App(name: "Focus")).first ?? "no label at all"
    }

    @Test(
        "7.2: Events of Focus have meanings.",
        arguments: [
            (#"[1,"action","click","erase_button"]"#, "Erase button clicked"),
            (#"[1,"action","open","menu","firefox"]"#, "Page opened with Firefox"),
            (#"[1,"action","open","menu","default"]"#, "Page opened with Safari"),
            (#"[1,"action","open","menu","opera"]"#, nil), (#"[1,"action","open","menu"]"#, nil),
            (#"[1,"action","change","setting","BlockAds",{"to":"true"}]"#, "Setting changed"),
            (#"[1,"action","show","ios_onboarding_v1","2"]"#, "First-run page shown"),
            (#"[1,"action","click","ios_onboarding_v1","skip"]"#, "First run skipped"),
            (
                #"[1,"first_run","coin_flip","new_onboarding_experience",null,{"DidShowNewIntro":"true"}]"#,
                "First-run experiment chose a design"
            ),
            (#"[1,"action","ponder","app"]"#, nil), (#"[1,"api","click","erase_button"]"#, nil),
            (#"[1,"action"]"#, nil), ("7", nil),
        ])
    func focusEvents(event: String, meaning: String?) {
        #expect(focus(event) == meaning)
    }

    @Test(
        "7.4: Words that the SDK truncated are recognized.",
        arguments: [
            (#"[1,"action","open","tracking_protection_"]"#, "Tracking-protection drawer opened"),
            (#"[1,"action","change","tracking_protection_"]"#, "Tracking protection switched"),
            (#"[1,"action","opened_from_extensio","app"]"#, "App opened from the share or action extension"),
            (#"[1,"action","share","tracker_stats_share_"]"#, "Tracker statistics shared"),
            (#"[1,"action","coin_flip","previous_first_run_e"]"#, "First-run experiment chose a design"),
            (#"[1,"first_run","onboarding_slide_sho","new_onboarding_exper","1"]"#, "First-run page shown"),
            (#"[1,"action","custom_domain_remove","setting"]"#, "Custom domain removed"),
            (#"[1,"action","swipe_to_navigate_ba","app"]"#, "Swiped back"),
        ])
    func truncatedWords(event: String, meaning: String) {
        #expect(focus(event) == meaning)
    }

    @Test(
        "7.1: Events of WebXR Viewer are recognized as documented and as sent.",
        arguments: [
            (#"[1,"api","webXR","init"]"#, "Page started WebXR"), (#"[1,"api","WebXR","init"]"#, "Page started WebXR"),
            (#"[1,"action","tap","record_picture_butto"]"#, "Picture taken"),
            (#"[1,"action","record_picture_button","app"]"#, "Picture taken"),
            (#"[2147,"action","app","foreground"]"#, "App came to the front"),
            (#"[2147,"action","app","background"]"#, "App went to the background"),
        ])
    func webXR(event: String, meaning: String) {
        #expect(labels(#"{"events":[\#(event)]}"#, .mozilla, "mobile-event", App(name: "WebXR")) == [meaning])
    }

    @Test(
        "1.2: Events have the meanings in the vocabulary of their app, and events of other apps those that all apps share.",
        arguments: [
            (App(name: "Focus"), 0), (App(name: "Klar"), 0), (App(id: "org.mozilla.ios.Focus"), 0),
            (App(id: "org.mozilla.ios.Klar", name: "x"), 0), (App(name: "Fennec"), 1),
            (App(id: "org.mozilla.ios.Firefox"), 1), (App(id: "org.mozilla.ios.FirefoxBeta"), 1),
            (App(id: "org.mozilla.ios.Fennec"), 1), (App(id: "org.mozilla.ios.FennecEnterprise"), 1),
            (App(name: "WebXR"), 2), (App(id: "org.mozilla.ios.XRViewer"), 2),
            (App(id: "org.mozilla.ios.Focus", name: "Fennec"), 1), (App(name: "Lockbox"), nil),
            (App(id: "org.mozilla.ios.Focus", name: "Lockbox"), nil), (App(id: "org.mozilla.ios.Lockbox"), nil),
            (App(name: "focus"), nil), (App(name: "Other"), nil), (App(version: "1"), nil), (nil, nil),
        ] as [(App?, Int?)])
    func apps(app: App?, vocabulary: Int?) {
        let payload = #"""
            {"events":[[1,"action","foreground","app"],[1,"action","background","app"],[1,"action","show","autofill"],\#
            [1,"action","add","bookmark"],[1,"api","webXR","init"]]}
            """#
        var expected: [String?] = ["App came to the front", "App went to the background", nil, nil, nil]
        let meanings = ["Autofill of the password manager shown", "Bookmark added", "Page started WebXR"]
        if let vocabulary { expected[2 + vocabulary] = meanings[vocabulary] }
        for type in ["focus-event", "mobile-event"] {
            #expect(labels(payload, .mozilla, type, app) == expected)
        }
    }

    @Test("Payloads without events have no labels.")
    func none() {
        #expect(labels(#"{"v":7,"clientId":"A"}"#, .mozilla, "core") == [])
        let focus = App(name: "Focus")
        #expect(labels(#"{"events":[[1,"action","click","erase_button"]]}"#, .mozilla, "other", focus) == [nil])
        #expect(labels("{", .mozilla, "core") == [])
    }

    @Test(
        "D: Requests of Leanplum have meanings.",
        arguments: [
            (#"{"action":"track","event":"E_First_Run"}"#, "First start after install"),
            (#"{"action":"track","event":"Opened App"}"#, "App opened"),
            (#"{"action":"track","event":"Accept","messageId":"1"}"#, "Message accepted"),
            (#"{"action":"track","messageId":"1"}"#, "Message shown"), (#"{"action":"track"}"#, nil),
            (#"{"action":"track","event":"Own"}"#, nil), (#"{"action":"heartbeat"}"#, "App still in the foreground"),
            (#"{"action":"own"}"#, nil), ("{}", nil), ("7", nil),
            (
                #"{"action":"setUserAttributes","userAttributes":"{\"Focus Installed\":true,\"A\":1,\"B\":2}"}"#,
                "User attributes set: Focus is installed, 2 unknown attributes"
            ),
            (#"{"action":"setUserAttributes","userAttributes":"{"}"#, "User attributes set"),
            (
                #"{"action":"track","event":"Accept","params":"{\"u\":\"firefox://deep-link?url=settings/FxA\"}"}"#,
                "Message accepted, deep link to the settings of the Firefox account"
            ),
            (
                #"{"action":"setUserAttributes","userAttributes":"{\"Focus Installed\":true,\"A\":1,\"A\":2}"}"#,
                "User attributes set: Focus is installed, 1 unknown attribute"
            ),
            (
                #"{"action":"setUserAttributes","userAttributes":"{\"Focus Installed\":\"\\ud800\"}"}"#,
                "User attributes set: Focus is installed"
            ),
            (
                #"{"action":"track","event":"Accept","params":"{\"u\":1,\"u\":\"firefox://deep-link?url=settings/fxa\"}"}"#,
                "Message accepted, deep link to the settings of the Firefox account"
            ),
        ])
    func leanplum(request: String, meaning: String?) {
        #expect(labels(#"{"data":[\#(request)]}"#, .leanplum, "multi") == [meaning])
    }

    @Test(
        "D.3: Documented deep links have a destination, also the two that no version of the app follows.",
        arguments: [
            ("settings/fxa", "the settings of the Firefox account"),
            ("Settings//FXA/", "the settings of the Firefox account"), ("/history", "the history"),
            ("history", "the history"), ("settings", "the settings"), ("homepanel/history", "the history"),
            ("settings/general", "the settings"), ("", nil), ("/", nil), ("homepanel", nil), ("a/b", nil),
            ("settings/fxa/x", nil), ("history/settings", nil),
        ] as [(String, String?)])
    func deepLinks(page: String, destination: String?) {
        #expect(LeanplumVocabulary.destination(ofDeepLink: "firefox://deep-link?url=\(page)") == destination)
        #expect(LeanplumVocabulary.destination(ofDeepLink: page) == nil)
    }

    @Test("Only events of Sift's SDK have meanings, not those of apps.")
    func sift() {
        let payload = #"{"data":[{"mobile_event_type":"ios_app_state"},{"mobile_event_type":"checkout"},{}]}"#
        #expect(labels(payload, .sift, "mobile_events") == ["State of the app and its sensors", nil, nil])
    }

    @Test("Events and sessions of Activity Stream have meanings.")
    func activityStream() {
        let type = "activity-stream-mobile-events"
        #expect(labels(#"{"event":"REMOVE"}"#, .activityStream, type) == ["Top site removed"])
        #expect(
            labels(#"{"payloads":[{"event":"X"},{"event":"MISSING_FAVICON"}]}"#, .activityStream, type)
                == [nil, "No icon for the site"])
        #expect(
            labels("{}", .activityStream, "activity-stream-mobile-sessions") == ["New Tab panel shown for a while"])
    }

    @Test("Events of Focus and sessions of Adjust have meanings.")
    func adjust() {
        #expect(labels(#"{"event_token":"hy183e"}"#, .adjust, "event") == ["The user erased the browsing history"])
        #expect(labels(#"{"event_token":"g3mfiw"}"#, .adjust, "event") == [nil])
        #expect(labels("{}", .adjust, "session") == ["App session"])
    }
}
