import Foundation

/// The repository.
public let repository = URL(fileURLWithPath: #filePath + "/../../..").standardized.path

/// A sample of the repository.
public func sample(_ name: String) -> String { "\(repository)/samples/\(name)" }

/// A generator of captures.
public func generator(_ name: String) -> String { "\(repository)/Tests/Fixtures/\(name)" }

/// A program of this package, which is built beside the tests.
public func builtProgram(_ name: String) -> String {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let folders = [own, CommandLine.arguments[0]].map { ($0 as NSString).deletingLastPathComponent }
    return folders.map { "\($0)/\(name)" }.first(where: FileManager.default.isExecutableFile) ?? name
}
