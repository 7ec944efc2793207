import Testing

@testable import Glean

@Suite struct SafeDatabaseTests {
    private static let client = "5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415"

    private static func number(_ value: Int, bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(value >> (8 * $0) & 0xFF) }
    }
    private static func text(_ bytes: [UInt8]) -> [UInt8] { number(bytes.count, bytes: 8) + bytes }
    private static func text(_ text: String) -> [UInt8] { Self.text(Array(text.utf8)) }
    private static func value(_ variant: Int, _ data: [UInt8]) -> [UInt8] {
        let rest = number(variant, bytes: 4) + data
        return [9] + number(rest.count, bytes: 8) + rest
    }
    private static func database(_ name: String, _ entries: [(String, [UInt8])]) -> [UInt8] {
        [1] + text(name) + number(0, bytes: 4) + number(entries.count, bytes: 8)
            + entries.flatMap { text($0.0) + text($0.1) }
    }

    private static let completeFile: [UInt8] =
        number(3, bytes: 8)
        + database("user", [("glean_client_info#client_id", value(9, text(client)))])
        + database(
            "ping",
            [
                ("metrics#a.b", value(1, [1, 0, 0, 0])), ("metrics#c.d/label", value(1, [1, 0, 0, 0])),
                ("metrics#c.e", value(7, text("x"))), ("baseline#glean.x", value(0, [1])),
                ("glean_internal_info#metrics#sequence", value(1, [7, 0, 0, 0])),
            ]) + database("app", [])

    @Test("The client id and the pending metrics are read")
    func contents() throws {
        let found = try #require(SafeDatabase(Self.completeFile))
        #expect(found.clientID == Self.client)
        #expect(found.metricCounts == ["metrics": 3, "baseline": 1])
        #expect(found.nextNumbers == ["metrics": 7])
        #expect(found.mayBeFromSDK)
    }

    @Test("A labeled metric counts once, regardless of its number of labels")
    func labels() throws {
        let keys = [
            "metrics#a.b/x", "metrics#c.d", "metrics#a.b/y", "metrics#a.b/", "metrics#a.b.c/x",
            "metrics#e.f\u{1E}key\u{1E}category", "metrics#e.f\u{1E}key\u{1E}other", "metrics#e.f\u{1E}a/b\u{1E}c",
            "other#a.b/x", "glean_internal_info#metrics#sequence/x",
        ]
        let bytes = Self.number(1, bytes: 8) + Self.database("ping", keys.map { ($0, Self.value(1, [1, 0, 0, 0])) })
        #expect(try #require(SafeDatabase(bytes)).metricCounts == ["metrics": 4, "other": 1])
    }

    @Test("A sequence number of another form is ignored")
    func otherNumbers() throws {
        let entries = [
            ("glean_internal_info#a#sequence", Self.value(6, [7, 0, 0, 0])),
            ("glean_internal_info#b#sequence", Self.value(1, [7, 0, 0])),
            ("glean_internal_info#c#sequence", Self.value(1, [0, 0, 0, 0x80])),
            ("glean_internal_info##sequence", Self.value(1, [7, 0, 0, 0])),
            ("other#d#sequence", Self.value(1, [7, 0, 0, 0])),
            ("glean_internal_info#e#sequence", Self.value(1, [0, 1, 0, 0])),
        ]
        let bytes = Self.number(1, bytes: 8) + Self.database("user", entries)
        #expect(try #require(SafeDatabase(bytes)).nextNumbers == ["e": 256])
    }

    @Test(
        "The SDK is recognized by the names of its databases",
        arguments: [
            (["experiments", "enrollments", "meta", "updates", "event_counts"], false), (["meta", "app"], true),
            (["users"], false), ([], true),
        ])
    func otherLibraries(names: [String], mayBeFromSDK: Bool) throws {
        let bytes = Self.number(names.count, bytes: 8) + names.flatMap { Self.database($0, [("key", [])]) }
        #expect(try #require(SafeDatabase(bytes)).mayBeFromSDK == mayBeFromSDK)
    }

    @Test("The client id is only read as a UUID in the user database")
    func misplacedClientID() throws {
        for (name, value) in [
            ("ping", Self.value(9, Self.text(Self.client))), ("user", Self.value(7, Self.text(Self.client))),
            ("user", Self.value(9, Self.text("no uuid"))), ("user", []),
        ] {
            let bytes = Self.number(1, bytes: 8) + Self.database(name, [("glean_client_info#client_id", value)])
            #expect(try #require(SafeDatabase(bytes)).clientID == nil)
        }
    }

    @Test("Truncated files and files with invalid lengths are rejected")
    func hostileFiles() {
        for end in Self.completeFile.indices { #expect(SafeDatabase(Array(Self.completeFile[..<end])) == nil) }
        #expect(SafeDatabase(Self.completeFile + [0]) == nil)
        #expect(SafeDatabase(Array(repeating: 0xFF, count: 9)) == nil)
        for index in Self.completeFile.indices {
            var changed = Self.completeFile
            changed[index] = 0xFF
            _ = SafeDatabase(changed)
        }
    }
}

