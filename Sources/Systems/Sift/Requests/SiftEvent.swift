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
            "device_properties", .map(.string()), .object(SiftPseudonyms.earlyDeviceProperties),
            "the properties of the device, as recorded by SDK versions before 2.0"),
        .optional("fields", .map(.string()), .drop, "strings that the app attached to the event"),
        .optional("installation_id", .string(), .pseudonym(.client), "the id of the installation"),
        .optional("ios_app_state", .map(.any), .object(SiftPseudonyms.appState), "the state of the app"),
        .optional(
            "ios_device_properties", .map(.any), .object(SiftPseudonyms.deviceProperties),
            "the properties of the device"),
        .optional("metrics", .map(.string()), .drop, "numbers that the app attached to the event, as strings"),
        .optional(
            "mobile_event_type", .string(),
            .keep(
                .oneOf([
                    "UIApplicationDidBecomeActiveNotification", "UIApplicationDidEnterBackgroundNotification",
                ]), else: .pseudonym(.event)), "the type of the event"),
        .optional("path", .string(), .drop, "the class of the view that was shown"),
        .required(
            "time", .number(millisecondsForm), .time(.milliseconds),
            "the time of the event in milliseconds since 1970"),
        .optional("user_id", .string(), .pseudonym(.user), "the id of the user"),
    ]

    private static let millisecondsForm = NumberForm("number of milliseconds") { text in
        JSONNumberText.integer(from: text).map { UInt64(String(decoding: $0, as: UTF8.self)) != nil } ?? false
    }
}
