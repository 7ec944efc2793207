import Foundation
import Telemetry
import TestSupport
import Testing

/// Tests how jobs and the command `status` report servers that fail, and records that are not sent.
@Suite struct OutageTests {
    private let folder: TemporaryFolder
    private let server: LoopbackServer
    private var common: [String] { ["--ledger", folder("ledger.sqlite"), "--timezone", noonTimezone] }
    private var metrics: String { folder("metrics") }

    init() throws {
        folder = try TemporaryFolder()
        server = try LoopbackServer()
    }

    private func run(_ arguments: String...) async throws -> FinishedProgram {
        try await Uploader(arguments + common).finish()
    }

    /// Returns the arguments of a job in which each upload has one attempt.
    private func arguments(_ more: [String]) -> [String] {
        ["send", "--endpoint", server.address, "--attempts", "1"] + more + common
    }

    private func job(_ more: String...) async throws -> FinishedProgram {
        try await Uploader(arguments(more)).finish()
    }

    private func bundle(_ name: String, _ records: [Record]) async throws -> String {
        try await Sample.bundle(records, at: folder("\(name).tar.zst"))
    }

    /// Returns the lines of the metrics file, without comments.
    private func samples() throws -> [String] {
        try folder.text("metrics").split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
    }

    /// Returns the number of planned uploads that were not delivered for a cause, as a line of the metrics file.
    private static func undelivered(_ cause: String, _ uploads: Int) -> String {
        #"pingferry_undelivered_uploads{system="mozilla",cause="\#(cause)"} \#(uploads)"#
    }

    /// Returns the numbers of the pings that the server accepted.
    private func accepted() async throws -> [Int] {
        let receipts = try await server.report().receipts?.filter { $0.accepted > 0 } ?? []
        return receipts.compactMap { receipt in
            receipt.path.split(separator: "/").dropFirst(2).first.flatMap { Int($0.suffix(12), radix: 16) }
        }.sorted()
    }

    // MARK: Outages

