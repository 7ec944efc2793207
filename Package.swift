// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// Whether the fuzzers are built.
///
/// In a release build, all modules are instrumented, and internal declarations are accessible. In a debug build, only the fuzzers
/// themselves are instrumented, so that the modules of the tests can be used.
let fuzzes = Context.environment["PINGFERRY_FUZZ"] != nil
/// Whether the tests and their programs are not part of the package, so that `swift build` builds the two programs and nothing else.
///
/// Two commands with `--product` would build one program after the other, and plan the build twice.
let onlyPrograms = Context.environment["PINGFERRY_ONLY_PROGRAMS"] != nil
/// Both sanitizers in one flag, because a second flag would replace the first.
let sanitizers = ["-sanitize=fuzzer,address"]

/// Treats warnings as errors in checks of this project, but not in builds of users, who may have a newer compiler.
let strict: [SwiftSetting] =
    Context.environment["PINGFERRY_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

/// The settings of all targets, which allow functions to return spans.
///
/// Debug builds write an index for editors. They take longer if it includes the modules of the system. In release builds, functions are
/// inlined and specialized in other modules, so that they need no attributes for this.
let common: [SwiftSetting] =
    [
        .enableExperimentalFeature("Lifetimes"),
        .unsafeFlags(["-index-ignore-system-modules"], .when(configuration: .debug)),
        .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
    ] + strict
    + (fuzzes ? [.unsafeFlags(sanitizers + ["-enable-testing"], .when(configuration: .release))] : [])

/// The settings of parsers and transforms, which read hostile bytes: unsafe constructs must be marked as such.
let pure: [SwiftSetting] = common + [.strictMemorySafety()]

/// The settings of targets that process each byte.
///
/// They are also optimized in debug builds, because tests of large files would otherwise take ten times as long.
let perByte: [SwiftSetting] = pure + [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// Returns the definition of a string in C, whose value is read from the environment, or `nil` if it has no value.
///
/// The version and the commit are read from the environment, so that a build does not depend on git.
func definition(_ name: String, default value: String? = nil) -> CSetting? {
    let text = (Context.environment[name] ?? "").filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." }
    return (text.isEmpty ? value : text).map { .define(name, to: "\"\($0)\"") }
}

/// The facts that `--version` prints.
///
/// The default of the version is used until the first release is tagged.
let versionDefinitions = [
    definition("PINGFERRY_VERSION", default: "0.1.0"), definition("PINGFERRY_COMMIT"), definition("PINGFERRY_SWIFT"),
].compactMap { $0 }

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

/// Returns the target of a module.
///
/// `.ci/layers` checks its imports.
func module(
    _ name: String, in layer: String, _ dependencies: [Target.Dependency] = [], _ settings: [SwiftSetting] = common,
    linking libraries: [String] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(layer)/\(name)", swiftSettings: settings,
        linkerSettings: libraries.map { .linkedLibrary($0) })
}

func systemLibrary(_ name: String, pkgConfig: String, apt package: String, brew formula: String) -> Target {
    .systemLibrary(
        name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig,
        providers: [.apt([package]), .brew([formula])])
}

let libraries: [Target] = [
    .target(name: "CFiles", path: "Sources/CLibraries/CFiles"),
    .target(name: "CLibrary", path: "Sources/CLibraries/CLibrary"),
    .target(name: "CProcesses", path: "Sources/CLibraries/CProcesses"),
    .target(name: "CStartup", path: "Sources/CLibraries/CStartup"),
    .target(name: "CThreads", path: "Sources/CLibraries/CThreads"),
    .target(name: "Essentials", path: "Sources/CLibraries/Essentials"),
    .target(
        name: "CVersion", path: "Sources/CLibraries/CVersion",
        cSettings: versionDefinitions),
    .target(name: "CSQLite", path: "Sources/CLibraries/CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
    systemLibrary("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev", brew: "curl"),
    systemLibrary("CArchive", pkgConfig: "libarchive", apt: "libarchive-dev", brew: "libarchive"),
    systemLibrary("CNettle", pkgConfig: "nettle", apt: "nettle-dev", brew: "nettle"),
    systemLibrary("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev", brew: "zlib"),
    systemLibrary("CZstd", pkgConfig: "libzstd", apt: "libzstd-dev", brew: "zstd"),
]

let foundations: [Target] = [
    module("Bytes", in: "Foundations", ["CLibrary"], perByte),
    module("Files", in: "Foundations", ["Bytes", "CFiles", "CLibrary", "CProcesses"]),
    module("HTTP", in: "Foundations", ["Bytes", "CCurl", "CLibrary", "Files"]),
    module("Hashing", in: "Foundations", ["Bytes", "CLibrary", "CNettle", "Essentials"]),
    module("SQLite", in: "Foundations", ["CLibrary", "CSQLite", "Files"]),
]

let formats: [Target] = [
    module("DeviceBackup", in: "Formats", ["Bytes", "Hashing", "JSONText", "PropertyList"], pure),
    module("JSONText", in: "Formats", ["Bytes"], perByte),
    module("LiveTables", in: "Formats", ["Bytes", "JSONText"], pure),
    module("PropertyList", in: "Formats", ["Bytes", "JSONText"], perByte),
]

let telemetry: [Target] = [
    .target(
        name: "Telemetry", dependencies: ["Bytes", "CLibrary", "Files", "Hashing", "JSONText", "LiveTables"],
        path: "Sources/Telemetry",
        swiftSettings: pure)
]

/// Each system, without the registry.
let eachSystem: [Target] = [
    module("Glean", in: "Systems", ["Bytes", "Files", "JSONText", "Telemetry"], pure),
    module("Mozilla", in: "Systems", ["Bytes", "Files", "JSONText", "PropertyList", "Telemetry"], pure),
    module("Sift", in: "Systems", ["Bytes", "Files", "Hashing", "JSONText", "PropertyList", "Telemetry"], pure),
    module(
        "Leanplum", in: "Systems",
        ["Bytes", "Files", "Hashing", "JSONText", "PropertyList", "SQLite", "Telemetry"]),
    module("ActivityStream", in: "Systems", ["Bytes", "JSONText", "Telemetry"], pure),
    module("Adjust", in: "Systems", ["Bytes", "Files", "JSONText", "PropertyList", "Telemetry"], pure),
]

let allSystems: [Target.Dependency] = eachSystem.map { .byName(name: $0.name) }

let systems = eachSystem + [module("Systems", in: "Systems", allSystems + ["Telemetry"], pure)]

let middle: [Target] = [
    .target(
        name: "Bundle",
        dependencies: ["Bytes", "CLibrary", "CZstd", "Files", "Hashing", "JSONText", "Telemetry"],
        path: "Sources/Bundle", swiftSettings: common),
    .target(
        name: "Capture",
        dependencies: [
            "Bundle", "Bytes", "CArchive", "CLibrary", "CZlib", "CZstd", "DeviceBackup", "Files", "Hashing", "JSONText",
            "PropertyList", "SQLite", "Systems", "Telemetry",
        ], path: "Sources/Capture", swiftSettings: common),
    .target(
        name: "Export",
        dependencies: [
            "Bundle", "Bytes", "CLibrary", "CZstd", "Files", "Hashing", "JSONText", "LiveTables", "SQLite", "Telemetry",
        ], path: "Sources/Export", swiftSettings: common),
    .target(
        name: "Delivery",
        dependencies: [
            "Bundle", "Bytes", "CLibrary", "CZlib", "Essentials", "Files", "HTTP", "Hashing", "JSONText", "SQLite",
            "Systems", "Telemetry",
        ], path: "Sources/Delivery", swiftSettings: common),
]

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies + [argumentParser], path: "Sources/Programs/\(name)",
        swiftSettings: common)
}

