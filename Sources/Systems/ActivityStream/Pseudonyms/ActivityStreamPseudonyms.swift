import Telemetry

/// What becomes of Activity Stream's pings when their records get pseudonyms.
///
/// `app_version`, `build`, `locale` and `event` are required: a word that the documents do not exclude takes the place of one
/// that may be anything. What the server adds in its own log is left out; among it is the address of the phone.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", sections 4 and 5.5.
enum ActivityStreamPseudonyms {
    static let format = PseudonymFormat(tables: [(["every topic"], ping)], path: nil)

    /// What a ping has, alone or in a batch.
    private static let payload: PseudonymTable = [
        "action_position": .keep(.number),
        "app_version": .keep(.version, else: .text("unknown")),
        "build": .keep(.version, else: .text("unknown")),
        "event": .keep(.word, else: .pseudonym(.event)),
        "locale": .keep(.locale, else: .text("??")),
        "page": .keep(.word),
        "release_channel": .keep(.word),
        "session_duration": .keep(.number),
        "share_provider": .keep(.beginning("com.apple.")),
        "source": .keep(.word),
    ]

    private static let ping: PseudonymTable =
        payload + [
            "batch-mode": .keep(.boolean),
            "client_id": .pseudonym(.client),
            "payloads": .list(.object(payload)),
            "topic": .keep(.word),
        ] + PseudonymTable(["action", "date", "ip", "timestamp", "ua"], .drop)
}