@Suite struct GleanQueueTests {
    private static let cases: [(GleanQueue, String)] = [
        (GleanQueue(pingCount: 0, byteCount: 0, deletionRequestCount: 0, sdkVersion: nil), "no pings pending"),
        (
            GleanQueue(pingCount: 0, byteCount: 0, deletionRequestCount: 1, sdkVersion: nil),
            "no pings pending, but 1 deletion request"
        ),
        (
            GleanQueue(pingCount: 1, byteCount: 700, deletionRequestCount: 2, sdkVersion: "31.2.0"),
            "ready for upload: 1 ping of 700 bytes, after 2 deletion requests; SDK 31.2.0 keeps any number"
        ),
        (
            GleanQueue(pingCount: 9, byteCount: 700, deletionRequestCount: 0, sdkVersion: "32.3.0"),
            "ready for upload: 9 pings of 700 bytes; SDK 32.3.0 keeps no more than 10 MB"
        ),
        (
            GleanQueue(pingCount: 250, byteCount: 700, deletionRequestCount: 0, sdkVersion: "66.3.0"),
            "ready for upload: 250 pings of 700 bytes; SDK 66.3.0 keeps no more than 250 pings and 10 MB"
        ),
        (
            GleanQueue(pingCount: 251, byteCount: 700, deletionRequestCount: 0, sdkVersion: "67.3.9"),
            """
            ready for upload: 251 pings of 700 bytes; SDK 67.3.9 deletes the oldest at its next start, because it keeps no \
            more than 250 pings and 10 MB
            """
        ),
        (
            GleanQueue(pingCount: 501, byteCount: nil, deletionRequestCount: 0, sdkVersion: "67.4"),
            """
            ready for upload: 501 pings; SDK 67.4 deletes the oldest at its next start, because it keeps no more than 500 \
            pings and 50 MB
            """
        ),
        (
            GleanQueue(pingCount: 2, byteCount: 10_000_001, deletionRequestCount: 0, sdkVersion: "60.0.1"),
            """
            ready for upload: 2 pings of 10000001 bytes; SDK 60.0.1 deletes the oldest at its next start, because it keeps \
            no more than 250 pings and 10 MB
            """
        ),
        (
            GleanQueue(pingCount: 2, byteCount: 1, deletionRequestCount: 0, sdkVersion: "strange"),
            "ready for upload: 2 pings of 1 byte"
        ),
    ]

    @Test("The state of a queue is described in words", arguments: cases)
    func sentences(queue: GleanQueue, sentence: String) {
        #expect(queue.sentence(at: 0) == sentence)
    }

    @Test(
        "The state of a queue has a code",
        arguments: [
            (GleanQueue(pingCount: 0, byteCount: 0, deletionRequestCount: 0, sdkVersion: "66.3.0"), "empty empty"),
            (
                GleanQueue(pingCount: 0, byteCount: 0, deletionRequestCount: 1, sdkVersion: nil),
                "ready deletion-requests"
            ),
            (GleanQueue(pingCount: 1, byteCount: 700, deletionRequestCount: 2, sdkVersion: nil), "ready pings"),
            (
                GleanQueue(pingCount: 250, byteCount: 10_000_000, deletionRequestCount: 0, sdkVersion: "66.3.0"),
                "ready pings"
            ),
            (
                GleanQueue(pingCount: 251, byteCount: 700, deletionRequestCount: 0, sdkVersion: "66.3.0"),
                "ready over-full"
            ),
            (
                GleanQueue(pingCount: 1, byteCount: 10_000_001, deletionRequestCount: 0, sdkVersion: "66.3.0"),
                "ready over-full"
            ),
        ])
    func states(queue: GleanQueue, words: String) {
        let state = queue.state(at: 0)
        #expect("\(state.readiness.rawValue) \(state.code)" == words)
    }
}
