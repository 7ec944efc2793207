import Telemetry

/// What becomes of Activity Stream's pings when their records get pseudonyms.
///
/// What the server adds in its own log is left out. The address of the phone is a part of it.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", sections 4 and 5.5.
struct ActivityStreamPseudonyms: PseudonymFormat {
    let tables: [(types: String, table: PseudonymTable)] = [("every topic", Self.ping)]

    func table(ofType type: String) -> PseudonymTable? { Self.ping }

    /// All pings go to one path, which names nobody.
    func path(of target: Target, _ pseudonym: (_ value: String, PseudonymClass) -> String) -> String? {
        target.path == ActivityStreamUploads.path ? target.path : nil
    }

    private static let payload = ActivityStreamForm.fields.pseudonyms

    private static let ping: PseudonymTable =
        payload + [
            "batch-mode": .keep(.boolean),
            "client_id": .pseudonym(.client),
            "payloads": .list(.object(payload)),
            "topic": .keep(.word),
        ] + PseudonymTable(["action", "date", "ip", "timestamp", "ua"], .drop)
}
