import Adjust
import Foundation
import JSONText
import Systems
import Telemetry
import TestSupport
import Testing

/// Tests payloads that contain personal data in all possible places.
@Suite struct PseudonymExampleTests {
    /// A payload and its expected form, in which `<class:value>` is replaced by the pseudonym of the value.
    struct Example: Sendable, CustomTestStringConvertible {
        let system: SystemName
        let type: String
        let payload: String
        let expected: String

        var testDescription: String { "\(system) \(type)" }
    }

    static let client = "4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083"

    static let examples = [
        Example(
            system: .mozilla, type: "core",
            payload: #"""
                {"arch":"arm64","campaign":"anna","campaignId":"secret","clientId":"\#(client)","created":"2020-03-02",\#
                "defaultMailClient":"mailto:","defaultSearch":"Anna's engine","device":"iPhone11,8","durations":96,\#
                "locale":"en-US","mood":"secret","os":"anna@example.org","osversion":"13.3.1","searches":\#
                {"actionbar.Anna":2,"actionbar.Google":1,"secret":9},"seq":1,"sessions":1,"settings":\#
                {"crashedLastLaunch":0,"secret":"secret"},"tz":-300,"v":7}
                """#,
            expected: #"""
                {"arch":"arm64","clientId":"<client:\#(client)>","created":"2020-03-02","defaultMailClient":"mailto:",\#
                "defaultSearch":"<engine:Anna's engine>","device":"iPhone11,8","durations":96,"locale":"en-US",\#
                "os":"unknown","osversion":"13.3.1","searches":{"actionbar.<engine:Anna>":2,"actionbar.Google":1},\#
                "seq":1,"sessions":1,"settings":{"crashedLastLaunch":0},"tz":-300,"v":7}
                """#),
        Example(
            system: .mozilla, type: "focus-event",
            payload: #"""
                {"clientId":"\#(client)","created":1583154000000,"events":[[0,"action","foreground","app"],[9,"action",\#
                "change","setting","BlockAds",{"secret":"secret","to":"true"}],[11,"action","click","https://anna.example/"],\#
                [12,"action","type_url","search_bar","https://anna.example/"],[13,"action","change","setting","anna",\#
                {"fxauid":"anna","to":"anna"}]],"locale":"a@b","os":"iOS","osversion":"13.3.1","seq":1,\#
                "settings":{"BlockAds":"true","homepage":"secret","prefKeyEngine":"Anna"},"v":1}
                """#,
            expected: #"""
                {"clientId":"<client:\#(client)>","created":1583154000000,"events":[[0,"action","foreground","app"],[9,"action",\#
                "change","setting","BlockAds",{"to":"true"}],[11,"action","click","<event:https://anna.example/>"],\#
                [12,"action","type_url","search_bar"],[13,"action","change","setting",null,{"fxauid":"<user:anna>"}]],\#
                "locale":"??","os":"iOS","osversion":"13.3.1","seq":1,"settings":{"BlockAds":"true",\#
                "prefKeyEngine":"<engine:Anna>"},"v":1}
                """#),
        Example(system: .mozilla, type: "unknown", payload: #"{"anna":"secret"}"#, expected: "{}"),
        Example(
            system: .glean, type: "metrics",
            payload: #"""
                {"client_info":{"app_build":"1","app_display_version":"146.0","architecture":"D63AP","attribution":\#
                {"campaign":"anna"},"client_id":"\#(client)","distribution":{"name":"anna"},"first_run_date":"2025-11-03-05:00",\#
                "os":"iOS","os_version":"18.1.1","session_id":"secret","telemetry_sdk_build":"66.3.0"},"events":[{"category":\#
                "app","extra":{"glean_timestamp":"1768914593186","url":"secret"},"name":"anna smith","session":{"event_seq":1,\#
                "session_id":"secret","session_sample_rate":1,"session_seq":2},"timestamp":5}],"metrics":{"counter":\#
                {"tabs.open":3},"labeled_counter":{"search.in":{"anna@example.org":1,"google":2}},"object":{"a.b":{"x":"secret"}},\#
                "string":{"a.b":"anna","glean.client.annotation.experimentation_id":"anna","usage.os":"iOS"},\#
                "text":{"a.b":"secret"},"timing_distribution":{"a.b":{"sum":9,"values":{"1":2,"anna":3}}},\#
                "url":{"a.b":"https://secret"},"uuid":{"a.id":"\#(client)"}},"ping_info":{"end_time":"2026-01-20T04:58-05:00",\#
                "experiments":{"x":{"branch":"a","extra":{"enrollment_id":"anna","other":"secret","type":"t"}}},"reason":"active",\#
                "seq":1,"start_time":"at anna's"}}
                """#,
            expected: #"""
                {"client_info":{"app_build":"1","app_display_version":"146.0","architecture":"D63AP","attribution":{},\#
                "client_id":"<client:\#(client)>","distribution":{},"first_run_date":"2025-11-03-05:00","os":"iOS",\#
                "os_version":"18.1.1","session_id":"<session:secret>","telemetry_sdk_build":"66.3.0"},"events":[{"category":\#
                "app","extra":{"glean_timestamp":"1768914593186"},"name":"<event:anna smith>","session":{"event_seq":1,\#
                "session_id":"<session:secret>","session_sample_rate":1,"session_seq":2},"timestamp":5}],"metrics":{"counter":\#
                {"tabs.open":3},"labeled_counter":{"search.in":{"google":2}},\#
                "string":{"glean.client.annotation.experimentation_id":"<experimentation:anna>","usage.os":"iOS"},\#
                "timing_distribution":{"a.b":{"sum":9,"values":{"1":2}}},"uuid":{"a.id":"<uuid:\#(client)>"}},\#
                "ping_info":{"end_time":"2026-01-20T04:58-05:00","experiments":{"x":{"branch":"a","extra":\#
                {"enrollment_id":"<enrollment:anna>","type":"t"}}},"reason":"active","seq":1,"start_time":"unknown"}}
                """#),
        Example(
            system: .sift, type: "mobile_events",
            payload: #"""
                {"data":[{"device_properties":{"apple_ifa":"secret","name":"Anna's phone","system_name":"iOS"},"fields":\#
                {"mail":"anna@example.org"},"installation_id":"\#(client)","ios_app_state":{"battery_level":0.5,"location":\#
                {"latitude":48.2,"longitude":16.4},"motion":[{"time":1}],"network_addresses":["192.168.1.20"],\#
                "window_root_view_controller_titles":["anna"]},"ios_device_properties":{"device_ifa":"secret","device_ifv":\#
                "\#(client)","device_model":"iPhone","device_name":"Anna's phone","evidence_syscalls_succeeded":\#
                ["fork","secret"],"is_simulator":false},"metrics":{"a":"secret"},"mobile_event_type":"bought things",\#
                "path":"/secret","time":18446744073709551615,"user_id":"anna"},{"mobile_event_type":\#
                "UIApplicationDidBecomeActiveNotification","time":1}],"extra":"secret"}
                """#,
            expected: #"""
                {"data":[{"device_properties":{"system_name":"iOS"},"installation_id":"<client:\#(client)>","ios_app_state":\#
                {"battery_level":0.5},"ios_device_properties":{"device_ifv":"<client:\#(client)>","device_model":"iPhone",\#
                "evidence_syscalls_succeeded":["fork"],"is_simulator":false},"mobile_event_type":"<event:bought things>",\#
                "time":18446744073709551615,"user_id":"<user:anna>"},{"mobile_event_type":\#
                "UIApplicationDidBecomeActiveNotification","time":1}]}
                """#),
        Example(
            system: .leanplum, type: "multi",
            payload: #"""
                {"data":[{"action":"start","city":"(detect)","clientKey":"secret","deviceId":"\#(client)","deviceModel":\#
                "iPhone11,8","deviceName":"Anna's phone","iosPushToken":"secret","locale":"de_DE","location":"48.2,16.4","reqId":\#
                "secret","time":"1583150338.365711","timezone":"Europe/Berlin","token":"secret","userAttributes":\#
                "{\"Klar Installed\":true,\"mail\":\"anna@example.org\"}","userId":"anna"},{"action":"track","event":\#
                "E_Opened_New_Tab","info":"secret","params":"{\"Source\":\"Tab Tray\",\"url\":\"secret\"}","value":"0.000000"},\#
                {"action":"track","event":"Met Anna","params":"{\"Source\":\"secret\"}"},{"action":"advance","state":"Anna"},\#
                {"action":"annas"}]}
                """#,
            expected: #"""
                {"data":[{"action":"start","city":"(detect)","deviceId":"<client:\#(client)>","deviceModel":"iPhone11,8","locale":\#
                "de_DE","reqId":"<request:secret>","time":"1583150338.365711","timezone":"Europe/Berlin","userAttributes":\#
                "{\"Klar Installed\":true}","userId":"<user:anna>"},{"action":"track","event":"E_Opened_New_Tab","params":\#
                "{\"Source\":\"Tab Tray\"}","value":"0.000000"},{"action":"track","event":"<event:Met Anna>","params":"{}"},\#
                {"action":"advance","state":"<state:Anna>"},{"action":"<event:annas>"}]}
                """#),
        Example(
            system: .activityStream, type: "activity-stream-mobile-events",
            payload: #"""
                {"action_position":3,"app_version":"8.0","build":"4123","client_id":"\#(client)","event":"CLICK","ip":"192.168.1.20",\#
                "locale":"en_US@calendar=buddhist","page":"NEW_TAB","release_channel":"release","share_provider":\#
                "com.example.annas-mail","site":"secret","source":"TOP_SITES","topic":"activity-stream-mobile-events","ua":"secret"}
                """#,
            expected: #"""
                {"action_position":3,"app_version":"8.0","build":"4123","client_id":"<client:\#(client)>","event":"CLICK",\#
                "locale":"en_US@calendar=buddhist","page":"NEW_TAB","release_channel":"release","source":"TOP_SITES",\#
                "topic":"activity-stream-mobile-events"}
                """#),
        Example(
            system: .activityStream, type: "activity-stream-mobile-events",
            payload: #"""
                {"batch-mode":true,"payloads":[{"app_version":"8.0","build":"4123","event":"MISSING_FAVICON","locale":"at home",\#
                "release_channel":"release","share_provider":"com.apple.UIKit.activity.Mail","site":"secret"}],\#
                "topic":"activity-stream-mobile-events"}
                """#,
            expected: #"""
                {"batch-mode":true,"payloads":[{"app_version":"8.0","build":"4123","event":"MISSING_FAVICON","locale":"??",\#
                "release_channel":"release","share_provider":"com.apple.UIKit.activity.Mail"}],\#
                "topic":"activity-stream-mobile-events"}
                """#),
        Example(
            system: .adjust, type: "event",
            payload: #"""
                {"ad_revenue_network":"secret","app_token":"4w565xzmb54d","app_version":"3","bundle_id":"org.mozilla.ios.Focus",\#
                "callback_params":"{\"mail\":\"anna@example.org\"}","campaign":"anna","country":"AT","created_at":\#
                "2017-03-20T10:53:20.418Z+0200","currency":"EUR","deeplink":"focus://secret","device_name":"Anna's phone",\#
                "environment":"production","event_count":"secret","event_token":"hjuag8","external_device_id":"anna",\#
                "idfa":"secret","idfv":"\#(client)","install_receipt":"secret","language":"de","m":"secret","needs_cost":"1",\#
                "os_name":"ios","os_version":"192.168.1.20","params":"secret","persistent_ios_uuid":"\#(client)","push_token":\#
                "secret","revenue":"12.50000","secret":"secret","session_count":"4","source":"annas_sdk","tracking_enabled":\#
                "secret"}
                """#,
            expected: #"""
                {"app_token":"4w565xzmb54d","app_version":"3","bundle_id":"org.mozilla.ios.Focus","country":"AT","created_at":\#
                "2017-03-20T10:53:20.418Z+0200","currency":"EUR","environment":"production","event_token":"hjuag8",\#
                "external_device_id":"<external-device:anna>","idfv":"<client:\#(client)>","language":"de","needs_cost":"1",\#
                "os_name":"ios","persistent_ios_uuid":"<client:\#(client)>","revenue":"12.50000","session_count":"4"}
                """#),
        Example(
            system: .adjust, type: "ad_revenue",
            payload: #"""
                {"ad_impressions_count":"7","event_token":"met anna","payload":"secret","source":"push"}
                """#,
            expected: #"{"ad_impressions_count":"7","event_token":"<event:met anna>","source":"push"}"#),
    ]

    private static let key = [UInt8]("a key that is no secret, for tests".utf8)

    /// Returns an expected payload with pseudonyms, in canonical order.
    private func expectedPayload(_ text: String) throws -> String {
        let key = try PseudonymKey(Self.key)
        let text = text.replacing(/<([a-z-]+):([^>]*)>/) { match in
            String(decoding: key.pseudonym(of: Array(match.2.utf8), PseudonymClass(String(match.1))), as: UTF8.self)
        }
        let document = try JSONDocument(Array(text.utf8))
        return String(decoding: document.canonicalBytes(of: document.root), as: UTF8.self)
    }

    private func rewritten(_ example: Example) throws -> Record {
        let document = try JSONDocument(Array(example.payload.utf8))
        var record = Record(
            system: example.system, type: example.type, id: "x", payload: document.canonicalBytes(of: document.root),
            source: Source(capture: "c", path: "p", store: .harEntry, index: 0))
        var pseudonymizer = RecordPseudonymizer(try PseudonymKey(Self.key), knowing: Systems.table)
        _ = try pseudonymizer.pseudonymize(&record)
        return record
    }

    @Test("Only documented values and pseudonyms remain in a payload.", arguments: examples)
    func example(example: Example) throws {
        let record = try rewritten(example)
        #expect(record.text == (try expectedPayload(example.expected)))
        for word in ["anna", "Anna", "secret", Self.client, "192.168", "48.2"] {
            #expect(!record.line.contains(word), "\(word)")
        }
    }

    /// The requests of Adjust's SDK are not among them, because their type is not in the payload.
    @Test(
        "The payload keeps its documented form.",
        arguments: examples.filter { $0.type != "unknown" && $0.system != .adjust })
    func form(example: Example) throws {
        let system = try #require(Systems.table[example.system])
        let record = try rewritten(example)
        var document = try JSONDocument(record.payload)
        let upload = CapturedUpload(
            route: nil, time: nil, source: Source(capture: "c", path: "p", store: .ndjsonLine, index: 0))
        let again = try upload.record(by: system.requests, in: &document)
        #expect(again.held.filter(\.isSchema).isEmpty)
        // Normalization changes nothing.
        #expect(again.text == record.text)
    }
}
