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
    ],
    targets: [
        .target(name: "JSONText", swiftSettings: pure),
        .target(name: "CFiles"),
        .target(name: "Files", dependencies: ["CFiles"], swiftSettings: common),
        .target(name: "Parallel", swiftSettings: common),
        .target(
            name: "Telemetry", dependencies: ["JSONText", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: pure),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .target(
            name: "Bundle",
            dependencies: [
                "CZstd", "Files", "JSONText", "Parallel", "Telemetry",
                .product(name: "Crypto", package: "swift-crypto"),
            ], swiftSettings: common),
        .target(
            name: "Capture",
            dependencies: [
                "Bundle", "Files", "JSONText", "Parallel", "Telemetry",
                .product(name: "Crypto", package: "swift-crypto"),
            ], swiftSettings: common),
        .target(name: "Export", dependencies: ["CZstd", "Telemetry"], swiftSettings: common),
        .executableTarget(
            name: "pingferry",
            dependencies: [
                "Bundle", "Capture", "Export", "Files", "JSONText", "Parallel", "Telemetry",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: common),
        .executableTarget(
            name: "pingferry-bench", dependencies: ["JSONText"], path: "Tests/Bench", swiftSettings: common),
        .testTarget(name: "JSONTextTests", dependencies: ["JSONText"], swiftSettings: common),
        .executableTarget(
            name: "interrupted", dependencies: ["Files"], path: "Tests/interrupted", swiftSettings: common),
        .testTarget(name: "FilesTests", dependencies: ["Files", "interrupted"], swiftSettings: common),
        .testTarget(
            name: "BundleTests",
            dependencies: [
                "Bundle", "Files", "CZstd", "Parallel", "Telemetry", .product(name: "Crypto", package: "swift-crypto"),
            ], swiftSettings: common),
        .testTarget(
            name: "TelemetryTests", dependencies: ["JSONText", "Telemetry"], swiftSettings: common),
        .testTarget(
            name: "CaptureTests",
            dependencies: ["Bundle", "Capture", "Files", "JSONText", "Parallel", "Telemetry", "pingferry"],
            swiftSettings: common),
        .testTarget(name: "CommandTests", dependencies: ["pingferry"], swiftSettings: common),
    ],
    swiftLanguageModes: [.v6]
)

if fuzzes {
    let fuzzers: [(name: String, dependencies: [Target.Dependency])] = [
        ("FuzzJSON", ["JSONText"]),
        ("FuzzPingFile", ["JSONText", "Telemetry"]),
        ("FuzzPendingEvents", ["JSONText", "Telemetry"]),
        ("FuzzBundle", ["Bundle", "Telemetry"]),
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
