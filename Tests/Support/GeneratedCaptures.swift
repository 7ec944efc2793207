import Foundation
import Synchronization

private let root = "/tmp/pingferry-captures-\(UUID().uuidString)"

/// Captures that the generators write.
///
/// All tests of a process share the captures, which are removed at the end of the process. A test that changes a
/// capture must use a copy.
public enum GeneratedCaptures {
    private static let captures = Mutex<[[String]: GeneratedFolder]>([:])

    /// Returns the path of the folder that the generator `script` of `Tests/Fixtures` writes with `options`.
    public static func folder(_ script: String, _ options: [String] = []) throws -> String {
        try folder(writtenBy: [generator(script)] + options)
    }

    /// Returns the path of a capture with `pings` ping files, which takes the program some time to read.
    public static func load(pings: Int, containers: Int = 1) throws -> String {
        let script = "\(repository)/Tests/Load/make_load.py"
        return try folder(writtenBy: [script, "--containers", "\(containers)", "--pings", "\(pings)"])
    }

    private static func folder(writtenBy command: [String]) throws -> String {
        let folder = captures.withLock { captures in
            if captures.isEmpty { atexit { try? FileManager.default.removeItem(atPath: root) } }
            let known = captures[command] ?? GeneratedFolder(path: "\(root)/\(captures.count)/capture")
            captures[command] = known
            return known
        }
        return try folder.written(by: command)
    }
}

/// A folder that is written on first use.
///
/// Other tests that use it meanwhile wait.
private final class GeneratedFolder: Sendable {
    private let path: String
    private let result = Mutex<Result<Void, any Error>?>(nil)

    init(path: String) { self.path = path }

    func written(by command: [String]) throws -> String {
        let result = result.withLock { result in
            let known = result ?? Result { _ = try tool(["python3", command[0], path] + command[1...]) }
            result = known
            return known
        }
        try result.get()
        return path
    }
}