    @Test(
        "A job that delivers nothing ends with 69, however its server fails",
        arguments: [
            (#""status":500"#, "status-500"), (#""status":503"#, "status-503"), (#""status":429"#, "status-429"),
            (#""status":302,"headers":{"Location":"http://127.0.0.1:1/"}"#, "status-302"),
            (#""cut":"after""#, "perhaps-delivered"), ("", "no-answer"),
        ])
    func outage(answer: String, cause: String) async throws {
        try await server.setRules(answer.isEmpty ? "[]" : "[{\(answer)}]")
        let records = (1...2).map { Sample.ping($0, client: "C") }
        let path = try await bundle("a", records)
        // A server that has ended refuses connections.
        if answer.isEmpty { server.stop() }
        let finished = try await job("--quiet", "--metrics", metrics, path)
        #expect(finished.status == 69)
        #expect(finished.lines.count == 1 && finished.text.hasPrefix("2 records: left 2; mozilla: "))
        let samples = try samples()
        #expect(samples.contains("pingferry_last_exit_status 69"))
        #expect(samples.contains(Self.undelivered(cause, 1)), "\(samples)")
        #expect(samples.contains(Self.undelivered("earlier-upload-failed", 1)), "\(samples)")
        let oldest = try #require(records[0].time).milliseconds / 1000
        #expect(samples.contains(#"pingferry_oldest_waiting_timestamp_seconds{system="mozilla"} \#(oldest)"#))
        #expect(!samples.contains { $0.hasPrefix("pingferry_last_success_timestamp_seconds") })
    }

    @Test("An outage lasts until the pause of the server ends, unless something else is delivered")
    func pause() async throws {
        try await server.setRules(#"[{"status":429,"headers":{"Retry-After":"3600"}}]"#)
        let path = try await bundle("a", [Sample.ping(1, client: "C"), Sample.activityStream(1)])
        #expect(try await job(path).status == 69)
        try await server.setRules()
        let total = try await server.report().total
        let paused = try await job("--quiet", "--metrics", metrics, path)
        #expect(paused.status == 69)
        #expect(paused.text.hasPrefix("2 records: server asked to wait 2; \(server.address) asked to be left alone "))
        #expect(try samples().contains("pingferry_last_exit_status 69"))
        // Another server accepts the record of one system.
        let other = try LoopbackServer()
        let partial = try await job("--endpoint", "activity-stream=\(other.address)", path)
        #expect(partial.status == 75)
        #expect(partial.text.hasPrefix("2 records: delivered 1, server asked to wait 1; "))
        #expect(try await job(path).status == 69)
        #expect(try await run("forget", server.address).status == 0)
        #expect(try await server.report().total == total)
        #expect(try await job(path).status == 0)
    }

    @Test("The summary and the metrics distinguish uploads that failed from those that were not tried")
    func causes() async throws {
        try await server.setRules(#"[{"status":503,"text":"busy"}]"#)
        let records = (0..<9).flatMap { client in
            (1...2).map { Sample.ping(client * 10 + $0, client: "client-\(client)") }
        }
        let finished = try await job("--connections", "1", "--metrics", metrics, try await bundle("a", records))
        #expect(finished.status == 69)
        let busy = "503 the server is busy or failing: busy"
        // The server is left alone after five failures.
        #expect(
            finished.text == "18 records: left 18; mozilla: \(busy) (5 uploads); "
                + "mozilla: an earlier upload of the client failed (5 uploads); "
                + "mozilla: not tried after \(busy) (8 uploads)\n")
        let samples = try samples()
        for (cause, uploads) in [("status-503", 5), ("earlier-upload-failed", 5), ("server-left-alone", 8)] {
            #expect(samples.contains(Self.undelivered(cause, uploads)), "\(samples)")
        }
        let one = try await job(try await bundle("one", [records[0]]))
        #expect(one.text == "1 record: left 1; mozilla: \(busy) (1 upload)\n")
    }

    @Test("A job that is stopped before it sends anything is no outage")
    func stoppedJob() async throws {
        try await server.setRules(#"[{"hold":true}]"#)
        let path = try await bundle("a", (1...2).map { Sample.ping($0, client: "C") })
        let finished = try await job("--max-duration", "0m", "--metrics", metrics, path)
        #expect(finished.status == 75)
        #expect(finished.text.contains("mozilla: the job was stopped by a signal or after --max-duration ("))
        #expect(try samples().contains("pingferry_last_exit_status 75"))
        try await server.configure(#"{"rules":[],"release":true}"#)
        #expect(try await job(path).text == "2 records: delivered 2; nothing is left\n")
    }

    @Test("Metrics state that a job runs, and a second job leaves them unchanged")
    func metricsOfARunningJob() async throws {
        let first = try await bundle("a", [Sample.ping(1, client: "C")])
        #expect(try await job("--metrics", metrics, first).status == 0)
        try await server.setRules(#"[{"hold":true}]"#)
        let path = try await bundle("b", [Sample.ping(2, client: "C")])
        let time = Int(Date().timeIntervalSince1970)
        let uploader = try Uploader(arguments(["--metrics", metrics, path]))
        while try await server.report().total < 2 { try await Task.sleep(for: .milliseconds(20)) }
        let running = try samples()
        #expect(running.contains("pingferry_job_running 1"))
        let start = running.first { $0.hasPrefix("pingferry_job_start_timestamp_seconds ") }
        let seconds = try #require(start?.split(separator: " ").last.flatMap { Int($0) })
        #expect((time...Int(Date().timeIntervalSince1970)).contains(seconds))
        // The end is that of the job before.
        #expect(running.contains("pingferry_last_exit_status 0"))
        #expect(!running.contains { $0.hasPrefix("pingferry_unusable_bundles") })

        let before = try folder.data("metrics")
        let second = try await job("--metrics", metrics, path)
        #expect(second.status == 75)
        #expect(second.errors.contains("in use by process \(uploader.program.identifier)"))
        #expect(try folder.data("metrics") == before)
        uploader.program.send(SIGKILL)
        _ = try await uploader.finish()
        #expect(try folder.data("metrics") == before)
        try await server.configure(#"{"rules":[],"release":true}"#)
        #expect(try await job("--metrics", metrics, path).status == 0)
        #expect(try samples().contains("pingferry_job_running 0"))
    }

    // MARK: Records that are set aside

    /// The rule for a record that the server cannot process.
    private static let poison = #"[{"contains":"\"seq\":1}","status":500,"text":"boom"}]"#
    private static let answer = "500 the server is busy or failing: boom"
    private static let setAside = "; 1 record stays set aside until retry or forget: \(answer) (1)\n"
    private static let id = Sample.ping(1, client: "").id

    /// Runs a job that sends one record of each client.
    private func night(_ more: String...) async throws -> FinishedProgram {
        try await Uploader(arguments(["--per-type-limit", "1", "--daily-limit", "unlimited"] + more)).finish()
    }

    @Test("A record that alone fails in three jobs is set aside, so that its client goes on")
    func poisonRecord() async throws {
        try await server.setRules(Self.poison)
        let records = [1, 2, 3].map { Sample.ping($0, client: "A") } + (11...18).map { Sample.ping($0, client: "B") }
        let path = try await bundle("a", records)
        for number in 1...3 {
            let finished = try await night("--metrics", metrics, path)
            #expect(finished.status == (number < 3 ? 75 : 1))
            #expect(finished.text.contains("; mozilla: \(Self.answer) (1 upload)"), "\(finished.text)")
            #expect(finished.text.hasSuffix(Self.setAside) == (number == 3), "\(finished.text)")
            #expect(try samples().contains(#"pingferry_set_aside{system="mozilla"} 1"#) == (number == 3))
            let status = try await run("status", "--ids", path)
            #expect(status.status == (number < 3 ? 75 : 1))
            let reason = number < 3 ? "not sent" : "set aside"
            #expect(status.unwrapped.contains("\(Self.id) mozilla core, client A, "))
            #expect(status.unwrapped.contains(": \(reason); last answer: \(Self.answer), 20"), "\(status.text)")
        }
        #expect(try await accepted() == [11, 12, 13])

        let next = try await night("--quiet", path)
        #expect(next.status == 1)
        #expect(
            next.text == "11 records: delivered 2, delivered before 3, per-type limit 5, set aside 1\(Self.setAside)")
        #expect(try await accepted() == [2, 11, 12, 13, 14])
        // Each job reports it, even a job with another bundle.
        let other = try await bundle("other", [Sample.ping(99, client: "C")])
        #expect(try await night("--quiet", other).text == "1 record: delivered 1\(Self.setAside)")
        #expect(
            try await run("status", path).text == "\(path): not done: per-type limit 5, set aside 1; 5 delivered\n")

        let words = try await run("status").unwrapped
        #expect(words.contains("set aside: \(Self.id), mozilla core, failed alone in 3 jobs; "))
        #expect(words.contains("; last answer: \(Self.answer), 20"))
        #expect(words.contains("pingferry-upload retry \(Self.id)"))
        #expect(words.contains("pingferry-upload forget --for-good \(Self.id)"))
        let setAside = try await run("status", "--json").json()["setAside"] as? [[String: Any]]
        #expect(setAside?.map { $0["id"] as? String } == [Self.id])
        #expect(setAside?.map { $0["jobs"] as? Int } == [3])
        #expect(setAside?.map { $0["status"] as? Int } == [500])

        try await server.setRules()
        #expect(try await run("retry", "--status", "404").text == "0 records to be sent again\n")
        #expect(try await run("retry", Self.id).text == "1 record to be sent again\n")
        let none = try await run("retry", "--all")
        #expect(none.status == 0 && none.text == "0 records to be sent again\n")
        #expect(
            try await run("status", path).text
                == "\(path): not done: per-type limit 5, to be sent again 1; 5 delivered\n")
        #expect(try await night(path).status == 75)
        #expect(try await accepted() == [1, 2, 11, 12, 13, 14, 15, 99])
        let resolved = try await run("status", "--json").json()["setAside"] as? [Any]
        #expect(resolved?.isEmpty == true)
    }

    @Test("Jobs that deliver nothing else do not count, and the operator can give the record up")
    func givenUp() async throws {
        try await server.setRules(Self.poison)
        let alone = try await bundle("alone", [Sample.ping(1, client: "A")])
        for _ in 1...3 {
            let finished = try await job(alone)
            #expect(finished.status == 69 && !finished.text.contains("set aside"), "\(finished.text)")
        }
        for (number, status) in [(11, 75), (12, 75), (13, 1)] as [(Int, Int32)] {
            let finished = try await job(alone, try await bundle("\(number)", [Sample.ping(number, client: "B")]))
            #expect(finished.status == status)
            #expect(finished.text.hasSuffix(Self.setAside) == (status == 1), "\(finished.text)")
        }
        #expect(try await run("forget", "--for-good", Self.id).text == "1 record given up\n")
        let later = try await job("--quiet", alone)
        #expect(later.status == 0 && later.text == "")
        #expect(try await run("status", alone).text == "\(alone): done: 1 not to be sent any more\n")
        #expect(try await accepted() == [11, 12, 13])
    }

    @Test("Records are not set aside if the job stops sending to their server")
    func failingServer() async throws {
        try await server.setRules(#"[{"contains":"\"clientId\":\"F","status":500}]"#)
        let failing = (0..<6).map { Sample.ping(100 + $0, client: "F-\($0)") }
        let path = try await bundle("a", (1...4).map { Sample.ping($0, client: "A") } + failing)
        for number in 1...3 {
            let finished = try await night("--connections", "1", "--metrics", metrics, path)
            #expect(finished.status == 75)
            #expect(finished.text.contains("; mozilla: not tried after 500 the server is busy or failing (1 upload)\n"))
            #expect(try await accepted() == Array(1...number))
        }
        #expect(!(try samples().contains { $0.hasPrefix("pingferry_set_aside{") }))
    }

    // MARK: Other records that are left

    @Test("Hold codes of one record are joined by a plus sign")
    func joinedHoldCodes() async throws {
        var held = [Sample.ping(1, client: "H"), Sample.ping(2, client: "H")]
        held[0].held = [Hold("attribution"), .delivered(status: 200)]
        held[1].held = [Hold("attribution")]
        let finished = try await job(try await bundle("a", held))
        #expect(finished.status == 1)
        #expect(
            finished.text == "2 records: held: attribution 1, held: attribution+delivered 1; "
                + "2 records stay held until release or forget: attribution (1), attribution+delivered (1)\n")
    }

    @Test("Records that are too old are no error, and their bundle is done")
    func tooOldRecords() async throws {
        try folder.makeFolder("done")
        let path = try await bundle("old", (1...2).map { Sample.ping($0, client: "C") })
        let options = ["--max-age", "30d", "--move-done", folder("done"), "--metrics", metrics]
        let finished = try await Uploader(arguments(["--quiet"] + options + [path])).finish()
        #expect(finished.status == 0 && finished.text == "")
        #expect(!(try samples().contains { $0.hasPrefix("pingferry_oldest_waiting_timestamp_seconds{") }))
        let moved = folder("done/old.tar.zst")
        let status = try await run("status", moved)
        #expect(status.status == 0 && status.text == "\(moved): done: 2 too old\n")
        #expect(try await run("status").text.contains(" in flight, 0 waiting, 0 held, 2 too old; last job "))
        #expect(try await run("status", "--quiet").text == "")
        let again = try await job("--max-age", "30d", moved)
        #expect(again.text == "2 records: too old 2; nothing is left but what is too old\n")
        #expect(try await server.report().total == 0)
        #expect(try await job(moved).text == "2 records: delivered 2; nothing is left\n")
    }

    @Test("With --quiet, one line names all bundles that cannot be used")
    func quietErrors() async throws {
        let good = try await bundle("good", [Sample.ping(1, client: "C")])
        #expect(try await job("--per-type-limit", "0", good).status == 75)
        let text = String(repeating: "x", count: 99)
        let damaged = [try folder.put(text, "1.tar.zst"), try folder.put(text, "2.tar.zst")]
        let (one, two, three) = (damaged[0], damaged[1], folder("none.tar.zst"))
        let messages =
            damaged.map { "\($0): byte 0: not a bundle (not zstd data)" }
            + ["cannot open \(three): No such file or directory"]
        let refused = try await job("--quiet", good, one, two, three)
        #expect(refused.status == 65 && refused.text == "")
        #expect(refused.errors == "pingferry-upload: nothing was sent; \(messages.joined(separator: "; "))\n")
        #expect(try await server.report().total == 0)
        let finished = try await job("--quiet", "--keep-going", good, one, two, three)
        #expect(finished.status == 65 && finished.errors == "")
        #expect(finished.text == "1 record: delivered 1; left out: \(messages.joined(separator: ", "))\n")
    }
}
