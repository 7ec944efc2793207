import Telemetry

/// What becomes of Sift's list requests when their records get pseudonyms.
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

    private static let request: PseudonymTable = ["data": .list(.object(SiftEvent.fields.pseudonyms))]

    /// Where the phone was, how it was held and what its sensors felt is left out: places tell where somebody lives, readings
    /// can tell one phone from all others.
    static let appState: PseudonymTable =
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
