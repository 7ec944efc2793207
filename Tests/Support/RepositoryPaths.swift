import Foundation

/// The path of the repository.
public let repository = URL(fileURLWithPath: #filePath + "/../../..").standardized.path

/// Returns the path of a sample.
public func sample(_ name: String) -> String { "\(repository)/samples/\(name)" }

/// Returns the path of a file or a script in `Tests/Fixtures`.
public func fixture(_ name: String) -> String { "\(repository)/Tests/Fixtures/\(name)" }

/// Returns the path of a program of this package, which is built in the folder of the tests.
public func builtProgram(_ name: String) -> String {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let folders = [own, CommandLine.arguments[0]].map { ($0 as NSString).deletingLastPathComponent }
    return folders.map { "\($0)/\(name)" }.first(where: FileManager.default.isExecutableFile) ?? name
}
