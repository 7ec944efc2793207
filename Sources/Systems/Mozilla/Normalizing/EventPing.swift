import JSONText

/// The documented fields of an event ping, and how many events it holds.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 6.1, 6.3 and 9.
enum EventPing {
    /// Events that the SDK waits for before it builds a ping.
    static let fewestEvents = 3
    /// Events that make the SDK build a ping at once.
    static let mostEvents = 500

    private static let shared: [Field] = [
        .optional("arch", .string()),
        .required("clientId", .string(.uuid)),
        .required("created", .integer()),
        .optional("createdDate", .string(.containsDate)),
        .optional("createdTimestamp", .integer(isNatural: true)),
        .optional("device", .string()),
        .required("events", .events),
        .optional("experiments", .strings(nullable: false)),
        .required("locale", .string()),
        .required("os", .string()),
        .required("osversion", .string()),
        .optional("profileDate", .integer()),
        .optional("profileGroupId", .string(.uuid)),
        .required("seq", .integer(isNatural: true)),
        .required("settings", .strings(nullable: true)),
        .optional("tz", .integer()),
        .required("v", .version(1...Int.max)),
    ]

    static let focusFields = (shared + [.optional("processStartTimestamp", .integer())]).inCanonicalOrder
    static let mobileFields = (shared + [.required("processStartTimestamp", .integer())]).inCanonicalOrder
}
