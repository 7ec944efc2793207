/// A worked example of the format document, which consists of a ping file and its record.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 12.
struct GleanExample: Sendable {
    /// The path of the file in the capture.
    let path: String
    /// The contents of the file.
    let file: String
    /// The record as a line of JSON.
    let record: String

    static let all = [
        GleanExample(
            path: "Library/Application Support/glean_data/pending_pings/0b9c7a5e-6d21-4f7b-8f0c-3e1d2a4b5c60",
            file: #"""
                /submit/org-mozilla-ios-firefox/baseline/1/0b9c7a5e-6d21-4f7b-8f0c-3e1d2a4b5c60
                {"client_info":{"app_build":"59021","app_channel":"release","app_display_version":"146.0","arc\#
                hitecture":"D63AP","build_date":"2025-09-24T15:40:00+00:00","client_id":"5f0d1c7a-2b94-4e0c-9d\#
                3e-8a61b7c2f415","device_manufacturer":"Apple","device_model":"iPhone14,2","first_run_date":"2\#
                025-11-03-05:00","locale":"en-US","os":"iOS","os_version":"18.1.1","telemetry_sdk_build":"66.3\#
                .0"},"metrics":{"timespan":{"glean.baseline.duration":{"time_unit":"second","value":1607}}},"p\#
                ing_info":{"end_time":"2026-01-20T04:58:00.120-05:00","reason":"inactive","seq":41,"start_time\#
                ":"2026-01-20T04:31:12.908-05:00"}}
                {"headers":{},"body_has_info_sections":true,"ping_name":"baseline","uploader_capabilities":[]}
                """#,
            record: #"""
                {"app":{"build":"59021","channel":"release","id":"org-mozilla-ios-firefox","version":"146.0"},\#
                "client":"5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415","held":[],"id":"0b9c7a5e-6d21-4f7b-8f0c-3e1d2a\#
                4b5c60","notes":[],"payload":{"client_info":{"app_build":"59021","app_channel":"release","app_\#
                display_version":"146.0","architecture":"D63AP","build_date":"2025-09-24T15:40:00+00:00","clie\#
                nt_id":"5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415","device_manufacturer":"Apple","device_model":"iP\#
                hone14,2","first_run_date":"2025-11-03-05:00","locale":"en-US","os":"iOS","os_version":"18.1.1\#
                ","telemetry_sdk_build":"66.3.0"},"metrics":{"timespan":{"glean.baseline.duration":{"time_unit\#
                ":"second","value":1607}}},"ping_info":{"end_time":"2026-01-20T04:58:00.120-05:00","reason":"i\#
                nactive","seq":41,"start_time":"2026-01-20T04:31:12.908-05:00"}},"source":{"capture":"worked-e\#
                xamples","index":0,"path":"Library/Application Support/glean_data/pending_pings/0b9c7a5e-6d21-\#
                4f7b-8f0c-3e1d2a4b5c60","store":"glean-ping-file"},"system":"glean","target":{"path":"/submit/\#
                org-mozilla-ios-firefox/baseline/1/0b9c7a5e-6d21-4f7b-8f0c-3e1d2a4b5c60"},"time":"2026-01-20T0\#
                9:58:00.120Z","type":"baseline"}
                """#),
        GleanExample(
            path: "Library/Application Support/glean_data/pending_pings/e4d3c2b1-a0f9-4e8d-bc7b-6a5948372615",
            file: #"""
                /submit/org-mozilla-ios-firefox/usage-reporting/1/e4d3c2b1-a0f9-4e8d-bc7b-6a5948372615
                {"metrics":{"datetime":{"usage.first_run_date":"2025-11-03-05:00"},"string":{"usage.app_build"\#
                :"59021","usage.app_channel":"release","usage.app_display_version":"146.0","usage.os":"iOS","u\#
                sage.os_version":"18.1.1","usage.reason":"active"},"uuid":{"usage.profile_id":"c1d2e3f4-a5b6-4\#
                c7d-8e9f-0a1b2c3d4e5f"}}}
                {"headers":{},"body_has_info_sections":false,"ping_name":"usage-reporting","uploader_capabilit\#
                ies":[]}
                """#,
            record: #"""
                {"app":{"id":"org-mozilla-ios-firefox"},"client":null,"held":[],"id":"e4d3c2b1-a0f9-4e8d-bc7b-\#
                6a5948372615","notes":[],"payload":{"metrics":{"datetime":{"usage.first_run_date":"2025-11-03-\#
                05:00"},"string":{"usage.app_build":"59021","usage.app_channel":"release","usage.app_display_v\#
                ersion":"146.0","usage.os":"iOS","usage.os_version":"18.1.1","usage.reason":"active"},"uuid":{\#
                "usage.profile_id":"c1d2e3f4-a5b6-4c7d-8e9f-0a1b2c3d4e5f"}}},"source":{"capture":"worked-examp\#
                les","index":0,"path":"Library/Application Support/glean_data/pending_pings/e4d3c2b1-a0f9-4e8d\#
                -bc7b-6a5948372615","store":"glean-ping-file"},"system":"glean","target":{"path":"/submit/org-\#
                mozilla-ios-firefox/usage-reporting/1/e4d3c2b1-a0f9-4e8d-bc7b-6a5948372615"},"time":null,"type\#
                ":"usage-reporting"}
                """#),
        GleanExample(
            path: "older/glean_data/deletion_request/f1e2d3c4-b5a6-4978-8a6b-5c4d3e2f1a0b",
            file: #"""
                /submit/org-mozilla-ios-lockbox/deletion-request/1/f1e2d3c4-b5a6-4978-8a6b-5c4d3e2f1a0b
                {"client_info":{"app_build":"4460","app_channel":"release","app_display_version":"1.8.1","arch\#
                itecture":"N104AP","client_id":"2b7e1f30-64c5-4a9d-8f12-9d0c3b5a7e68","device_manufacturer":"A\#
                pple","device_model":"iPhone12,1","first_run_date":"2020-05-01+02:00","locale":"en-US","os":"i\#
                OS","os_version":"13.4.1","telemetry_sdk_build":"30.1.0"},"ping_info":{"end_time":"2020-05-22T\#
                16:11+02:00","seq":0,"start_time":"2020-05-22T16:10+02:00"}}
                """#,
            record: #"""
                {"app":{"build":"4460","channel":"release","id":"org-mozilla-ios-lockbox","version":"1.8.1"},"\#
                client":"2b7e1f30-64c5-4a9d-8f12-9d0c3b5a7e68","held":[],"id":"f1e2d3c4-b5a6-4978-8a6b-5c4d3e2\#
                f1a0b","notes":[],"payload":{"client_info":{"app_build":"4460","app_channel":"release","app_di\#
                splay_version":"1.8.1","architecture":"N104AP","client_id":"2b7e1f30-64c5-4a9d-8f12-9d0c3b5a7e\#
                68","device_manufacturer":"Apple","device_model":"iPhone12,1","first_run_date":"2020-05-01+02:\#
                00","locale":"en-US","os":"iOS","os_version":"13.4.1","telemetry_sdk_build":"30.1.0"},"ping_in\#
                fo":{"end_time":"2020-05-22T16:11+02:00","seq":0,"start_time":"2020-05-22T16:10+02:00"}},"sour\#
                ce":{"capture":"worked-examples","index":0,"path":"older/glean_data/deletion_request/f1e2d3c4-\#
                b5a6-4978-8a6b-5c4d3e2f1a0b","store":"glean-ping-file"},"system":"glean","target":{"path":"/su\#
                bmit/org-mozilla-ios-lockbox/deletion-request/1/f1e2d3c4-b5a6-4978-8a6b-5c4d3e2f1a0b"},"time":\#
                "2020-05-22T14:11:00.000Z","type":"deletion-request"}
                """#),
    ]

    /// An event file that contains events from before and after a restart of the device.
    static let eventsFile = #"""
        {"timestamp":86911040,"category":"onboarding","name":"card_view","extra":{"card_type":"welcome","glean\#
        _timestamp":"1768902731204"}}
        {"timestamp":4102,"category":"glean","name":"restarted","extra":{"glean.startup.date":"2026-01-20T04:5\#
        7-05:00","glean_timestamp":"1768903031877"},"execution_counter":1}
        {"timestamp":9977,"category":"onboarding","name":"close_tap","extra":{"glean_timestamp":"1768903037752\#
        "},"execution_counter":1}

        """#

    /// The record made from ``eventsFile``, as a line of JSON.
    static let eventsRecord = #"""
        {"app":null,"client":null,"held":["pending-events"],"id":"04DEF526-FACD-51BC-BE17-B38BF9C6DC32","notes\#
        ":[],"payload":{"events":[{"category":"onboarding","extra":{"card_type":"welcome","glean_timestamp":"1\#
        768902731204"},"name":"card_view","timestamp":86911040},{"category":"glean","execution_counter":1,"ext\#
        ra":{"glean.startup.date":"2026-01-20T04:57-05:00","glean_timestamp":"1768903031877"},"name":"restarte\#
        d","timestamp":4102},{"category":"onboarding","execution_counter":1,"extra":{"glean_timestamp":"176890\#
        3037752"},"name":"close_tap","timestamp":9977}]},"source":{"capture":"worked-examples","index":0,"path\#
        ":"Library/Application Support/glean_data/events/onboarding","store":"glean-pending-events"},"system":\#
        "glean","target":null,"time":null,"type":"onboarding"}
        """#
}
