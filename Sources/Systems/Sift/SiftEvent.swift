import JSONText
import Telemetry

/// The fields of an event in a list request.
///
/// Pseudonymized records omit fields, metrics and paths, because apps can store any data in them.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 5, 6.1 and 8.1.
enum SiftEvent {
    static let fields: PayloadFields = [
        .optional(
            SiftRequestKeys.earlyDeviceProperties, .map(.string()), .object(SiftStateFields.earlyDeviceProperties),
            "the properties of the device, as recorded by SDK versions before 2.0"),
        .optional("fields", .map(.string()), .drop, "strings that the app attached to the event"),
        .string("installation_id", .pseudonym(.client), "the id of the installation"),
        .optional("ios_app_state", .map(.any), .object(SiftStateFields.appState.pseudonyms), "the state of the app"),
        .optional(
            "ios_device_properties", .map(.any), .object(SiftStateFields.deviceProperties.pseudonyms),
            "the properties of the device"),
        .optional("metrics", .map(.string()), .drop, "numbers that the app attached to the event, as strings"),
        .string(
            "mobile_event_type",
            .keep(
                .oneOf([
                    "UIApplicationDidBecomeActiveNotification", "UIApplicationDidEnterBackgroundNotification",
                ]), else: .pseudonym(.event)), "the type of the event"),
        .string("path", .drop, "the class of the view that was shown"),
        .required(
            "time", .number(millisecondsForm), .time(.milliseconds),
            "the time of the event in milliseconds since 1970"),
        .string("user_id", .pseudonym(.user), "the id of the user"),
    ]

    private static let millisecondsForm = NumberForm("number of milliseconds") { text in
        JSONNumberText.integer(from: text).map { UInt64(String(decoding: $0, as: UTF8.self)) != nil } ?? false
    }
}

/// The keys of the members of list requests that are read.
enum SiftRequestKeys {
    static let appState: JSONKey = "ios_app_state"
    static let data: JSONKey = "data"
    static let deviceProperties: JSONKey = "ios_device_properties"
    /// The device properties that the first SDK versions record.
    static let earlyDeviceProperties: JSONKey = "device_properties"
    static let installationID: JSONKey = "installation_id"
    static let type: JSONKey = "mobile_event_type"
}

extension JSONDocument {
    /// Returns the type of an event, or `nil` if it is unknown.
    ///
    /// The SDK stores app states and device properties without a type, and adds the type when it sends them.
    func siftEventType(of event: JSONNode) -> String? {
        if let type = text(SiftRequestKeys.type, in: event) { return type }
        let state = [SiftRequestKeys.appState, SiftRequestKeys.deviceProperties].first { key in
            value(of: key, in: event).map { kind(of: $0) != .null } ?? false
        }
        return state?.description
    }
}

// MARK: - Pseudonyms

/// The rules for replacing identifiers in list requests with pseudonyms.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 5 and 6.
enum SiftPseudonyms {
    static let format = PseudonymFormat([
        ([SiftRequest.type], ["data": .list(.object(SiftEvent.fields.pseudonyms))])
    ])
}