let programs: [Target] = [
    module(
        "Console", in: "Programs",
        [
            "Bundle", "Bytes", "CFiles", "CLibrary", "CNettle", "CSQLite", "CStartup", "CThreads", "CVersion", "CZlib",
            "CZstd", "Essentials", "Files", "Hashing", "JSONText", "Telemetry", argumentParser,
        ]),
    program(
        "pingferry",
        [
            "Bundle", "Bytes", "CArchive", "CLibrary", "Capture", "Console", "Essentials", "Export", "Files", "Hashing",
            "JSONText",
            "PropertyList", "Systems", "Telemetry",
        ]),
    program(
        "pingferry-upload",
        [
            "Bundle", "Bytes", "CCurl", "CFiles", "CLibrary", "Console", "Delivery", "Essentials", "Files", "JSONText",
            "Systems", "Telemetry",
        ]),
]

/// The settings of test modules, which are compiled as a whole.
///
/// With one compilation per file, building them takes a quarter more processor time, because each job reads all files of the module,
/// and a separate job for the interface of the module takes a tenth. Debug information takes a tenth more and is not needed, because
/// failed tests report their positions without it.
let testSettings: [SwiftSetting] =
    common + [
        .unsafeFlags(
            [
                "-disable-batch-mode", "-whole-module-optimization", "-no-emit-module-separately-wmo",
                "-num-threads", "2", "-Xfrontend", "-gnone",
            ], .when(configuration: .debug))
    ]

/// Returns the test target of a module.
///
/// The folders of `Tests` mirror those of `Sources`.
func tests(of module: String, in layer: String = "", _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "\(module)Tests", dependencies: dependencies + ["TestSupport"],
        path: layer.isEmpty ? "Tests/\(module)Tests" : "Tests/\(layer)/\(module)Tests", swiftSettings: testSettings)
}

/// The dependencies of all tests of stores and records.
let telemetryForTests: [Target.Dependency] = ["Bytes", "Files", "JSONText", "Systems", "Telemetry"]

