import Telemetry

/// What becomes of Activity Stream's pings when their records get pseudonyms.
///
/// What the server adds in its own log is left out. The address of the phone is a part of it.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", sections 4 and 5.5.
enum ActivityStreamPseudonyms {
    static let format = PseudonymFormat(tables: [(["every topic"], ping)], path: nil)

    private static let payload = ActivityStreamForm.fields.pseudonyms

    private static let ping: PseudonymTable =
        payload + [
            "batch-mode": .keep(.boolean),
            "client_id": .pseudonym(.client),
            "payloads": .list(.object(payload)),
            "topic": .keep(.word),
        ] + PseudonymTable(["action", "date", "ip", "timestamp", "ua"], .drop)
}
