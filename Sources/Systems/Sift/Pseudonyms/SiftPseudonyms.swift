import Telemetry

/// The rules for replacing identifiers in list requests with pseudonyms.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 5, 6 and 8.1.
enum SiftPseudonyms {
    static let format = PseudonymFormat(tables: [([SiftRequest.type], request)], path: path(of:_:))

    /// Returns the upload path with a pseudonym for the account id, or `nil` if the path is invalid.
    ///
    /// The account id is replaced because it identifies the maker of the app.
    private static func path(
        of target: Target, _ pseudonym: (_ value: String, PseudonymClass) -> String
    ) -> String? {
        SiftTarget.account(ofPath: target.path).flatMap { SiftTarget.path(account: pseudonym($0, .account)) }
    }

    private static let request: PseudonymTable = ["data": .list(.object(SiftEvent.fields.pseudonyms))]

    /// The rules for the state of an app, which drop locations and sensor readings that can identify a person or a
    /// device.
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
