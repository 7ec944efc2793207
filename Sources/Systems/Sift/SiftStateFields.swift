import JSONText
import Telemetry

/// The documented entries of app states and device properties.
///
/// The SDK does not check the entries, so payloads with other entries are valid, too. The rules for pseudonyms and the
/// columns of the tables of states and readings are derived from the declarations.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 5.
enum SiftStateFields {
    /// The entries of the state of an app.
    ///
    /// In pseudonymized records, locations and sensor readings are omitted, because they can identify a person or a
    /// device.
    static let appState: PayloadFields = [
        .string("application_state", .keep(.word), "whether the app was active, inactive or in the background"),
        .optional("battery_level", .number(.any), .keep(.number), "the charge of the battery, from 0 to 1"),
        .string("battery_state", .keep(.word), "whether the battery was charging, full or unplugged"),
        .string("device_orientation", .keep(.word), "the orientation of the device"),
        .optional("heading", .object(heading), .drop, "the direction of the device"),
        .optional("location", .object(location), .drop, "the location of the device"),
        .optional("motion", .list(.object(motion)), .drop, "the processed readings of the motion sensors"),
        networkAddresses,
        .flag("proximity_state", "whether something was close to the screen"),
        .optional("raw_accelerometer", .list(.object(accelerometer)), .drop, "the readings of the accelerometer"),
        .optional("raw_gyro", .list(.object(gyroscope)), .drop, "the readings of the gyroscope"),
        .optional("raw_magnetometer", .list(.object(magnetometer)), .drop, "the readings of the magnetometer"),
        sdkVersion,
        list(
            "window_root_view_controller_titles",
            "the class of the view controller that was shown; before version 0.9.5 of the SDK, the titles of the root view "
                + "controllers"),
    ]

    /// The members of a location [5.1.1].
    static let location: PayloadFields = [
        number("altitude", "the altitude of the device in meters"),
        number("course", "the direction of movement in degrees clockwise from true north"),
        .optional("floor", .integer(), .drop, "the floor of the building, 0 for the ground floor"),
        number("horizontal_accuracy", "the radius of uncertainty of the latitude and the longitude in meters"),
        number("latitude", "the latitude of the device in degrees, WGS 84"),
        number("longitude", "the longitude of the device in degrees, WGS 84"),
        number("speed", "the speed of the device in meters per second"),
        .optional("time", .integer(), .drop, "the time of the location"),
        number("vertical_accuracy", "the uncertainty of the altitude in meters"),
    ]

    /// The members of a heading [5.1.2].
    static let heading: PayloadFields =
        [
            number("accuracy", "the uncertainty of the magnetic heading in degrees"),
            number("magnetic_heading", "the heading relative to magnetic north in degrees"),
            .optional("time", .integer(), .drop, "the time of the heading"),
            number("true_heading", "the heading relative to true north in degrees"),
        ] + vector("raw_magnetic_field", "the magnetic field in µT, not corrected,")

    /// The keys of the lists of sensor readings in an app state, and the members of their readings [5.1.3 to 5.1.6].
    static let readings: [(key: JSONKey, fields: PayloadFields)] = [
        ("motion", motion), ("raw_accelerometer", accelerometer), ("raw_gyro", gyroscope),
        ("raw_magnetometer", magnetometer),
    ]

    /// The members of a reading that is processed from several sensors.
    static let motion: PayloadFields =
        [
            number("attitude_pitch", "the rotation around the lateral axis in radians"),
            number("attitude_roll", "the rotation around the longitudinal axis in radians"),
            number("attitude_yaw", "the rotation around the vertical axis in radians"),
            .string(
                "magnetic_field_calibration_accuracy", .drop, "the accuracy of the calibration of the magnetic field"),
            readingTime,
        ] + vector("gravity", "the gravity in g")
        + vector("magnetic_field", "the calibrated magnetic field in µT")
        + vector("rotation_rate", "the rotation rate in rad/s, without bias,")
        + vector("user_acceleration", "the acceleration in g, without gravity,")

