import Foundation
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests whether bundles are done, as reported by `status` and applied by `--move-done`.
@Suite struct BundleStatusTests {
    private let folder: TemporaryFolder
    private let server: LoopbackServer
    private var common: [String] { ["--ledger", folder("ledger.sqlite"), "--timezone", noonTimezone] }
    private let id = "00000000-0000-4000-8000-000000000001"

    init() throws {
        folder = try TemporaryFolder()
        server = try LoopbackServer()
    }

    private func run(_ arguments: String...) async throws -> FinishedProgram {
        try await Uploader(arguments + common).finish()
    }

    private func job(_ arguments: String...) async throws -> FinishedProgram {
        try await Uploader(["send", "--endpoint", "mozilla=\(server.address)"] + arguments + common).finish()
    }

    private func bundle(_ name: String, _ records: [Record]) async throws -> String {
        try await Sample.bundle(records, at: folder("\(name).tar.zst"))
    }

    private func held(_ number: Int, _ hold: Hold) -> Record {
        var record = Sample.ping(number, client: "H")
        record.held = [hold]
        return record
    }

    @Test func statusTablesFitEightyColumns() async throws {
        let text = String(repeating: "a long reason ", count: 12)
        try await server.setRules(#"[{"contains":"seq","status":400,"text":"\#(text)"}]"#)
        let client = "5A7702C9-1D4E-46B3-8F95-E0B6A3C81D27"
        let mixed = try await bundle(
            "mixed",
            [
                Sample.ping(1, client: client), Sample.ping(2, client: client), Sample.activityStream(1),
                held(6, .schema([])),
            ])
        _ = try await job("--endpoint", server.address, "--per-type-limit", "1", mixed)
        let status = try await run("status")
        #expect(
            status.lines.prefix(3) == [
                "  type                             delivered  refused  in flight  waiting  held",
                "activity-stream A: 1 upload today",
                "  activity-stream-mobile-sessions          1        0          0        0     0",
            ])
        #expect(status.lines.contains("    per-type limit 1"))
        #expect(status.lines.contains("mozilla \(client): 1 upload today"))
        let lines = status.lines.filter { !$0.contains("; last job ") }
        for line in lines + (try await run("status", "--refused").lines) { #expect(line.count <= 80, "\(line)") }
        for line in try await run("status", "--ids", mixed).lines.dropFirst() { #expect(line.count <= 80, "\(line)") }
    }

    @Test func bundleIsDoneIfNothingIsLeft() async throws {
        try await server.setRules(#"[{"contains":"\"seq\":1}","status":400,"text":"no"}]"#)
        let all = try await bundle("all", [Sample.ping(5, client: "C"), held(6, .pendingEvents)])
        let part = try await bundle("part", (1...3).map { Sample.ping($0, client: "D") })
        #expect(try await run("status", all).status == 66)
        #expect(try await job("--daily-limit", "2", all, part).status == 1)
        let status = try await run("status", all, part)
        #expect(status.status == 1)
        #expect(
            status.lines == [
                "\(all): done: 1 delivered; held: pending-events 1",
                "\(part): not done: refused 1 (400 the server cannot read the request: no), daily limit 1; 1 delivered",
            ])
        #expect(try await run("status", all).status == 0)
        #expect(try await run("status", "--quiet", all).text == "")
        let ids = try await run("status", "--ids", part)
        #expect(ids.lines.contains("  \(id)"))
        #expect(ids.lines.contains { $0.contains("mozilla core, client D, ") })

        // A record that was given up is not reported, and its bundle is done.
        #expect(try await run("forget", "--for-good", id).text == "1 record given up\n")
        #expect(try await run("status", part).status == 75)
        let last = try await job(part)
        #expect(last.status == 0)
        #expect(last.text == "3 records: delivered 1, delivered before 1, given up 1; nothing is left\n")
        #expect(try await run("status", part).text == "\(part): done: 2 delivered, 1 not to be sent any more\n")
        // The command `retry` undoes this.
        try await server.setRules()
        #expect(try await run("retry", id).status == 0)
        #expect(try await run("status", part).text == "\(part): not done: to be sent again 1; 2 delivered\n")
        #expect(try await job(part).text == "3 records: delivered 1, delivered before 2; nothing is left\n")
    }

    @Test func onlyFinishedBundlesAreMoved() async throws {
        try await server.setRules(#"[{"contains":"\"seq\":1}","status":503}]"#)
        try FileManager.default.createDirectory(atPath: folder("done"), withIntermediateDirectories: true)
        let done = try await bundle("a", [Sample.ping(5, client: "C"), held(6, .schema(["x"]))])
        let left = try await bundle("b", [Sample.ping(1, client: "D")])
        let finished = try await job("--attempts", "1", "--move-done", folder("done"), done, left)
        #expect(finished.status == 1)
        #expect(finished.text.contains("; 1 record stays held until release or forget: schema (1)\n"))
        #expect(finished.lines.last == "done: moved to \(folder("done"))/a.tar.zst")
        #expect(!FileManager.default.fileExists(atPath: done) && FileManager.default.fileExists(atPath: left))
        // A releasable record is counted wherever its bundle is.
        #expect(try await run("status").text.contains("1 delivered, 0 refused, 0 in flight, 1 waiting, 1 held"))

        // Moving a bundle does not replace an existing file.
        try await server.setRules()
        let again = try await bundle("a", [Sample.ping(7, client: "C")])
        let second = try await job(
            "--json", "--move-done", folder("done"), "--ignore-held", "schema", again, left)
        #expect(second.status == 0)
        #expect(
            try second.json()["moved"] as? [String]
                == ["\(folder("done"))/a.tar.zst.2", "\(folder("done"))/b.tar.zst"])
        #expect(try await run("status", folder("done/a.tar.zst.2")).status == 0)
    }

    @Test func heldRecordsAreReportedUntilResolved() async throws {
        try folder.makeFolder("done")
        let path = try await bundle("a", [held(1, .schema(["x"])), held(2, .schema(["y"])), held(3, .pendingEvents)])
        let quiet = ["--quiet", "--metrics", folder("metrics")]
        func night(_ arguments: String...) async throws -> FinishedProgram {
            try await Uploader(
                ["send", "--endpoint", "mozilla=\(server.address)"] + quiet + arguments + common
            ).finish()
        }
        let first = try await night("--move-done", folder("done"), path)
        #expect(first.status == 1)
        #expect(first.text.hasSuffix("; 2 records stay held until release or forget: schema (2)\n"), "\(first.text)")
        let other = try await bundle("b", [Sample.ping(5, client: "C")])
        let second = try await night(other)
        #expect(second.status == 1)
        #expect(second.text == "1 record: delivered 1; 2 records stay held until release or forget: schema (2)\n")
        #expect(
            try folder.text("metrics").contains("pingferry_held_releasable{system=\"mozilla\",codes=\"schema\"} 2\n"))
        #expect(try await run("status", "--quiet").text.contains("2 held"))
        #expect(try await night("--ignore-held", "schema", other).status == 0)
        #expect(try await night("--ignore-held", "shema", other).status == 64)
        #expect(try await run("release", "--reason", "schema", id).status == 0)
        #expect(try await night(other).text.hasSuffix("; 1 record stays held until release or forget: schema (1)\n"))
        #expect(try await run("forget", "00000000-0000-4000-8000-000000000002").status == 0)
        let last = try await night(other)
        #expect(last.status == 0 && last.text == "")
        // The released record is sent when its bundle is given again.
        #expect(try await job(folder("done/a.tar.zst")).text.contains("delivered 1"))
    }

    @Test func missingLedgerIsReported() async throws {
        let path = try await bundle("a", [Sample.ping(1, client: "C")])
        let none = try await job("--ledger-must-exist", path)
        #expect(none.status == 66 && none.errors.contains("the ledger does not exist"))
        #expect(try await job("--ledger-must-exist", "--dry-run", path).status == 66)
        #expect(try await server.report().total == 0)
        #expect(
            try await job("--quiet", path).errors
                == "pingferry-upload: created a new ledger at \(folder("ledger.sqlite"))\n")
        #expect(try await job("--quiet", "--ledger-must-exist", path).errors == "")
    }

