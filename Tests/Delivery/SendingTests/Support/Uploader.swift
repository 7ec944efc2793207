import Foundation
import TestSupport
import Testing

/// A run of the program under test.
struct Uploader {
    let program: RunningProgram
    private let home: TemporaryFolder

    /// Limits that no busy machine exceeds.
    private static let patience = [
        "--connect-timeout": "600", "--read-timeout": "600", "--exchange-timeout": "3600",
    ]

    /// Starts it with nothing in its environment but what is given. A job that sends gets long time limits for those that are
    /// not in its arguments.
    init(_ arguments: [String], environment: [String: String] = [:], through wrapper: [String] = []) throws {
        home = try TemporaryFolder()
        let limits = arguments.first == "send" ? Self.patience.filter { !arguments.contains($0.key) } : [:]
        let arguments = arguments.prefix(1) + limits.flatMap { [$0.key, $0.value] } + arguments.dropFirst()
        program = try RunningProgram(
            wrapper + [builtProgram("pingferry-upload")] + arguments,
            environment: ["HOME": home.path, "PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"]
                .merging(environment) { $1 })
    }

    /// Waits for its end.
    func finish() async throws -> FinishedProgram {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try program.finish() }) }
        }
    }
}

/// Runs the program under test to its end.
func upload(_ arguments: String..., environment: [String: String] = [:]) async throws -> FinishedProgram {
    try await Uploader(arguments, environment: environment).finish()
}

/// Returns the totals of a ledger.
func totals(of ledger: String) async throws -> [String: Any] {
    let finished = try await upload("status", "--json", "--ledger", ledger, "--timezone", noonTimezone)
    return try #require(finished.json()["totals"] as? [String: Any])
}

/// A timezone in which it is around noon now, so that no midnight falls into a test.
let noonTimezone: String = {
    let hour = Int(Date().timeIntervalSince1970 / 3600) % 24
    let east = 12 - hour
    // In these names the sign says west.
    return east == 0 ? "UTC" : "Etc/GMT\(east > 0 ? "-" : "+")\(abs(east))"
}()