let tests: [Target] = [
    .target(
        name: "TestSupport",
        dependencies: ["Bundle", "Console", "Hashing", "Leanplum", "Mozilla", "Sift"] + telemetryForTests,
        path: "Tests/Support",
        swiftSettings: common),
    .executableTarget(
        name: "interrupted", dependencies: ["CLibrary", "Console", "Files"], path: "Tests/Programs/interrupted",
        swiftSettings: common),
    .executableTarget(
        name: "pingferry-bench",
        dependencies: ["Files", "JSONText", "Mozilla", "PropertyList", "Sift", "Telemetry"],
        path: "Tests/Bench/Sources", swiftSettings: common),
    tests(of: "Bytes", in: "Foundations", ["Bytes"]),
    tests(of: "Files", in: "Foundations", ["CLibrary", "Files", "interrupted"]),
    tests(of: "HTTP", in: "Foundations", ["CCurl", "CLibrary", "HTTP"]),
    tests(of: "Hashing", in: "Foundations", ["Hashing"]),
    tests(of: "SQLite", in: "Foundations", ["SQLite"]),
    tests(of: "DeviceBackup", in: "Formats", ["Bytes", "DeviceBackup", "Hashing"]),
    tests(of: "JSONText", in: "Formats", ["JSONText"]),
    tests(of: "PropertyList", in: "Formats", ["Bytes", "JSONText", "PropertyList"]),
    tests(of: "Telemetry", ["ActivityStream", "Hashing", "Leanplum", "Mozilla", "Sift"] + telemetryForTests),
    tests(of: "ActivityStream", in: "Systems", ["ActivityStream", "Capture"] + telemetryForTests),
    tests(of: "Adjust", in: "Systems", ["Adjust", "PropertyList"] + telemetryForTests),
    tests(of: "Glean", in: "Systems", ["Glean"] + telemetryForTests),
    tests(of: "Leanplum", in: "Systems", ["Leanplum", "PropertyList", "SQLite"] + telemetryForTests),
    tests(of: "Mozilla", in: "Systems", ["Mozilla"] + telemetryForTests),
    tests(of: "Sift", in: "Systems", ["PropertyList", "Sift"] + telemetryForTests),
    tests(of: "Systems", in: "Systems", allSystems + telemetryForTests),
    tests(of: "Bundle", ["Bundle", "CLibrary", "CZstd", "Hashing", "Mozilla"] + telemetryForTests),
    tests(
        of: "Capture",
        [
            "ActivityStream", "Bundle", "CLibrary", "Capture", "DeviceBackup", "Glean", "Hashing", "Leanplum",
            "Mozilla",
            "Sift", "pingferry",
        ] + telemetryForTests),
    tests(
        of: "Delivery", in: "Delivery",
        ["Bundle", "Delivery", "Hashing", "Leanplum", "Mozilla", "Sift", "pingferry-upload"] + telemetryForTests),
    tests(
        of: "Sending", in: "Delivery",
        [
            "ActivityStream", "Adjust", "Bundle", "CLibrary", "Delivery", "Glean", "HTTP", "Leanplum", "Mozilla",
            "Sift",
            "pingferry", "pingferry-upload",
        ] + telemetryForTests),
    tests(of: "Export", ["Bundle", "Export", "LiveTables", "Mozilla", "SQLite"] + telemetryForTests),
    tests(
        of: "Example",
        [
            "Bundle", "CLibrary", "Capture", "Delivery", "DeviceBackup", "Export", "HTTP", "Hashing", "Mozilla",
            "PropertyList", "SQLite", "Sift",
        ] + telemetryForTests),
    tests(of: "Console", in: "Programs", ["Bytes", "Console", "interrupted"]),
    tests(
        of: "Command", in: "Programs",
        ["Capture", "Hashing", "Mozilla", "pingferry", "pingferry-upload"] + telemetryForTests),
]

/// The folder of the argument parser in the source archive of a release.
///
/// If it exists, it is used instead of the repository, so that the archive is built without a network.
let includedParser = "Packages/swift-argument-parser"

let package = Package(
    name: "pingferry",
    platforms: [.macOS(.v26)],
    dependencies: [
        FileManager.default.fileExists(atPath: "\(Context.packageDirectory)/\(includedParser)")
            ? .package(path: includedParser)
            : .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
    ],
    targets: libraries + foundations + formats + telemetry + systems + middle + programs + (onlyPrograms ? [] : tests),
    swiftLanguageModes: [.v6]
)

if fuzzes {
    package.targets.append(
        .executableTarget(
            name: "fuzzers",
            dependencies: [
                "ActivityStream", "Adjust", "Bundle", "Bytes", "CLibrary", "Capture", "Delivery", "DeviceBackup",
                "Export",
                "Files", "Glean", "Hashing", "JSONText", "Leanplum", "LiveTables", "Mozilla", "PropertyList", "SQLite",
                "Sift", "Systems", "Telemetry", "TestSupport",
            ],
            path: "Tests/Fuzz", exclude: ["Corpus", "leak-suppressions.txt"],
            swiftSettings: common + [.unsafeFlags(["-sanitize=fuzzer"], .when(configuration: .debug))],
            linkerSettings: [
                .unsafeFlags(["-sanitize=fuzzer"], .when(configuration: .debug)),
                .unsafeFlags(sanitizers, .when(configuration: .release)),
            ]))
}
