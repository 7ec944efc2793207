// swift-tools-version: 6.2
import PackageDescription

/// Fuzzers are declared only where the environment asks for them, because unsafe flags bar a package from being used
/// by others. The two sanitizers have to be named in one flag: of two flags, the last one counts alone.
let fuzzes = Context.environment["PINGFERRY_FUZZ"] != nil
let sanitizers = ["-sanitize=fuzzer,address"]

/// A newer compiler's warnings must not break a user's build, but they do break ours.
let strict: [SwiftSetting] =
    Context.environment["PINGFERRY_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

/// Every target of ours: functions may return spans.
let common: [SwiftSetting] =
    [.enableExperimentalFeature("Lifetimes")] + strict
    + (fuzzes ? [.unsafeFlags(sanitizers + ["-parse-as-library"])] : [])

/// The parsers and transforms, which read hostile bytes: no unsafe construct at all.
let pure: [SwiftSetting] = common + [.strictMemorySafety()]

let package = Package(
    name: "pingferry",
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        .target(name: "JSONText", swiftSettings: pure),
        .target(name: "CivilTime", swiftSettings: pure),
        .target(name: "PropertyList", dependencies: ["CivilTime", "JSONText"], swiftSettings: pure),
        .target(name: "CFiles"),
        .target(name: "Files", dependencies: ["CFiles"], swiftSettings: common),
        .target(name: "Parallel", swiftSettings: common),
        .target(
            name: "Telemetry",
            dependencies: [
                "CivilTime", "JSONText", "PropertyList", .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: pure),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .target(
            name: "Bundle",
            dependencies: [
                "CZstd", "Files", "JSONText", "Parallel", "Telemetry",
                .product(name: "Crypto", package: "swift-crypto"),
            ], swiftSettings: common),
        .systemLibrary(name: "CArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
        .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(name: "Database", dependencies: ["CSQLite", "Files"], swiftSettings: common),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(
            name: "Capture",
            dependencies: [
                "Bundle", "CArchive", "CZlib", "Database", "Files", "JSONText", "Parallel", "PropertyList", "Telemetry",
                .product(name: "Crypto", package: "swift-crypto"),
            ], swiftSettings: common),
        .target(name: "CThreads"),
        .target(
            name: "Console",
            dependencies: [
                "Bundle", "CThreads", "Files", "JSONText",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: common),
        .target(name: "Export", dependencies: ["CZstd", "Telemetry"], swiftSettings: common),
        .executableTarget(
            name: "pingferry",
            dependencies: [
                "Bundle", "Capture", "Console", "Export", "Files", "JSONText", "Parallel", "PropertyList", "Telemetry",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: common),
        .target(
            name: "Delivery",
            dependencies: [
                "Bundle", "CZlib", "Files", "JSONText", "Parallel", "Telemetry",
                .product(name: "Crypto", package: "swift-crypto"), .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ], swiftSettings: common),
        .executableTarget(
            name: "pingferry-upload",
            dependencies: [
                "Bundle", "CFiles", "Console", "Delivery", "Files", "JSONText", "Parallel", "Telemetry",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: common),
        .executableTarget(
            name: "loopback-server",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ], path: "Tests/LoopbackServer", swiftSettings: common),
        .executableTarget(
            name: "pingferry-bench", dependencies: ["JSONText", "Parallel", "PropertyList", "Telemetry"],
            path: "Tests/Bench",
            swiftSettings: common),
        .target(
            name: "TestSupport", dependencies: ["Bundle", "Files", "JSONText", "Parallel", "Telemetry"],
            path: "Tests/Support", swiftSettings: common),
        .testTarget(name: "JSONTextTests", dependencies: ["JSONText", "TestSupport"], swiftSettings: common),
        .testTarget(
            name: "PropertyListTests", dependencies: ["JSONText", "PropertyList", "TestSupport"], swiftSettings: common),
        .executableTarget(
            name: "interrupted", dependencies: ["Files"], path: "Tests/interrupted", swiftSettings: common),
        .testTarget(name: "FilesTests", dependencies: ["Files", "TestSupport", "interrupted"], swiftSettings: common),
        .testTarget(
            name: "BundleTests",
            dependencies: [
                "Bundle", "Files", "CZstd", "Parallel", "Telemetry", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
            ], swiftSettings: common),
        .testTarget(
            name: "TelemetryTests", dependencies: ["JSONText", "Telemetry", "TestSupport"], swiftSettings: common),
        .testTarget(
            name: "CaptureTests",
            dependencies: [
                "Bundle", "Capture", "Files", "JSONText", "Parallel", "Telemetry", "TestSupport", "pingferry",
            ],
            swiftSettings: common),
        .testTarget(
            name: "SendingTests",
            dependencies: [
                "Bundle", "Delivery", "Files", "JSONText", "Parallel", "Telemetry", "TestSupport", "loopback-server",
                "pingferry", "pingferry-upload",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
            ], swiftSettings: common),
        .testTarget(
            name: "CommandTests", dependencies: ["TestSupport", "pingferry", "pingferry-upload"], swiftSettings: common),
        .testTarget(
            name: "DeliveryTests",
            dependencies: [
                "Bundle", "Delivery", "Files", "JSONText", "Parallel", "Telemetry", "TestSupport", "pingferry-upload",
            ],
            swiftSettings: common),
    ],
    swiftLanguageModes: [.v6]
)

if fuzzes {
    let fuzzers: [(name: String, dependencies: [Target.Dependency])] = [
        ("FuzzJSON", ["JSONText"]),
        ("FuzzPingFile", ["JSONText", "Telemetry"]),
        ("FuzzPendingEvents", ["JSONText", "Telemetry"]),
        ("FuzzBundle", ["Bundle", "Telemetry"]),
        ("FuzzLeanplumRows", ["JSONText", "Telemetry"]),
        ("FuzzLeanplumDatabase", ["Database", "Files"]),
        ("FuzzArchive", ["Bundle", "Capture", "Files", "Parallel", "Telemetry"]),
        ("FuzzSiftStore", ["JSONText", "Telemetry"]),
        ("FuzzBinaryPropertyList", ["PropertyList"]),
        ("FuzzXMLPropertyList", ["PropertyList"]),
        ("FuzzKeyedArchive", ["JSONText", "PropertyList"]),
        ("FuzzHAR", ["Bundle", "Capture", "JSONText", "Telemetry"]),
        ("FuzzNDJSON", ["Bundle", "Capture", "JSONText", "Telemetry"]),
        ("FuzzServerAnswer", ["Delivery", "JSONText", "Telemetry"]),
        ("FuzzUploadSettings", ["Delivery", "JSONText"]),
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
