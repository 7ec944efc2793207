import CLibrary
import Foundation
import TestSupport
import Testing

/// Tests the options of a job that concern its pace, its time, its messages and its configuration file.
@Suite struct JobOptionTests {
    private let folder: TemporaryFolder
    private let server: LoopbackServer
    private let bundle: String
    private var ledger: String { folder("ledger.sqlite") }

    init() async throws {
        folder = try TemporaryFolder()
        server = try LoopbackServer()
        bundle = try await Sample.bundle(
            (1...3).map { Sample.ping($0, client: "C") }, at: folder("a.tar.zst"))
    }

    private var arguments: [String] {
        ["send", "--endpoint", server.address, "--ledger", ledger, "--timezone", noonTimezone, bundle]
    }

    private func job(_ more: String...) async throws -> FinishedProgram {
        try await Uploader(arguments + more).finish()
    }

    // MARK: Configuration

    @Test("A file contains options of jobs, which those of the command line replace")
    func configuration() async throws {
        let config = folder("job.conf")
        try folder.put(
            """
            # A job that is limited
            endpoint = \(server.address)
            ledger = \(ledger)
              timezone=\(noonTimezone)

            per-type-limit = 1\r
            quiet
            """, "job.conf")
        let first = try await upload("--config", config, bundle)
        #expect(first.status == 75)
        #expect(first.text == "3 records: delivered 1, per-type limit 2\n")
        let second = try await upload("send", "--config=\(config)", "--per-type-limit", "2", bundle)
        #expect(second.status == 0)
        #expect(second.text == "", "the option --quiet of the file applies")
        let status = try await upload("status", "--config", config)
        #expect(status.status == 0)
        #expect(status.text.hasPrefix("\(config): --endpoint=\(server.address)\n\(config): --ledger=\(ledger)\n"))
        #expect(status.text.contains("\(config): --quiet\n"))
        #expect(status.text.contains("\n3 delivered, "))
        #expect(try await upload("ledger", "check", "--config", config).text.contains(": intact: 3 delivered, "))
        // A file name that a shell expanded must not select another ledger, and no output replaces the file.
        #expect(try await upload("--config", config, "--ledger=\(folder("new"))", bundle).status == 64)
        #expect(try await upload("--config", config, "--config=x.tar.zst", bundle).status == 64)
        #expect(try await upload("--config", config, "--receipt", config, "--force", bundle).status == 73)
        #expect(try await upload("--config", config, "--log-file", config, bundle).status == 73)
        #expect(try await server.report().total == 3)
        #expect(!FileManager.default.fileExists(atPath: folder("new")))
    }

    @Test("The name of a command as a value does not change which options of a file apply")
    func commandName() async throws {
        let done = try folder.makeFolder("receipt")
        try folder.put("endpoint = \(server.address)\nledger = \(ledger)\n", "job.conf")
        #expect(try await upload("--config", folder("job.conf"), "--move-done", done, bundle).status == 0)
        #expect(try await server.report().total == 3)
    }

    @Test(
        "An option that jobs do not have, and a missing file, are errors", arguments: ["dry_run", "config = x", "-q"])
    func wrongConfiguration(line: String) async throws {
        try folder.put("quiet\n\(line)\n", "job.conf")
        let finished = try await job("--config", folder("job.conf"))
        #expect(finished.status == 78)
        #expect(finished.errors.contains("job.conf, line 2: send has no option --"))
        #expect(try await job("--config", folder("missing")).status == 66)
        #expect(try await server.report().total == 0)
    }

    @Test("An invalid value in a file is reported with its line, and one on the command line without")
    func invalidValue() async throws {
        let config = try folder.put("quiet\n\ndaily-limit = many\nattempts = 3\n", "job.conf")
        let finished = try await upload("--config", config, bundle)
        #expect(finished.status == 78)
        #expect(finished.errors.hasPrefix("pingferry-upload: \(config), line 3: The value 'many' is invalid for "))
        try folder.put("quiet\nattempts = 21\n", "job.conf")
        let outOfRange = try await upload("--config", config, bundle)
        #expect(outOfRange.status == 78)
        #expect(outOfRange.errors == "pingferry-upload: \(config), line 2: --attempts must be from 1 to 20\n")
        // The value on the command line replaces the one in the file.
        #expect(try await job("--config", config, "--attempts", "1").status == 0)
        let other = try await job("--config", config, "--attempts", "22")
        #expect(other.status == 64)
        #expect(!other.errors.contains("line 2"))
        // A fault of the command line is not one of the file.
        try folder.put("ledger = \(ledger)\n", "job.conf")
        let incomplete = try await upload("release", "--config", config, "7")
        #expect(incomplete.status == 64)
        #expect(!incomplete.errors.contains("line 1"))
    }

    @Test("Secrets of a file are not printed")
    func secretsInConfiguration() async throws {
        #expect(try await job().status == 0)
        let config = try folder.put(
            "ledger = \(ledger)\nproxy = http://u:secret@127.0.0.1:1\nping-url = http://127.0.0.1:1/secret\n",
            "job.conf")
        let status = try await upload("status", "--config", config)
        #expect(status.text.contains("\(config): --proxy=…\n\(config): --ping-url=…\n"))
        #expect(!status.text.contains("secret"))
    }

    // MARK: Time

