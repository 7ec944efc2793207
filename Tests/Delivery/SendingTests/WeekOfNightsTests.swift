import Foundation
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests that the mails and the status commands of a week tell an operator everything that happened.
///
/// The expected texts are in `week-of-nights.txt`.
@Suite struct WeekOfNightsTests {
    private let folder: TemporaryFolder
    private let server: LoopbackServer
    private let key = "PINGFERRY_SIFT_KEY_acme"

    init() throws {
        folder = try TemporaryFolder()
        for name in ["spool", "done", "bin"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        }
        try FileManager.default.createSymbolicLink(
            atPath: folder("bin/pingferry-upload"), withDestinationPath: builtProgram("pingferry-upload"))
        server = try LoopbackServer()
    }

    /// Runs the line of the operator's crontab.
    ///
    /// The clock is stopped, so that the output is always the same.
    private func shell(_ line: String, at instant: String, key value: String = "good") throws -> FinishedProgram {
        try RunningProgram(
            ["env", "-C", folder("spool"), "sh", "-c", line],
            environment: [
                "HOME": folder.path, "XDG_STATE_HOME": folder("state"), "PATH": "\(folder("bin")):\(searchPath)",
                "TZ": "UTC", key: value,
            ].merging(clockVariables(instant)) { $1 }
        ).finish()
    }

    private func bundle(_ name: String, _ records: [Record]) async throws {
        _ = try await Sample.bundle(records, at: folder("spool/\(name).tar.zst"))
    }

    private static func pings(_ client: String, _ numbers: ClosedRange<Int>) -> [Record] {
        numbers.map { Sample.ping($0, client: client) }
    }

    /// Runs the job of a night and the commands of the next morning.
    private func night(_ day: Int, _ title: String, key: String = "good") throws -> String {
        let send = """
            pingferry-upload send --quiet --keep-going --attempts 1 --move-done ../done --metrics ../pingferry.prom \
            --endpoint mozilla=\(server.address) --endpoint sift=\(server.address) *.tar.zst
            """
        let job = try shell(send, at: "2026-06-0\(day) 02:30:00", key: key)
        let status = try shell("pingferry-upload status --quiet", at: "2026-06-0\(day) 08:00:00")
        let bundles = try shell(
            "ls | grep -q . && pingferry-upload status *.tar.zst", at: "2026-06-0\(day) 08:00:00")
        let metrics = try String(contentsOfFile: folder("pingferry.prom"), encoding: .utf8)
            .split(separator: "\n").filter { !$0.hasPrefix("#") }.joined(separator: "\n")
        let moved = try FileManager.default.contentsOfDirectory(atPath: folder("done")).sorted()
        return """
            # 2026-06-0\(day): \(title)
            exit status \(job.status)
            mail:
            \(job.text)\(job.errors)
            status --quiet:
            \(status.text)\(status.errors)
            status of the bundles in the spool (\(bundles.status)):
            \(bundles.text)\(bundles.errors)
            done: \(moved.joined(separator: " "))
            metrics:
            \(metrics)


            """.replacingOccurrences(of: server.address, with: "https://server")
                .replacingOccurrences(of: "127.0.0.1:\(server.port)", with: "server")
                .replacingOccurrences(of: folder.path, with: "HOME")
    }

    @Test func mailsAndStatusDescribeTheWholeWeek() async throws {
        var week = ""
        try await server.setRules()
        try await bundle("monday", Self.pings("A", 1...3) + [Sample.sift([#"{"time":1}"#], client: "S")])
        week += try night(1, "a bundle arrives and is delivered")

        try await bundle("tuesday", Self.pings("B", 11...13))
        try await server.setRules(#"[{"status":503,"text":"busy"}]"#)
        week += try night(2, "the server fails")

        try await bundle("wednesday", Self.pings("C", 21...22))
        let whole = try folder.data("spool/wednesday.tar.zst")
        try whole.prefix(300).write(to: URL(fileURLWithPath: folder("spool/wednesday.tar.zst")))
        try await server.setRules(#"[{"contains":"\"seq\":12","status":400,"text":"no such field"}]"#)
        week += try night(3, "the server is back and refuses one record; a bundle is still being copied")

        try whole.write(to: URL(fileURLWithPath: folder("spool/wednesday.tar.zst")))
        try await server.setRules()
        week += try night(4, "the copy is complete; the refusal is still reported")

        try await bundle("friday", [Sample.sift([#"{"time":2}"#], client: "S")])
        try await server.setRules(#"[{"path":"/v3","status":401}]"#)
        week += try night(5, "a key has expired", key: "expired")

        try await server.setRules()
        #expect(try shell("pingferry-upload retry --status 400", at: "2026-06-05 09:00:00").status == 0)
        week += try night(6, "the operator has set a new key and retried the refused record")

        try await bundle("sunday", Self.pings("D", 101...145))
        week += try night(7, "more records arrive than the limits allow for one night")

        let expected = try String(contentsOfFile: "\(repository)/Tests/Fixtures/week-of-nights.txt", encoding: .utf8)
        if week != expected {
            try week.write(toFile: "\(repository)/.build/week-of-nights.txt", atomically: true, encoding: .utf8)
        }
        #expect(week == expected, "the actual text is in .build/week-of-nights.txt")
    }
}
