import Telemetry

/// What becomes of Sift's list requests when their records get pseudonyms.
///
/// An event needs nothing but its time, so that all else can be left out.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 5, 6 and 8.1.
enum SiftPseudonyms {
    static let format = PseudonymFormat(tables: [([SiftRequest.type], request)], path: path(of:_:))

    /// The account is that of the app's maker, and is told apart from others.
    private static func path(
        of target: Target, _ pseudonym: (_ value: String, PseudonymClass) -> String
    ) -> String? {
        SiftTarget.account(ofPath: target.path).flatMap { SiftTarget.path(account: pseudonym($0, .account)) }
    }

    private static let request: PseudonymTable = ["data": .list(.object(event))]

    /// Apps may name their events as they like, and put anything into fields, metrics and paths.
    private static let event: PseudonymTable = [
        "device_properties": .object(firstProperties),
        "fields": .drop,
        "installation_id": .pseudonym(.client),
        "ios_app_state": .object(appState),
        "ios_device_properties": .object(deviceProperties),
        "metrics": .drop,
        "mobile_event_type": .keep(
            .oneOf([
                "UIApplicationDidBecomeActiveNotification", "UIApplicationDidEnterBackgroundNotification",
            ]), else: .pseudonym(.event)),
        "path": .drop,
        "time": .keep(.number),
        "user_id": .pseudonym(.user),
    ]

    /// Where the phone was, how it was held and what its sensors felt is left out: places tell where somebody lives, readings
    /// can tell one phone from all others.
    private static let appState: PseudonymTable =
        PseudonymTable(
            [
                "heading", "location", "motion", "network_addresses", "raw_accelerometer", "raw_gyro",
                "raw_magnetometer", "window_root_view_controller_titles",
            ], .drop)
        + [
            "application_state": .keep(.word),
            "battery_level": .keep(.number),
            "battery_state": .keep(.word),
            "device_orientation": .keep(.word),
            "proximity_state": .keep(.boolean),
            "sdk_version": .keep(.version),
        ]
}
