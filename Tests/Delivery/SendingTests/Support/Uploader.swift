import Foundation
import TestSupport
import Testing

/// A run of the program under test.
struct Uploader {
    let program: RunningProgram
    private let home: TemporaryFolder

    /// Time limits that even a busy machine does not exceed.
    private static let longTimeLimits = [
        "--connect-timeout": "600", "--read-timeout": "600", "--exchange-timeout": "3600",
    ]

    /// Starts the program with only the given environment.
    ///
    /// A job gets long time limits unless its arguments set them.
    init(_ arguments: [String], environment: [String: String] = [:], through wrapper: [String] = []) throws {
        home = try TemporaryFolder()
        let limits = arguments.first == "send" ? Self.longTimeLimits.filter { !arguments.contains($0.key) } : [:]
        let arguments = arguments.prefix(1) + limits.flatMap { [$0.key, $0.value] } + arguments.dropFirst()
        program = try RunningProgram(
            wrapper + [builtProgram("pingferry-upload")] + arguments,
            environment: ["HOME": home.path, "PATH": searchPath, "SWIFT_BACKTRACE": "enable=no"]
                .merging(environment) { $1 })
    }

    /// Waits for the end of the program.
    func finish() async throws -> FinishedProgram {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try program.finish() }) }
        }
    }
}

/// Runs the program to its end.
func upload(_ arguments: String..., environment: [String: String] = [:]) async throws -> FinishedProgram {
    try await Uploader(arguments, environment: environment).finish()
}

/// Returns the totals of a ledger.
func totals(of ledger: String) async throws -> [String: Any] {
    let finished = try await upload("status", "--json", "--ledger", ledger, "--timezone", noonTimezone)
    return try #require(finished.json()["totals"] as? [String: Any])
}

/// A time zone in which it is now about noon, so that no test runs across midnight.
let noonTimezone: String = {
    let hour = Int(Date().timeIntervalSince1970 / 3600) % 24
    let east = 12 - hour
    // The sign of these names is inverted: they count hours west of Greenwich.
    return east == 0 ? "UTC" : "Etc/GMT\(east > 0 ? "-" : "+")\(abs(east))"
}()