    private static let accelerometer = [readingTime] + vector("acceleration", "the acceleration in g, with gravity,")
    private static let gyroscope = [readingTime] + vector("rotation_rate", "the rotation rate in rad/s")
    private static let magnetometer =
        [readingTime] + vector("magnetic_field", "the magnetic field in µT, not corrected,")

    private static let readingTime = PayloadField.optional("time", .integer(), .drop, "the time of the reading")

    // MARK: Device properties

    /// The properties of a device [5.3].
    ///
    /// In pseudonymized records, properties that all devices with the same model and system share are kept. The vendor's
    /// id of the device gets the same pseudonym as the installation id, because both are the same id. Properties that
    /// can identify a person or a device, such as names, addresses and file paths, are omitted.
    static let deviceProperties: PayloadFields = app + device + system + processor + evidence

    private static let app: PayloadFields = [
        .string("app_name", .keep(.name), "the name of the app"),
        .string("app_version", .keep(.version), "the build of the app"),
        .string("app_version_short", .keep(.version), "the version of the app"),
        sdkVersion,
    ]

    private static let device: PayloadFields = [
        .string("device_hardware_machine", .keep(.model), "the hardware model, such as `iPhone9,3`"),
        .string("device_hardware_model", .keep(.model), "the internal name of the hardware model"),
        .string("device_ifa", .drop, "the advertising id of the device"),
        .string("device_ifv", .pseudonym(.client), "the id of the device for the vendor of the app"),
        .string("device_localized_model", .keep(.model), "the name of the product family in the language of the user"),
        .string("device_model", .keep(.model), "the product family, such as `iPhone`"),
        .string("device_name", .drop, "the name that the user gave the device"),
        .integer("device_screen_height", "the height of the screen in pixels"),
        .integer("device_screen_width", "the width of the screen in pixels"),
        .string(
            "initial_device_ifv", .pseudonym(.client), "the first known id of the device for the vendor of the app"),
        .flag("is_simulator", "whether the device is a simulator"),
        .string("mobile_carrier_name", .drop, "the name of the mobile carrier"),
        .string("mobile_country_code", .keep(.decimal), "the mobile country code of the carrier"),
        .string("mobile_iso_country_code", .keep(.word), "the country of the carrier"),
        .string("mobile_network_code", .keep(.decimal), "the mobile network code of the carrier"),
        networkAddresses,
    ]

    private static let system: PayloadFields = [
        .optional("device_host_id", .integer(), .drop, "the host id of the system"),
        .string("device_host_name", .drop, "the host name of the system"),
        .string("device_kernel_boot_session_uuid", .drop, "the id of the current run of the system, a UUID"),
        .string("device_kernel_boot_signature", .drop, "the signature of the current run of the system"),
        .string("device_kernel_uuid", .drop, "the id of the kernel, a UUID"),
        .string("device_kernel_version", .drop, "the version of the kernel"),
        .integer("device_memory_size", "the size of the memory in bytes"),
        .string("device_os_release", .keep(.version), "the release of the kernel"),
        .integer("device_os_revision", "the revision of the kernel"),
        .string("device_os_type", .keep(.word), "the type of the kernel"),
        .integer("device_package_count", "the number of processor packages"),
        .integer("device_page_size", "the size of a memory page in bytes"),
        .string("device_posix1_version", .keep(.decimal), "the supported version of POSIX.1"),
        .string("device_posix2_version", .keep(.decimal), "the supported version of POSIX.2"),
        .string("device_system_name", .keep(.model), "the name of the operating system"),
        .string("device_system_version", .keep(.version), "the version of the operating system"),
        .integer("device_tb_frequency", "the frequency of the time base in Hz"),
    ]