    @Test("Outside of its window, a job sends nothing and leaves no ledger")
    func window() async throws {
        // In this time zone, it is about noon.
        let outside = try await job("--window", "22:00-06:00")
        #expect(outside.status == 75)
        #expect(outside.errors.contains("it is not the time of --window 22:00-06:00"))
        #expect(!FileManager.default.fileExists(atPath: ledger))
        #expect(try await server.report().total == 0)
        for invalid in ["22:00", "24:00-06:00", "6:00-22:00", "06:00-06:00", "06:00-"] {
            #expect(try await job("--window", invalid).status == 64)
        }
        #expect(try await job("--window", "06:00-22:00").status == 0)
    }

    @Test("The requests of a job are sent at the given pace")
    func pace() async throws {
        let start = ContinuousClock.now
        #expect(try await job("--requests-per-second", "4").status == 0)
        // The first request is sent at once, and each other one at least a quarter of a second after the one before.
        #expect(ContinuousClock.now - start >= .milliseconds(490))
        #expect(try await job("--requests-per-second", "0").status == 64)
    }

    @Test("A job that waits for its pace sends no request after it was stopped")
    func stoppedPace() async throws {
        let many = try await Sample.bundle(
            (1...9).map { Sample.ping($0, client: "client-\($0)") }, at: folder("many.tar.zst"))
        let job = try Uploader(arguments.dropLast() + [many, "--requests-per-second", "0.01"])
        while try await server.report().total == 0 { try await Task.sleep(for: .milliseconds(20)) }
        job.program.send(SIGTERM)
        #expect(try await job.finish().status == 75)
        #expect(try await server.report().total == 1)
    }

    // MARK: Messages

    @Test("Messages are appended to a log file, each with its time")
    func logFile() async throws {
        let log = folder("log")
        let finished = try await job("--log-file", log, "--progress-interval", "0m", "--quiet")
        #expect(finished.status == 0)
        #expect(finished.errors == "")
        let lines = try folder.text("log").split(separator: "\n").map(String.init)
        let texts =
            [": created a new ledger at \(ledger)"]
            + (1...3).map { ": sending: \($0) of 3 uploads (\($0 * 100 / 3) %)" }
        try #require(lines.count == texts.count, "\(lines)")
        for (line, text) in zip(lines, texts) {
            #expect(line.hasSuffix("Z pingferry-upload\(text)"))
            #expect(line.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z .*/) != nil)
        }
        let other = try folder.put("a key\n", "key")
        for file in [bundle, other, "/dev/full"] {
            #expect(try await job("--log-file", file).status == 73)
        }
        #expect(try folder.text("key") == "a key\n")
        #expect(try await job("--log-file", log, "--quiet").status == 0)
        // A plan changes nothing, so its messages are written to standard error.
        let plan = try await job("--log-file", folder("unused"), "--dry-run", folder("missing.tar.zst"))
        #expect(plan.status == 66)
        #expect(plan.errors.contains("missing.tar.zst"))
        #expect(!FileManager.default.fileExists(atPath: folder("unused")))
    }

    @Test(
        "On a full disk, messages are written to standard error, and the job sends its records",
        .enabled(if: SmallDisk.isSupported, "only root can mount a file system"))
    func fullDisk() async throws {
        let disk = try SmallDisk(kibibytes: 16)
        try tool("sh", "-c", "cat /dev/zero > \"$0\" || true", disk("filler"))
        let finished = try await job("--log-file", disk("log"), "--metrics", disk("metrics"), "--json")
        #expect(finished.status == 74)
        #expect(finished.errors.contains("created a new ledger at \(ledger)"))
        #expect(finished.errors.contains("cannot write \(disk("metrics")): No space left on device"))
        #expect((try finished.json()["records"] as? [String: Int]) == ["delivered": 3])
        #expect(try await server.report().total == 3)
        // The next job begins a new line, although its log ends within one.
        try FileManager.default.removeItem(atPath: disk("filler"))
        try "2026-11-27T02:30:00.000Z cut".write(toFile: disk("log"), atomically: false, encoding: .utf8)
        #expect(try await job("--log-file", disk("log"), folder("missing.tar.zst")).status == 66)
        let lines = try String(contentsOfFile: disk("log"), encoding: .utf8).split(separator: "\n")
        #expect(lines.first == "2026-11-27T02:30:00.000Z cut")
        #expect(lines.dropFirst().first?.contains("Z pingferry-upload: cannot open ") == true)
    }

    @Test("Lines in systemd's journal begin with their priority")
    func journal() async throws {
        let log = folder("journal")
        let script = "exec 2> '\(log)'; export JOURNAL_STREAM=$(stat -L -c %d:%i '\(log)'); exec \"$0\" \"$@\""
        let arguments = arguments.dropLast() + [folder("missing.tar.zst")]
        #expect(try await Uploader(Array(arguments), through: ["sh", "-c", script]).finish().status == 66)
        let lines = try folder.text("journal").split(separator: "\n").map(String.init)
        #expect(lines.first?.hasPrefix("<3>pingferry-upload: cannot open ") == true, "\(lines)")
        #expect(lines.last == "<3>pingferry-upload: nothing was sent")
    }

    @Test("SIGUSR1 reports the progress of a job, and does not end it")
    func progressRequest() async throws {
        let log = folder("log")
        let job = try Uploader(arguments + ["--requests-per-second", "0.001", "--log-file", log])
        while try await server.report().total == 0 { try await Task.sleep(for: .milliseconds(20)) }
        job.program.send(SIGUSR1)
        while try !folder.text("log").contains("sending: ") { try await Task.sleep(for: .milliseconds(20)) }
        job.program.send(SIGTERM)
        #expect(try await job.finish().status == 75)
        #expect(try folder.text("log").contains(/pingferry-upload: sending: [01] of 3 uploads/))
    }
}
