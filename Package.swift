// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours: Swift 6 mode, spans that functions may return, no warnings.
let common: [SwiftSetting] =
    [.enableExperimentalFeature("Lifetimes")]
    // A newer compiler's warnings must not break a user's build, but they do break ours.
    + (Context.environment["PINGFERRY_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)])

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
                "Bundle", "Files", "CZstd", .product(name: "Crypto", package: "swift-crypto"),
            ], swiftSettings: common),
    ],
    swiftLanguageModes: [.v6]
)