    private static let processor: PayloadFields = [
        .integer("bus_frequency", "the frequency of the bus in Hz"),
        .integer("bus_frequency_max", "the maximum frequency of the bus in Hz"),
        .integer("bus_frequency_min", "the minimum frequency of the bus in Hz"),
        .integer("cache_l1_dcache_size", "the size of the level-1 data cache in bytes"),
        .integer("cache_l1_icache_size", "the size of the level-1 instruction cache in bytes"),
        .integer("cache_l2_cache_size", "the size of the level-2 cache in bytes"),
        .integer("cache_l3_cache_size", "the size of the level-3 cache in bytes"),
        .integer("cache_line_size", "the size of a cache line in bytes"),
        .flag("cpu_64bit_capable", "whether the processor supports 64-bit programs"),
        .integer("cpu_active_cpu_count", "the number of active processors"),
        .string("cpu_byte_order", .keep(.decimal), "the byte order of the processor, such as `1234`"),
        .integer("cpu_count", "the number of processors"),
        .integer("cpu_family", "the family of the processor, a number with 32 bits"),
        .integer("cpu_frequency", "the frequency of the processor in Hz"),
        .integer("cpu_frequency_max", "the maximum frequency of the processor in Hz"),
        .integer("cpu_frequency_min", "the minimum frequency of the processor in Hz"),
        .flag("cpu_has_fp", "whether the processor supports floating-point numbers"),
        .integer("cpu_logical_cpu_count", "the number of logical processors"),
        .integer("cpu_logical_cpu_max", "the maximum number of logical processors"),
        .integer("cpu_physical_cpu_count", "the number of physical processors"),
        .integer("cpu_physical_cpu_max", "the maximum number of physical processors"),
        .integer("cpu_subtype", "the subtype of the processor, a number with 32 bits"),
        .integer("cpu_type", "the type of the processor, a number with 32 bits"),
    ]

    /// The properties that suggest that the restrictions of the system were removed.
    private static let evidence: PayloadFields = [
        list("evidence_directories_symlinked", "the system folders that are symbolic links"),
        list("evidence_directories_writable", "the system folders that the app can write to"),
        list("evidence_dylds_present", "the loaded libraries that modify apps"),
        list("evidence_files_present", "the existing files that only modified systems have"),
        list(
            "evidence_syscalls_succeeded", "the forbidden system calls that succeeded", .list(.keep(.oneOf(["fork"])))),
        list(
            "evidence_url_schemes_openable", "the URL schemes of unofficial app stores that the device can open",
            .list(.keep(.oneOf(["cydia"])))),
    ]

    // MARK: Common forms

    private static let networkAddresses = list("network_addresses", "the IP addresses of the device")
    private static let sdkVersion = PayloadField.string("sdk_version", .keep(.version), "the version of the SDK")

    private static func number(_ key: JSONKey, _ meaning: String) -> PayloadField {
        .optional(key, .number(.any), .drop, meaning)
    }

    private static func list(_ key: JSONKey, _ meaning: String, _ pseudonym: PseudonymRule = .drop) -> PayloadField {
        .optional(key, .list(.string()), pseudonym, meaning)
    }

    private static func vector(_ key: String, _ meaning: String) -> PayloadFields {
        PayloadFields(["x", "y", "z"].map { number(JSONKey("\(key)_\($0)"), "\(meaning) along the \($0) axis") })
    }
}

// MARK: - Early versions

extension SiftStateFields {
    /// The rules for the device properties that the first SDK versions record, all of which are strings.
    ///
    /// They are the rules of the entries of ``deviceProperties`` that ``earlyNames`` lists. Other properties are dropped,
    /// including system controls with dotted names.
    ///
    /// Source: "Sift iOS SDK: on-disk store, list request", section 5.5.
    static let earlyDeviceProperties = PayloadFields(
        earlyNames.compactMap { name, column in
            deviceProperties.sorted.first { $0.key == JSONKey(column) }.map { field in
                // Integers are strings with a decimal number.
                guard case .integer = field.form else { return .string(JSONKey(name), field.pseudonym, field.meaning) }
                return .string(JSONKey(name), .keep(.decimal), field.meaning)
            }
        }
    ).pseudonyms

    /// The entries of ``deviceProperties`` that the first SDK versions record, by the names in these versions.
    static let earlyNames: KeyValuePairs<String, String> = [
        "apple_ifa": "device_ifa", "apple_ifv": "device_ifv", "carrier_name": "mobile_carrier_name",
        "iso_country_code": "mobile_iso_country_code", "localized_model": "device_localized_model",
        "mobile_country_code": "mobile_country_code", "mobile_network_code": "mobile_network_code",
        "model": "device_model", "name": "device_name", "screen_height": "device_screen_height",
        "screen_width": "device_screen_width", "system_name": "device_system_name",
        "system_version": "device_system_version",
    ]

