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

/// The keys of the members of list requests that are read.
enum SiftRequestKeys {
    static let appState: JSONKey = "ios_app_state"
    static let data: JSONKey = "data"
    static let deviceProperties: JSONKey = "ios_device_properties"
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

extension SiftPseudonyms {
    /// The rules for the properties of a device.
    ///
    /// Properties that all devices with the same model and system share are kept. The vendor's device id gets the same
    /// pseudonym as the installation id, because both are the same id.
    ///
    /// Source: "Sift iOS SDK: on-disk store, list request", section 5.3.
    static let deviceProperties: PseudonymTable = keptProperties + idProperties + droppedProperties

    private static let idProperties = PseudonymTable(["device_ifv", "initial_device_ifv"], .pseudonym(.client))

    private static let keptProperties: PseudonymTable =
        [
            "app_name": .keep(.name),
            "app_version": .keep(.version),
            "app_version_short": .keep(.version),
            "cpu_64bit_capable": .keep(.boolean),
            "cpu_byte_order": .keep(.decimal),
            "cpu_has_fp": .keep(.boolean),
            "device_hardware_machine": .keep(.model),
            "device_hardware_model": .keep(.model),
            "device_kernel_version": .drop,
            "device_localized_model": .keep(.model),
            "device_model": .keep(.model),
            "device_os_release": .keep(.version),
            "device_os_type": .keep(.word),
            "device_posix1_version": .keep(.decimal),
            "device_posix2_version": .keep(.decimal),
            "device_system_name": .keep(.model),
            "device_system_version": .keep(.version),
            "evidence_syscalls_succeeded": .list(.keep(.oneOf(["fork"]))),
            "evidence_url_schemes_openable": .list(.keep(.oneOf(["cydia"]))),
            "is_simulator": .keep(.boolean),
            "mobile_country_code": .keep(.decimal),
            "mobile_iso_country_code": .keep(.word),
            "mobile_network_code": .keep(.decimal),
            "sdk_version": .keep(.version),
        ]
        + PseudonymTable(
            [
                "bus_frequency", "bus_frequency_max", "bus_frequency_min", "cache_l1_dcache_size",
                "cache_l1_icache_size", "cache_l2_cache_size", "cache_l3_cache_size", "cache_line_size",
                "cpu_active_cpu_count", "cpu_count", "cpu_family", "cpu_frequency", "cpu_frequency_max",
                "cpu_frequency_min", "cpu_logical_cpu_count", "cpu_logical_cpu_max", "cpu_physical_cpu_count",
                "cpu_physical_cpu_max", "cpu_subtype", "cpu_type", "device_memory_size", "device_os_revision",
                "device_package_count", "device_page_size", "device_screen_height", "device_screen_width",
                "device_tb_frequency",
            ], .keep(.number))

    /// The properties that can identify a person or a device, such as names, ids, addresses and file paths.
    private static let droppedProperties = PseudonymTable(
        [
            "device_host_id", "device_host_name", "device_ifa", "device_kernel_boot_session_uuid",
            "device_kernel_boot_signature", "device_kernel_uuid", "device_name", "evidence_directories_symlinked",
            "evidence_directories_writable", "evidence_dylds_present", "evidence_files_present", "mobile_carrier_name",
            "network_addresses",
        ], .drop)

    /// The rules for the device properties that the first SDK versions record, all of which are strings.
    ///
    /// Properties that are not listed are dropped, including system controls with dotted names.
    ///
    /// Source: "Sift iOS SDK: on-disk store, list request", section 5.5.
    static let earlyDeviceProperties: PseudonymTable = [
        "apple_ifa": .drop,
        "apple_ifv": .pseudonym(.client),
        "carrier_name": .drop,
        "iso_country_code": .keep(.word),
        "localized_model": .keep(.model),
        "mobile_country_code": .keep(.decimal),
        "mobile_network_code": .keep(.decimal),
        "model": .keep(.model),
        "name": .drop,
        "screen_height": .keep(.decimal),
        "screen_width": .keep(.decimal),
        "system_name": .keep(.model),
        "system_version": .keep(.version),
    ]
}
