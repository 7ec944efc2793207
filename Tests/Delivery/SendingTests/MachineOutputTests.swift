import Foundation
import Telemetry
import TestSupport
import Testing

/// Tests the output for other programs, which is the log and the metrics file, and the handling of unknown commands.
@Suite struct MachineOutputTests {
    private let folder: TemporaryFolder
    private let server: LoopbackServer

    init() throws {
        folder = try TemporaryFolder()
        server = try LoopbackServer()
    }

    private func job(_ arguments: String...) async throws -> FinishedProgram {
        try await Uploader(
            [
                "send", "--ledger", folder("ledger.sqlite"), "--timezone", noonTimezone, "--endpoint",
                "mozilla=\(server.address)",
            ]
                + arguments
        ).finish()
    }

    private func bundle() async throws -> String {
        try await Sample.bundle((1...3).map { Sample.ping($0, client: "C") }, at: folder("b.tar.zst"))
    }

    @Test func jsonLogHasNoOtherLines() async throws {
        try await server.setRules(#"[{"contains":"\"seq\":1}","status":400,"text":"no"}]"#)
        let good = try await bundle()
        let bad = try folder.put("x", "bad.tar.zst")
        for arguments in [
            ["--log-json", "--keep-going", good, bad], ["--log-json", bad], ["--log-json", "--attempts", "99"],
        ] {
            let finished = try await Uploader(
                ["send", "--ledger", folder("ledger.sqlite"), "--endpoint", "mozilla=\(server.address)"] + arguments
            ).finish()
            #expect(finished.status != 0 && !finished.errorLines.isEmpty)
            for line in finished.errorLines {
                #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any], "\(line)")
            }
        }
    }

    @Test func metricsContainTheLedgerAndTheExitStatus() async throws {
        try await server.setRules(#"[{"contains":"\"seq\":1}","status":400,"text":"no"}]"#)
        let path = folder("pingferry.prom")
        #expect(try await job("--metrics", path, "--daily-limit", "2", try await bundle()).status == 1)
        let first = try String(contentsOfFile: path, encoding: .utf8)
        let samples = first.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(samples.contains(#"pingferry_delivered_records{system="mozilla"} 1"#))
        #expect(samples.contains(#"pingferry_refused_records{system="mozilla",status="400"} 1"#))
        #expect(samples.contains(#"pingferry_waiting_records{system="mozilla",reason="daily-limit"} 1"#))
        #expect(samples.contains("pingferry_last_exit_status 1"))
        #expect(!first.contains("pingferry_last_success_timestamp_seconds"))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o644)

        #expect(try await upload("retry", "--all", "--ledger", folder("ledger.sqlite")).status == 0)
        try await server.setRules()
        #expect(try await job("--metrics", path, folder("b.tar.zst")).status == 0)
        let second = try String(contentsOfFile: path, encoding: .utf8)
        #expect(second.contains("\npingferry_last_exit_status 0\n"))
        #expect(second.contains("\npingferry_last_success_timestamp_seconds 1"))

        // The metrics also report a job that cannot begin.
        #expect(try await job("--metrics", path, try folder.put("x", "bad.tar.zst")).status == 65)
        let third = try String(contentsOfFile: path, encoding: .utf8)
        #expect(
            third.contains("\npingferry_last_exit_status 65\n") && third.contains("\npingferry_unusable_bundles 1\n"))
        #expect(third.contains("\npingferry_last_success_timestamp_seconds 1"))
        #expect(folder.names.filter { $0.contains(".partial") } == [])
    }

    @Test(arguments: [
        ("pingferry-upload", "stauts", "status"), ("pingferry-upload", "relase", "release"),
        ("pingferry", "stauts", ""),
        ("pingferry", "bundel", "bundle"), ("pingferry", "verfy", "verify"),
    ])
    func misspelledCommandIsNotABundle(program: String, word: String, meant: String) throws {
        for words in [[word], ["help", word]] {
            let finished = try RunningProgram([builtProgram(program)] + words).finish()
            #expect(finished.status == 64)
            #expect(finished.errors.contains("\(word) is not a command."))
            #expect(finished.errors.contains(meant.isEmpty ? "The commands are scan, " : "Did you mean \(meant)?"))
        }
    }

    @Test func existingFileIsABundleRegardlessOfItsName() async throws {
        let path = try folder.put("x", "stauts")
        // The ledger of the user is not opened.
        let environment = ["-C", folder.path, "-u", "XDG_STATE_HOME", "HOME=\(folder.path)"]
        let finished = try RunningProgram(["env"] + environment + [builtProgram("pingferry-upload"), "stauts"]).finish()
        #expect(finished.status == 65, "\(path)")
    }
}
