// swift-tools-version: 6.2
import PackageDescription

/// Fuzzers are declared only where the environment asks for them: they are built with other flags. The two sanitizers have
/// to be named in one flag: of two flags, the last one counts alone. Fuzzers see what is internal, as tests do.
let fuzzes = Context.environment["PINGFERRY_FUZZ"] != nil
let sanitizers = ["-sanitize=fuzzer,address"]

/// A newer compiler's warnings must not break a user's build, but they do break ours.
let strict: [SwiftSetting] =
    Context.environment["PINGFERRY_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

/// Every target of ours: functions may return spans.
let common: [SwiftSetting] =
    [.enableExperimentalFeature("Lifetimes")] + strict
    + (fuzzes ? [.unsafeFlags(sanitizers + ["-parse-as-library", "-enable-testing"])] : [])

/// The parsers and transforms, which read hostile bytes: no unsafe construct but those that say so and why.
let pure: [SwiftSetting] = common + [.strictMemorySafety()]

/// What looks at each byte is optimized in a build for debugging too: tests of large files would take ten times as long.
let perByte: [SwiftSetting] = pure + [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// The commit that `--version` states, from the environment so that a build does not depend on git.
let commit = (Context.environment["PINGFERRY_COMMIT"] ?? "").filter { $0.isLetter || $0.isNumber || $0 == "-" }

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

/// A room of ours: a folder on a floor. Imports go down only; `.ci/floors` checks that.
func room(
    _ name: String, on floor: String, _ dependencies: [Target.Dependency] = [], _ settings: [SwiftSetting] = common,
    linking libraries: [String] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(floor)/\(name)", swiftSettings: settings,
        linkerSettings: libraries.map { .linkedLibrary($0) })
}

func systemLibrary(_ name: String, pkgConfig: String, apt package: String) -> Target {
    .systemLibrary(
        name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

let libraries: [Target] = [
    .target(name: "CFiles", path: "Sources/CLibraries/CFiles"),
    .target(name: "CProcesses", path: "Sources/CLibraries/CProcesses"),
    .target(name: "CThreads", path: "Sources/CLibraries/CThreads"),
    .target(
        name: "CVersion", path: "Sources/CLibraries/CVersion",
        cSettings: commit.isEmpty ? [] : [.define("PINGFERRY_COMMIT", to: "\"\(commit)\"")]),
    .target(name: "CSQLite", path: "Sources/CLibraries/CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
    systemLibrary("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
    systemLibrary("CArchive", pkgConfig: "libarchive", apt: "libarchive-dev"),
    systemLibrary("CNettle", pkgConfig: "nettle", apt: "nettle-dev"),
    systemLibrary("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),
    systemLibrary("CZstd", pkgConfig: "libzstd", apt: "libzstd-dev"),
]

let foundations: [Target] = [
    room("Bytes", on: "Foundations", [], perByte),
    room("CivilTime", on: "Foundations", [], pure),
    room("Files", on: "Foundations", ["Bytes", "CFiles"]),
    room("HTTP", on: "Foundations", ["CCurl", "Parallel"]),
    room("Hashing", on: "Foundations", ["Bytes", "CNettle"]),
    room("Parallel", on: "Foundations"),
    room("Processes", on: "Foundations", ["CProcesses"]),
    room("PrivateSQLite", on: "Foundations", ["CSQLite", "Files"]),
    room("Secrets", on: "Foundations", ["CNettle"]),
    room("SQLite", on: "Foundations", ["CSQLite"]),
]

let formats: [Target] = [
    room("DeviceBackup", on: "Formats", ["Bytes", "Hashing", "JSONText", "PropertyList", "Secrets"], pure),
    room("JSONText", on: "Formats", ["Bytes"], perByte),
    room("PropertyList", on: "Formats", ["Bytes", "CivilTime", "JSONText"], perByte),
    room("Tar", on: "Formats", ["Bytes"], perByte),
    room("Zip", on: "Formats", ["Bytes"], perByte),
]

let telemetry: [Target] = [
    .target(
        name: "Telemetry", dependencies: ["Bytes", "CivilTime", "Files", "Hashing", "JSONText"],
        path: "Sources/Telemetry",
        swiftSettings: pure)
]

/// Each system, without the registry.
let eachSystem: [Target] = [
    room("Glean", on: "Systems", ["Bytes", "Files", "JSONText", "Telemetry"], pure),
    room("Mozilla", on: "Systems", ["Bytes", "Files", "JSONText", "Parallel", "PropertyList", "Telemetry"], pure),
    room("Sift", on: "Systems", ["Bytes", "Files", "JSONText", "Parallel", "PropertyList", "Telemetry"], pure),
    room(
        "Leanplum", on: "Systems",
        ["Bytes", "Files", "Hashing", "JSONText", "PrivateSQLite", "PropertyList", "Telemetry"]),
    room("ActivityStream", on: "Systems", ["Bytes", "JSONText", "Telemetry"], pure),
]

let allSystems: [Target.Dependency] = eachSystem.map { .byName(name: $0.name) }

let systems = eachSystem + [room("Systems", on: "Systems", allSystems + ["Telemetry"], pure)]

let middle: [Target] = [
    .target(
        name: "Bundle",
        dependencies: ["Bytes", "CZstd", "Files", "Hashing", "JSONText", "Parallel", "Processes", "Tar", "Telemetry"],
        path: "Sources/Bundle", swiftSettings: common),
    .target(
        name: "Capture",
        dependencies: [
            "Bundle", "Bytes", "CArchive", "CZlib", "DeviceBackup", "Files", "Hashing", "JSONText", "Parallel",
            "PrivateSQLite", "PropertyList", "Secrets", "Systems", "Tar", "Telemetry", "Zip",
        ], path: "Sources/Capture", swiftSettings: common),
    .target(
        name: "Export",
        dependencies: [
            "Bundle", "Bytes", "CZstd", "CivilTime", "Files", "Hashing", "JSONText", "Parallel", "SQLite", "Telemetry",
        ], path: "Sources/Export", swiftSettings: common),
    .target(
        name: "Delivery",
        dependencies: [
            "Bundle", "Bytes", "CZlib", "Files", "HTTP", "Hashing", "JSONText", "Parallel", "SQLite", "Systems",
            "Telemetry",
        ], path: "Sources/Delivery", swiftSettings: common),
]

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies + [argumentParser], path: "Sources/Programs/\(name)",
        swiftSettings: common)
}

let programs: [Target] = [
    room(
        "Console", on: "Programs",
        ["Bundle", "Bytes", "CFiles", "CThreads", "CVersion", "Files", "JSONText", "Secrets", argumentParser]),
    program(
        "pingferry",
        [
            "Bundle", "Bytes", "Capture", "Console", "Export", "Files", "Hashing", "JSONText", "Parallel",
            "PropertyList", "Secrets", "Systems", "Telemetry",
        ]),
    program(
        "pingferry-upload",
        [
            "Bundle", "CFiles", "Console", "Delivery", "Files", "JSONText", "Parallel", "Systems", "Telemetry",
        ]),
]

/// Test modules are compiled as a whole. One job for each processor would take a quarter more processor time, because each job
/// reads all files of the module, and no other module waits for these. Debug information would take a tenth more: failed tests
/// state their positions without it.
let testSettings: [SwiftSetting] =
    common + [
        .unsafeFlags(
            ["-disable-batch-mode", "-whole-module-optimization", "-num-threads", "2", "-Xfrontend", "-gnone"],
            .when(configuration: .debug))
    ]

/// The tests of a room, in a folder like that of the room.
func tests(of room: String, on floor: String = "", _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "\(room)Tests", dependencies: dependencies + ["TestSupport"],
        path: floor.isEmpty ? "Tests/\(room)Tests" : "Tests/\(floor)/\(room)Tests", swiftSettings: testSettings)
}

/// What all tests of stores and records use.
let telemetryForTests: [Target.Dependency] = ["Files", "JSONText", "Parallel", "Systems", "Telemetry"]

let tests: [Target] = [
    .target(
        name: "TestSupport", dependencies: ["Bundle", "Hashing", "Leanplum", "Mozilla", "Sift"] + telemetryForTests,
        path: "Tests/Support",
        swiftSettings: common),
    .executableTarget(
        name: "interrupted", dependencies: ["Console", "Files"], path: "Tests/Programs/interrupted",
        swiftSettings: common),
    .executableTarget(
        name: "pingferry-bench",
        dependencies: ["JSONText", "Mozilla", "Parallel", "PropertyList", "Sift", "Telemetry"],
        path: "Tests/Bench/Sources", swiftSettings: common),
    tests(of: "Bytes", on: "Foundations", ["Bytes"]),
    tests(of: "CivilTime", on: "Foundations", ["CivilTime"]),
    tests(of: "Files", on: "Foundations", ["Files", "interrupted"]),
    tests(of: "HTTP", on: "Foundations", ["CCurl", "HTTP"]),
    tests(of: "Hashing", on: "Foundations", ["Hashing"]),
    tests(of: "Parallel", on: "Foundations", ["Parallel"]),
    tests(of: "Processes", on: "Foundations", ["Processes"]),
    tests(of: "SQLite", on: "Foundations", ["SQLite"]),
    tests(of: "Secrets", on: "Foundations", ["Secrets"]),
    tests(of: "DeviceBackup", on: "Formats", ["Bytes", "DeviceBackup", "Secrets"]),
    tests(of: "JSONText", on: "Formats", ["JSONText"]),
    tests(of: "PropertyList", on: "Formats", ["Bytes", "JSONText", "PropertyList"]),
    tests(of: "Tar", on: "Formats", ["Tar"]),
    tests(of: "Zip", on: "Formats", ["Zip"]),
    tests(of: "Telemetry", ["ActivityStream", "Bytes", "Leanplum", "Mozilla", "Sift"] + telemetryForTests),
    tests(of: "ActivityStream", on: "Systems", ["ActivityStream", "Capture"] + telemetryForTests),
    tests(of: "Glean", on: "Systems", ["Glean"] + telemetryForTests),
    tests(of: "Leanplum", on: "Systems", ["Leanplum", "PrivateSQLite", "PropertyList"] + telemetryForTests),
    tests(of: "Mozilla", on: "Systems", ["Mozilla"] + telemetryForTests),
    tests(of: "Sift", on: "Systems", ["PropertyList", "Sift"] + telemetryForTests),
    tests(of: "Systems", on: "Systems", allSystems + telemetryForTests),
    tests(of: "Bundle", ["Bundle", "CZstd", "Hashing", "Mozilla", "Processes"] + telemetryForTests),
    tests(
        of: "Capture",
        [
            "ActivityStream", "Bundle", "Capture", "DeviceBackup", "Glean", "Leanplum", "Mozilla", "Secrets", "Sift",
            "pingferry",
        ] + telemetryForTests),
    tests(
        of: "Delivery", on: "Delivery",
        ["Bundle", "Delivery", "Leanplum", "Mozilla", "Sift", "pingferry-upload"] + telemetryForTests),
    tests(
        of: "Sending", on: "Delivery",
        [
            "ActivityStream", "Bundle", "Delivery", "Glean", "HTTP", "Leanplum", "Mozilla", "Sift", "pingferry",
            "pingferry-upload",
        ] + telemetryForTests),
    tests(of: "Export", ["Export", "SQLite"] + telemetryForTests),
    tests(
        of: "Example",
        [
            "Bundle", "Bytes", "Capture", "CivilTime", "Delivery", "DeviceBackup", "Export", "HTTP", "Hashing",
            "Mozilla", "Processes", "PropertyList", "SQLite", "Sift",
        ] + telemetryForTests),
    tests(of: "Console", on: "Programs", ["Bytes", "Console", "interrupted"]),
    tests(of: "Command", on: "Programs", ["Capture", "pingferry", "pingferry-upload"] + telemetryForTests),
]

let package = Package(
    name: "pingferry",
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
    ],
    targets: libraries + foundations + formats + telemetry + systems + middle + programs + tests,
    swiftLanguageModes: [.v6]
)

if fuzzes {
    let fuzzers: [(name: String, dependencies: [Target.Dependency])] = [
        ("FuzzJSON", ["JSONText"]),
        ("FuzzPingFile", ["JSONText", "Mozilla", "Systems", "Telemetry"]),
        ("FuzzPendingEvents", ["JSONText", "Mozilla", "Systems", "Telemetry"]),
        ("FuzzGleanPing", ["Glean", "JSONText", "Systems", "Telemetry"]),
        ("FuzzGleanEvents", ["Glean", "JSONText", "Systems", "Telemetry"]),
        ("FuzzBundle", ["Bundle", "Files", "Systems", "Telemetry"]),
        ("FuzzCourierLists", ["Bundle", "Hashing", "Processes"]),
        ("FuzzLeanplumRows", ["JSONText", "Leanplum", "Systems", "Telemetry", "TestSupport"]),
        ("FuzzLeanplumDatabase", ["Files", "Leanplum", "PrivateSQLite"]),
        ("FuzzArchive", ["Bundle", "Capture", "Files", "Parallel", "Systems", "Telemetry", "TestSupport"]),
        ("FuzzKeybag", ["DeviceBackup", "Secrets"]),
        ("FuzzBackupRows", ["DeviceBackup"]),
        ("FuzzSiftStore", ["JSONText", "Sift", "Systems", "Telemetry"]),
        ("FuzzBinaryPropertyList", ["PropertyList"]),
        ("FuzzXMLPropertyList", ["PropertyList"]),
        ("FuzzKeyedArchive", ["JSONText", "PropertyList"]),
        ("FuzzHAR", ["Capture", "Files", "JSONText", "Systems", "Telemetry", "TestSupport"]),
        ("FuzzNDJSON", ["Capture", "Files", "Systems", "Telemetry", "TestSupport"]),
        ("FuzzPseudonyms", ["JSONText", "Systems", "Telemetry"]),
        (
            "FuzzServerAnswer",
            ["Delivery", "Glean", "JSONText", "Leanplum", "Mozilla", "ActivityStream", "Systems", "Telemetry"]
        ),
        ("FuzzUploadSettings", ["Delivery", "JSONText", "Sift", "Systems", "Telemetry"]),
    ]
    package.targets.append(.target(name: "FuzzerEntry", path: "Tests/Fuzz/Entry", swiftSettings: common))
    for fuzzer in fuzzers {
        let entry = ["\(fuzzer.name)_main", "main"].flatMap { ["-Xlinker", "--defsym=\($0)=fuzzer_entry"] }
        package.targets.append(
            .executableTarget(
                name: fuzzer.name, dependencies: fuzzer.dependencies + ["FuzzerEntry"],
                path: "Tests/Fuzz/\(fuzzer.name)", swiftSettings: common,
                linkerSettings: [.unsafeFlags(sanitizers + entry)]))
    }
}
