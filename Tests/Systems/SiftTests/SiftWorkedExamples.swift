import Bytes
import Telemetry
import TestSupport
import Testing

@testable import Sift

/// Tests the worked examples in section 11 of "Sift iOS SDK: on-disk store, list request".
@Suite struct SiftWorkedExamples {
    private static let id = "9F2C1D7E-0B3A-4C55-8E11-2A6B7C8D9E0F"

    @Test("Example 11.1: a pending event that is also the last event is read once")
    func hostEvent() {
        let event = Archived.shared(
            "event",
            .event(
                1_758_600_000_123,
                [
                    "type": .text("checkout"), "path": .text(""), "userId": .text("user-0001"),
                    "installationId": .text(Self.id), "fields": .object(["sku": .text("A-1")]),
                ]))
        let bytes = SiftArchiveBuilder.queue(
            [event], ["lastEvent": event, "lastUploadTimestamp": .integer(1_758_599_990_000)])
        let read = SiftReading([(.queue(identifier: "sift-default"), bytes)])
        #expect(
            read.payloads == [
                #"{"data":[{"fields":{"sku":"A-1"},"installation_id":"\#(Self.id)","mobile_event_type":"checkout","#
                    + #""time":1758600000123,"user_id":"user-0001"}]}"#
            ])
        #expect(read.records[0].notes == [])
        #expect(read.records[0].client == Self.id)
        #expect(read.records[0].time?.description == "2025-09-23T04:00:00.123Z")
    }

    @Test("Example 11.2: an app state of version 2.2.5 is read")
    func appState() {
        let state = Archived.object([
            "sdk_version": .text("v2.2.5"), "battery_level": .real("0.8500000238418579"),
            "battery_state": .mutable("ui_device_battery_state_charging"), "proximity_state": .boolean(false),
            "network_addresses": .list([.text("192.168.1.20"), .text("fe80::1c2d:3e4f")]),
            "window_root_view_controller_titles": .list([.text("Shop.CartViewController")]), "location": .object([:]),
        ])
        let read = SiftReading(
            queue: [.event(1_758_600_005_000, ["installationId": .text("9F2C"), "iosAppState": state])])
        #expect(
            read.data
                == #"{"installation_id":"9F2C","ios_app_state":{"battery_level":0.8500000238418579,"#
                + #""battery_state":"ui_device_battery_state_charging","location":{},"#
                + #""network_addresses":["192.168.1.20","fe80::1c2d:3e4f"],"proximity_state":false,"#
                + #""sdk_version":"v2.2.5","window_root_view_controller_titles":["Shop.CartViewController"]},"#
                + #""time":1758600005000}"#)
    }

    @Test("Example 11.3: a wrapped app state is read without its wrapper and its NaN")
    func wrapped() {
        let state = Archived.object([
            "application_state": .mutable("ui_application_state_active"),
            "heading": .object([
                "time": .integer(1_531_799_999_000), "raw_magnetic_field_x": .real("-1.5"),
                "raw_magnetic_field_y": .real("0.0"), "raw_magnetic_field_z": .real("40.25"),
            ]),
            "raw_gyro": .list([
                .object([
                    "time": .integer(1_531_799_999_500), "rotation_rate_x": .real("0.25"),
                    "rotation_rate_y": .real("0.0"), "rotation_rate_z": .real("nan"),
                ])
            ]),
        ])
        let read = SiftReading(
            queue: [
                .event(
                    1_531_800_000_000, class: "SFEvent",
                    [
                        "userId": .text("u1"),
                        "iosAppState": .instance("SFHtDictionary", [("entries", .reference(state))]),
                    ])
            ])
        #expect(
            read.data
                == #"{"ios_app_state":{"application_state":"ui_application_state_active","heading":{"#
                + #""raw_magnetic_field_x":-1.5,"raw_magnetic_field_y":0,"raw_magnetic_field_z":40.25,"#
                + #""time":1531799999000},"raw_gyro":[{"rotation_rate_x":0.25,"rotation_rate_y":0,"#
                + #""time":1531799999500}]},"time":1531800000000,"user_id":"u1"}"#)
        #expect(
            read.records[0].notes == [
                "legacy-class SFEvent in 1 event (event 0)", "legacy-class SFHtDictionary in 1 event (event 0)",
                "not-finite 1 value removed (event 0, ios_app_state)",
            ])
    }

    @Test("Example 11.4: the oldest layout is read, with sent and with pending events")
    func oldest() {
        let event = Archived.event(
            1_459_152_000_000, class: "SFEvent",
            [
                "installationId": .text("6B1E"),
                "deviceProperties": .object(["hw.machine": .text("iPhone6,1"), "apple_ifv": .text("77A0")]),
            ])
        let more: KeyValuePairs<String, Archived> = [
            "last_event": event, "lastEventTimestamp": .integer(1_459_152_000_000),
        ]
        let sent = SiftReading([(.queue(identifier: "sift-devprops"), SiftArchiveBuilder.queue([], more))])
        #expect(sent.records.isEmpty)
        #expect(sent.queues.map(\.era) == [.first])
        let pending = SiftReading([(.queue(identifier: "sift-devprops"), SiftArchiveBuilder.queue([event], more))])
        #expect(
            pending.data
                == #"{"device_properties":{"apple_ifv":"77A0","hw.machine":"iPhone6,1"},"installation_id":"6B1E","#
                + #""time":1459152000000}"#)
    }

    @Test("Example 11.5: only the events that violate a rule are omitted")
    func violations() {
        let cyclic = Archived.shared(
            "cycle", .dictionary([(.text("self"), .shared("cycle", .none))]))
        let read = SiftReading(queue: [
            .event(1, ["type": .text(""), "fields": .object([:])]),
            .event(2, ["fields": .dictionary([(.integer(1), .text("v"))])]),
            .event(3, ["fields": .object(["k": .integer(1)])]),
            .event(4, ["metrics": .object(["m": .null])]),
            .event(5, ["type": .integer(7)]),
            .event(-1, ["type": .text("x")]),
            .event(6, ["iosAppState": .object(["a": .null, "b": .date, "c": .list([.integer(1), .real("inf")])])]),
            .event(7, ["iosAppState": .object([:])]),
            .event(8, ["iosAppState": cyclic]),
        ])
        #expect(
            read.data
                == #"{"fields":{},"time":1},{"mobile_event_type":"x","time":18446744073709551615},"#
                + #"{"ios_app_state":{"a":null,"c":[1]},"time":6},{"ios_app_state":{},"time":7}"#)
        #expect(
            read.codes == ["event-skipped", "event-skipped", "event-skipped", "event-skipped", "graph-cycle"])
        #expect(read.rejects.map(\.reason) == ["event-skipped 4 left out, graph-cycle 1 left out"])
        let counts: [CapturedText: Int] = ["absorbed": 0, "emitted": 4, "lost": 1, "pending": 9, "skipped": 4]
        #expect(read.report.parts.map(\.events) == [counts])
        #expect(read.records[0].time == nil)
        #expect(read.records[0].notes.contains("time-out-of-range newest event time 18446744073709551615"))
    }

    @Test("Example 11.6: each event of a batch replaces one equal event of a queue")
    func merging() {
        func event(_ name: String, _ time: Int64) -> Archived { .event(time, ["type": .text(name)]) }
        let read = SiftReading([
            (
                .uploader,
                SiftArchiveBuilder.uploader([[event("P", 1), event("Q", 2)], [event("R", 3)]], rejects: .integer(1))
            ),
            (
                .queue(identifier: "checkout"),
                SiftArchiveBuilder.queue([], ["lastEvent": event("Z", 9), "lastUploadTimestamp": .integer(0)])
            ),
            (
                .queue(identifier: "sift-default"),
                SiftArchiveBuilder.queue([event("Q", 2), event("S", 4), event("S", 4)])
            ),
            (.queue(identifier: "sift-devprops"), SiftArchiveBuilder.queue([event("T", 5)])),
        ])
        let names = read.payloads.map { payload in
            payload.matches(of: #/"mobile_event_type":"(\w)"/#).map { String($0.1) }
        }
        #expect(names == [["P", "Q"], ["R"], ["S", "S"], ["T"]])
        #expect(read.records.map(\.source.index) == [0, 1, 0, 0])
        #expect(read.records.map(\.source.store) == [.siftUploader, .siftUploader, .siftQueue, .siftQueue])
        #expect(read.records[2].notes == ["absorbed 1 event left out that a batch has too (event 0)"])
        #expect(read.report.facts == ["batch 0 was rejected once so far"])
    }

    @Test("Example 11.7: the collector and the keys are reported and have no request")
    func collectorAndKeys() {
        let bucket = Archived.instance(
            "SiftTokenBucket",
            [
                ("numTokens", .inline("<real>30</real>")), ("interval", .inline("<real>60</real>")),
                ("allowance", .inline("<real>27.5</real>")), ("lastAcquire", .inline("<real>1758600005.123</real>")),
            ])
        let read = SiftReading([
            (.keys, SiftArchiveBuilder.archive(.object(["accountId": .text("a"), "beaconKey": .text("secret")]))),
            (
                .collector,
                SiftArchiveBuilder.archive(.object(["bucket": bucket, "lastCollectedAt": .integer(1_758_600_005_000)]))
            ),
        ])
        #expect(read.records.isEmpty)
        #expect(
            read.report.facts == [
                "account id present, beacon key present, user id absent",
                "app states last collected 2025-09-23T04:00:05.000Z, 27.5 of 30 tokens",
            ])
    }
}
