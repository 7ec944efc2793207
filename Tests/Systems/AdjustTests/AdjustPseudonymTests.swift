import Foundation
import JSONText
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Adjust

/// Tests the rules for replacing ids by pseudonyms.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", sections 4.3 and 13.
@Suite struct AdjustPseudonymTests {
    /// The documented treatment of a parameter.
    enum Treatment: String, CaseIterable {
        case kept, client, dropped, event, externalDevice
    }

    /// The parameters in the order of section 4.3, by treatment.
    private static let documented: [(Treatment, String)] = [
        (
            .kept,
            """
            app_token created_at environment bundle_id app_version app_version_short
            device_name hardware_name device_type os_name os_version os_build cpu_type language country
            mcc mnc network_type connectivity_type mobile_country_code mobile_network_code
            session_count subsession_count event_count session_length time_spent last_interval
            installed_at app_updated_at started_at skadn_registered_at revenue currency amount
            transaction_date sales_region billing_store seq source ad_impressions_count sharing measurement
            att_status tracking_enabled attribution_deeplink needs_response_details needs_attribution_data needs_cost
            device_known event_buffering_enabled is_iad tce ff_skadn_disabled ff_att_disabled ff_coppa background
            foreground offline_mode_enabled send_in_background_enabled enqueue_size
            """
        ),
        (.client, "ios_uuid persistent_ios_uuid primary_dedupe_token secondary_dedupe_token idfv"),
        (
            .dropped,
            """
            idfa mac_sha1 mac_md5 fb_id fb_anon_id m push_token install_receipt callback_params partner_params params
            event_callback_id deduplication_id product_id transaction_id receipt payload
            ad_revenue_network ad_revenue_unit ad_revenue_placement
            granular_third_party_sharing_options partner_sharing_settings
            deeplink deeplink_parameters reftag referrer content click_time purchase_time attribution_token error_code
            odm_info details tracker campaign adgroup creative
            default_tracker control_params last_skan_update store_name_from_client store_app_id_from_client initiated_by
            """
        ),
        (.event, "event_token"), (.externalDevice, "external_device_id"),
    ]

    private static let treatments: [String: Treatment] = Dictionary(
        uniqueKeysWithValues: documented.flatMap { treatment, names in
            names.split(whereSeparator: \.isWhitespace).map { (String($0), treatment) }
        })

    private func treatment(_ rule: PseudonymRule) -> Treatment? {
        switch rule {
        case .keep(_, .nothing), .time(_, .nothing): .kept
        case .keep(_, .pseudonym(.event)): .event
        case .pseudonym(.client): .client
        case .pseudonym(PseudonymClass("external-device")): .externalDevice
        case .drop: .dropped
        default: nil
        }
    }

    @Test("Each documented parameter has the documented treatment, and there are no others")
    func table() throws {
        let table = try #require(AdjustSystem().pseudonyms?.table(ofType: "event"))
        for (name, expected) in Self.treatments {
            let rule = try #require(table[name], "\(name)")
            #expect(treatment(rule) == expected, "\(name)")
        }
        #expect(Set(table.fields.map { "\($0.key)" }) == Set(Self.treatments.keys))
        #expect(table.fields.count >= 100)
    }

    @Test("Credentials and the parameters of an attempt have no rule, so that they are omitted")
    func unsent() throws {
        let table = try #require(AdjustSystem().pseudonyms?.table(ofType: "event"))
        #expect(AdjustParameters.credentials.count == 7 && AdjustParameters.attempts.count == 7)
        for key in AdjustParameters.credentials + AdjustParameters.attempts {
            #expect(table["\(key)"] == nil, "\(key)")
        }
    }

    @Test("All types have the same rules")
    func types() {
        let format = AdjustSystem().pseudonyms
        for (_, type) in AdjustClientTests.types + [("", "unknown"), ("", "install_referrer")] {
            #expect(format?.table(ofType: type)?["app_token"] != nil, "\(type)")
        }
    }

    // MARK: Values

    private static let key = [UInt8]("a key that is no secret, for tests".utf8)