    @Test(
        "A bundle that is no longer the one that was sent is not moved, and the reason is reported",
        arguments: [true, false])
    func changedBundle(isReplaced: Bool) async throws {
        try FileManager.default.createDirectory(atPath: folder("done"), withIntermediateDirectories: true)
        try await server.setRules(#"[{"status":200,"hold":true}]"#)
        let path = try await bundle("a", [Sample.ping(1, client: "C")])
        let other = try await bundle("other", [Sample.ping(2, client: "C")])
        let job = try Uploader(
            ["send", "--endpoint", "mozilla=\(server.address)", "--move-done", folder("done"), path] + common)
        while try await server.report().total == 0 { try await Task.sleep(for: .milliseconds(10)) }
        #expect((isReplaced ? rename(other, path) : unlink(path)) == 0)
        try await server.configure(#"{"rules":[],"release":true}"#)
        let finished = try await job.finish()
        #expect(finished.status == 73)
        let reason =
            isReplaced
            ? "not moved, because another file has replaced the bundle that was sent"
            : "not moved: cannot open \(path): No such file or directory"
        #expect(finished.errors.contains(reason), "\(finished.errors)")
        #expect(FileManager.default.fileExists(atPath: path) == isReplaced)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("done")) == [])
    }

    @Test func invalidFolderIsReportedBeforeAnythingIsSent() async throws {
        let finished = try await job(
            "--move-done", folder("none"), try await bundle("a", [Sample.ping(1, client: "C")]))
        #expect(finished.status == 73)
        #expect(try await server.report().total == 0)
    }

    @Test func unusableBundlesAreNamedAndOthersCanBeSent() async throws {
        let good = try await bundle("good", [Sample.ping(1, client: "C")])
        let bytes = try folder.data("good.tar.zst")
        let cut = try folder.put(String(repeating: "x", count: 99), "cut.tar.zst")
        try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: folder("half.tar.zst")))
        let bad = [cut, folder("half.tar.zst"), folder("none.tar.zst")]
        let refused = try await Uploader(
            ["send", "--endpoint", "mozilla=\(server.address)", good] + bad + common
        ).finish()
        #expect(refused.status == 65)
        for path in bad { #expect(refused.errors.contains(path)) }
        let start = "pingferry-upload: "
        let messages = refused.errorLines.filter { line in bad.contains { line.contains($0) } }.map {
            $0.dropFirst(start.count)
        }
        #expect(messages.count == bad.count)
        #expect(try await server.report().total == 0)
        let finished = try await Uploader(
            ["send", "--quiet", "--keep-going", "--endpoint", "mozilla=\(server.address)", good] + bad + common
        ).finish()
        #expect(finished.status == 65)
        #expect(finished.text == "1 record: delivered 1; left out: \(messages.joined(separator: ", "))\n")
        #expect(finished.errors == "\(start)created a new ledger at \(folder("ledger.sqlite"))\n")
        #expect(try await server.report().total == 1)
        let states = try await run("status", "--json", good, cut)
        #expect(states.status == 65)
        #expect((try states.json()["bundles"] as? [[String: Any]])?.map { $0["done"] as? Bool } == [true, false])
    }

    @Test func recordInFlightIsNotAlsoWaiting() async throws {
        try await server.setRules(#"[{"contains":"\"seq\":1}","cut":"after"}]"#)
        let path = try await bundle("a", [Sample.ping(1, client: "C"), Sample.ping(2, client: "C")])
        #expect(try await job("--attempts", "1", path).status == 69)
        let totals = try #require(try await run("status", "--json").json()["totals"] as? [String: Any])
        #expect(totals["inFlight"] as? Int == 1)
        #expect(reasons(totals["waiting"]) == ["not sent": 1])
        #expect(try await run("status", path).text == "\(path): not done: in flight 1, not sent 1\n")
    }

    @Test func waitingRecordsOfSeveralBundlesAreReported() async throws {
        try await server.setRules(#"[{"status":503}]"#)
        let (one, two) = (
            try await bundle("one", [Sample.ping(1, client: "C")]),
            try await bundle("two", [Sample.ping(2, client: "D")])
        )
        #expect(try await job("--attempts", "1", one).status == 69)
        #expect(try await job("--attempts", "1", two).status == 69)
        let status = try await run("status")
        #expect(status.text.contains("0 delivered, 0 refused, 0 in flight, 2 waiting, 0 held"))
        #expect(status.lines.contains { $0.hasPrefix(one) } && status.lines.contains { $0.hasPrefix(two) })
        // A bundle that contains both records settles both.
        try await server.setRules()
        let both = try await bundle("both", [Sample.ping(1, client: "C"), Sample.ping(2, client: "D")])
        #expect(try await job(both).status == 0)
        #expect(try await run("status").text.contains("2 delivered, 0 refused, 0 in flight, 0 waiting, 0 held"))
        #expect(try await run("status", one, two, both).status == 0)
    }

    @Test func quietStatusPrintsALineForRefusals() async throws {
        try await server.setRules(#"[{"status":400,"text":"no"}]"#)
        let path = try await bundle("a", [Sample.ping(1, client: "C"), held(2, .schema(["x"]))])
        #expect(try await job(path).status == 1)
        let line = try await run("status", "--quiet")
        #expect(line.status == 0 && line.lines.count == 1)
        #expect(
            line.text.contains(
                "1 record stays refused until retry or forget: 400 the server cannot read the request: no (1)"))
        try await server.setRules()
        #expect(try await run("retry", "--status", "404").text == "0 records to be sent again\n")
        #expect(try await run("retry", "-n", "--status", "400").text == "dry run: 1 record to be sent again\n")
        #expect(try await run("forget", "--dry-run", "--for-good", "none", "--json").json()["dryRun"] as? Bool == true)
        #expect(try await run("retry", "--status", "400").text == "1 record to be sent again\n")
        #expect(
            try await job(path).text
                == "2 records: delivered 1, held: schema 1; 1 record stays held until release or forget: schema (1)\n")
        #expect(try await run("status", "--quiet").text.contains("1 held"))
        #expect(try await run("retry", "--all").text == "0 records to be sent again\n")
        #expect(try await run("retry").status == 64)
    }

    @Test func retrySelectsTheRecordsOfEachGivenStatus() async throws {
        let statuses = [400, 404, 413]
        let rules = statuses.enumerated().map { index, status in
            #"{"path":"/submit/telemetry/\#(id.dropLast())\#(index + 1)","status":\#(status)}"#
        }
        try await server.setRules("[\(rules.joined(separator: ","))]")
        let path = try await bundle("a", (1...3).map { Sample.ping($0, client: "C\($0)") })
        #expect(try await job(path).status == 1)
        #expect(try await run("retry", "--status", "404", "--status", "500").text == "1 record to be sent again\n")
        let both = try await run("retry", "--status", "400", "--status", "404", "--status", "413")
        #expect(both.text == "2 records to be sent again\n" && both.status == 0)
        #expect(try await run("retry", "--status", "400", "--all").status == 64)
        #expect(try await run("retry", "--status", "400", id).status == 64)
        #expect(try await run("retry", "--status", "400,404").status == 64)
        try await server.setRules()
        #expect(try await job(path).text == "3 records: delivered 3; nothing is left\n")
    }

    @Test func heldRecordsAreReleasedByBundleOrKnownID() async throws {
        let path = try await bundle("a", [held(1, .schema(["x"])), held(2, .schema(["y"])), held(3, .tooFewEvents)])
        // Only a job creates a ledger.
        #expect(try await job(try await bundle("other", [Sample.ping(9, client: "C")])).status == 0)
        #expect(try await run("release", "--reason", "schema", id).status == 66)
        let typo = try await run("release", "--reason", "schema", "--bundle", path, "no-such-id")
        #expect(typo.status == 66 && typo.errors.contains("no-such-id"))
        let other = "00000000-0000-4000-8000-000000000003"
        #expect(try await run("release", "--reason", "schema", "--bundle", path, other).status == 66)
        #expect(try await run("release", "--reason", "schema", "--bundle", path, id).text == "1 record released\n")
        #expect(try await job(path).text.hasPrefix("3 records: delivered 1, held: schema 1, held: too-few-events 1; "))
        // The ledger now knows the waiting records.
        let wrong = try await run("release", "--reason", "schema", other)
        #expect(wrong.status == 66 && wrong.errors.contains("held as too-few-events, not as schema"))
        #expect(try await run("release", "--reason", "too-few-events", other).text == "1 record released\n")
        #expect(try await run("release", "--reason", "schema", "--bundle", path).text == "1 record released\n")
        #expect(try await job(path).text == "3 records: delivered 2, delivered before 1; nothing is left\n")
    }

    @Test func clientIDsKeepTheirLetterCase() async throws {
        let path = try await bundle("a", [Sample.ping(1, client: "Abc"), Sample.ping(2, client: "ABC")])
        #expect(try await job("--dry-run", path).lines[1].hasPrefix("Abc "))
        #expect(try await job(path).status == 0)
        #expect(try await run("status").lines[1] == "mozilla Abc: 2 uploads today")
        #expect(try await run("status", "--client", "aBC").text.contains("2 delivered"))
    }
}