    /// The system controls that early versions record under their own names, and the current names of the properties.
    ///
    /// For a week, the names had underscores in place of the dots.
    static let systemControls: KeyValuePairs<String, String> = [
        "hw.activecpu": "cpu_active_cpu_count", "hw.busfrequency": "bus_frequency",
        "hw.busfrequency_max": "bus_frequency_max", "hw.busfrequency_min": "bus_frequency_min",
        "hw.byteorder": "cpu_byte_order", "hw.cachelinesize": "cache_line_size",
        "hw.cpu64bit_capable": "cpu_64bit_capable", "hw.cpufamily": "cpu_family", "hw.cpufrequency": "cpu_frequency",
        "hw.cpufrequency_max": "cpu_frequency_max", "hw.cpufrequency_min": "cpu_frequency_min",
        "hw.cpusubtype": "cpu_subtype", "hw.cputype": "cpu_type", "hw.l1dcachesize": "cache_l1_dcache_size",
        "hw.l1icachesize": "cache_l1_icache_size", "hw.l2cachesize": "cache_l2_cache_size",
        "hw.l3cachesize": "cache_l3_cache_size", "hw.logicalcpu": "cpu_logical_cpu_count",
        "hw.logicalcpu_max": "cpu_logical_cpu_max", "hw.machine": "device_hardware_machine",
        "hw.memsize": "device_memory_size", "hw.model": "device_hardware_model", "hw.ncpu": "cpu_count",
        "hw.optional.floatingpoint": "cpu_has_fp", "hw.packages": "device_package_count",
        "hw.pagesize": "device_page_size", "hw.physicalcpu": "cpu_physical_cpu_count",
        "hw.physicalcpu_max": "cpu_physical_cpu_max", "hw.tbfrequency": "device_tb_frequency",
        "kern.bootsessionuuid": "device_kernel_boot_session_uuid", "kern.bootsignature": "device_kernel_boot_signature",
        "kern.hostid": "device_host_id", "kern.hostname": "device_host_name", "kern.osrelease": "device_os_release",
        "kern.osrevision": "device_os_revision", "kern.ostype": "device_os_type",
        "kern.posix1version": "device_posix1_version", "kern.uuid": "device_kernel_uuid",
        "kern.version": "device_kernel_version", "user.posix2_version": "device_posix2_version",
    ]

    /// The names of lists whose elements early versions record as separate entries, such as `suspicious_file.0`.
    static let earlyLists: KeyValuePairs<String, String> = [
        "suspicious_call": "evidence_syscalls_succeeded", "suspicious_dyld": "evidence_dylds_present",
        "suspicious_file": "evidence_files_present", "suspicious_permission": "evidence_directories_writable",
        "suspicious_symlink": "evidence_directories_symlinked",
        "suspicious_url_scheme": "evidence_url_schemes_openable",
    ]

    /// The names of members of a location or a heading in the fields of events of early versions, and their columns.
    ///
    /// Source: "Sift iOS SDK: on-disk store, list request", section 5.4.
    static let earlyLocation: KeyValuePairs<String, String> = [
        "device_heading_heading_accuracy": "heading_accuracy",
        "device_heading_magnetic_field_x": "raw_magnetic_field_x",
        "device_heading_magnetic_field_y": "raw_magnetic_field_y",
        "device_heading_magnetic_field_z": "raw_magnetic_field_z",
        "device_heading_magnetic_heading": "magnetic_heading",
        "device_heading_time": "heading_time_ms", "device_heading_true_heading": "true_heading",
        "device_location_altitude": "altitude", "device_location_course": "course", "device_location_floor": "floor",
        "device_location_horizontal_accuracy": "horizontal_accuracy", "device_location_lat": "latitude",
        "device_location_lng": "longitude", "device_location_speed": "speed",
        "device_location_time": "location_time_ms",
        "device_location_vertical_accuracy": "vertical_accuracy",
    ]
}