    private func pseudonym(_ value: String, _ kind: PseudonymClass) throws -> String {
        String(decoding: try PseudonymKey(Self.key).pseudonym(of: Array(value.utf8), kind), as: UTF8.self)
    }

    /// Returns the payload of a record with one parameter, in JSON, after it was pseudonymized.
    private func rewritten(_ name: String, _ json: String) throws -> String {
        let document = try JSONDocument(Array("{\"\(name)\":\(json)}".utf8))
        var record = Record(
            system: .adjust, type: "event", id: "x", payload: document.canonicalBytes(of: document.root),
            source: Source(capture: "c", path: "p", store: .adjustQueue, index: 0))
        var pseudonymizer = RecordPseudonymizer(try PseudonymKey(Self.key), knowing: Systems.table)
        _ = try pseudonymizer.pseudonymize(&record)
        return record.text
    }

    @Test(
        "A value of the documented form is kept",
        arguments: [
            ("app_token", "4w565xzmb54d"), ("created_at", "2017-03-20T10:53:20.418Z+0200"), ("session_count", "4"),
            ("revenue", "12.50000"), ("device_name", "iPhone9,3"), ("needs_cost", "1"), ("tracking_enabled", "0"),
            ("event_token", "hjuag8"), ("event_token", "5fbqr5"), ("source", "apple_ads"), ("att_status", "3"),
            ("sharing", "disable"), ("bundle_id", "org.mozilla.ios.Focus"), ("transaction_date", "2018-12-10"),
        ])
    func kept(name: String, value: String) throws {
        #expect(try rewritten(name, "\"\(value)\"") == "{\"\(name)\":\"\(value)\"}")
    }

    @Test(
        "A value of another form, an undocumented parameter, and a value of the app are omitted",
        arguments: [
            ("session_count", #""four""#), ("session_count", "4"), ("session_count", #"{"a":"4"}"#),
            ("needs_cost", #""2""#), ("needs_cost", #""true""#), ("created_at", #""at anna's""#),
            ("device_name", #""Anna's phone""#), ("bundle_id", #""anna@example.org""#),
            ("app_token", #""5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415""#), ("os_version", #""192.168.1.20""#),
            ("source", #""annas_sdk""#), ("attribution_deeplink", #"["1"]"#), ("idfa", #""secret""#),
            ("callback_params", #""{\"a\":\"b\"}""#), ("campaign", #""spring""#), ("unknown_parameter", #""1""#),
            ("Session_count", #""4""#), ("idfv", "7"), ("external_device_id", "{}"), ("event_token", #"["hjuag8"]"#),
        ])
    func omitted(name: String, json: String) throws {
        #expect(try rewritten(name, json) == "{}")
    }

    @Test("Clients, the app's own ids and unknown events become pseudonyms of separate classes")
    func replaced() throws {
        let client = "5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415"
        for key in AdjustParameters.clients {
            let expected = "{\"\(key)\":\"\(try pseudonym(client, .client))\"}"
            #expect(try rewritten("\(key)", "\"\(client)\"") == expected, "\(key)")
        }
        #expect(
            try rewritten("external_device_id", #""anna""#)
                == "{\"external_device_id\":\"\(pseudonym("anna", PseudonymClass("external-device")))\"}")
        #expect(try rewritten("event_token", #""g3mfiw""#) == "{\"event_token\":\"\(pseudonym("g3mfiw", .event))\"}")
    }

    @Test("The client of a record and of its payload stay equal")
    func client() throws {
        let client = "5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415"
        var record = try #require(try QueueReading([.event(["persistent_ios_uuid": client])]).records.first)
        #expect(record.client == client)
        var pseudonymizer = RecordPseudonymizer(try PseudonymKey(Self.key), knowing: Systems.table)
        _ = try pseudonymizer.pseudonymize(&record)
        let expected = try pseudonym(client, .client)
        #expect(record.client == expected)
        #expect(record.text.contains("\"persistent_ios_uuid\":\"\(expected)\""))
        #expect(record.target == Target(path: "/event"))
        #expect(!record.line.contains(client))
    }
}
