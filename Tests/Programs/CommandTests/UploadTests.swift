import Foundation
import TestSupport
import Testing

/// Tests the commands of `pingferry-upload` without a server.
@Suite struct UploadTests {
    private let folder: TemporaryFolder
    private let bundle: String
    private let ledger: String

    init() throws {
        folder = try TemporaryFolder()
        bundle = folder("a.tar.zst")
        ledger = folder("state/ledger.sqlite")
        #expect(try pingferry("bundle", "-q", "-o", bundle, sample("focus")).status == 1)
    }

    private func upload(_ arguments: String...) throws -> FinishedProgram {
        try shell("\"$(dirname \"$0\")/pingferry-upload\" \"$@\"", arguments + ["--ledger", ledger])
    }

    /// Runs a job whose server does not exist.
    private func job(_ arguments: String...) throws -> FinishedProgram {
        try shell(
            "\"$(dirname \"$0\")/pingferry-upload\" \"$@\"",
            arguments + [
                "--ledger", ledger, "--endpoint", "mozilla=http://127.0.0.1:9", "--proxy", "direct", "--attempts", "1",
            ])
    }

    @Test func dryRunPrintsPlanWithoutChanges() throws {
        let finished = try upload("--dry-run", bundle)
        #expect(finished.status == 0)
        #expect(finished.errors == "")
        #expect(finished.lines.last == "6 uploads planned of 7 records: send 6, held: pending-events 1")
        #expect(finished.lines.first?.hasPrefix("client") == true)
        #expect(!FileManager.default.fileExists(atPath: ledger))
    }

    @Test func dryRunAsJSONNamesEachRecordOnce() throws {
        let json = try upload("--dry-run", "--json", bundle, bundle).json()
        let sends = try #require(json["sends"] as? [[String: Any]])
        let waits = try #require(json["waits"] as? [[String: Any]])
        #expect(sends.count == 6)
        #expect(json["records"] as? Int == 14)
        #expect(sends.count + waits.count == 14)
        #expect(Set(sends.compactMap { $0["id"] as? String }).count == 6)
        #expect(waits.count { $0["reason"] as? String == "duplicate" } == 7)
    }

    @Test func optionsSetLimits() throws {
        let finished = try upload("--dry-run", "--daily-limit", "2", "--per-type-limit", "unlimited", bundle)
        #expect(finished.lines.last?.contains("daily limit") == true)
        let types = try upload("--dry-run", "--per-type-limit", "1", "--limit-scope", "job", bundle)
        #expect(types.lines.last?.contains("per-type limit") == true)
        let aged = try upload("--dry-run", "--max-age", "30d", bundle)
        #expect(aged.lines.last?.contains("too old 6") == true)
    }

    @Test(
        "Invalid options are rejected",
        arguments: [
            ["--daily-limit", "-1"], ["--daily-limit", "x"], ["--max-age", "30"], ["--max-age", "99999999999999d"],
            ["--timezone", "Nowhere/Land"], ["--limit-scope", "phone"], ["--endpoint", "x=y"],
        ])
    func usage(arguments: [String]) throws {
        let words = arguments.joined(separator: " ")
        #expect(try shell("\"$(dirname \"$0\")/pingferry-upload\" --dry-run \(words) \"$1\"", [bundle]).status == 64)
    }

    @Test func unreachableServerDefersAllRecords() throws {
        let finished = try job(bundle)
        #expect(finished.status == 69)
        #expect(finished.lines.last?.hasPrefix("7 records: left 6, held: pending-events 1") == true)
        let status = try upload("status", "--json").json()
        let totals = try #require(status["totals"] as? [String: Any])
        #expect(totals["delivered"] as? Int == 0)
        #expect(totals["inFlight"] as? Int == 0)
        #expect(reasons(totals["waiting"]) == ["held: pending-events": 1, "not sent": 6])
    }

    @Test func quietPrintsSummaryOnFailure() throws {
        let finished = try job("--quiet", bundle)
        #expect(finished.lines.count == 1)
        #expect(finished.errorLines.count == 1 && finished.errors.contains(": created a new ledger at "))
        let idle = try job("--quiet", "--max-age", "1d", bundle)
        // Records that --max-age excludes are not an error. Only a summary counts them.
        #expect(idle.status == 0)
        #expect(idle.text == "" && idle.errors == "")
        let summary = try job("--max-age", "1d", bundle).text
        #expect(
            summary == "7 records: held: pending-events 1, too old 6; nothing is left but what is held or too old\n")
    }

    @Test(arguments: [["status"], ["status", "--refused"], ["send", "--dry-run"]])
    func quietShowsNoTable(command: [String]) throws {
        _ = try job(bundle)
        let arguments = command.last == "--dry-run" ? command + [bundle] : command
        let words = arguments.joined(separator: " ")
        let script = "\"$(dirname \"$0\")/pingferry-upload\" \(words) --ledger \"$1\" --quiet"
        let finished = try shell(script, [ledger])
        #expect(finished.status == 0)
        // The job could not reach the server, so all records are pending.
        #expect(finished.lines.count == (command.first == "status" ? 1 : 0) && finished.errors == "")
        #expect(!(try shell("\(script) --json", [ledger]).json().isEmpty))
    }

    @Test func quietPrintsErrors() throws {
        let status = try upload("status", "--quiet")
        #expect(status.status == 66)
        #expect(status.errors.contains("the ledger does not exist"))
        let plan = try upload("--dry-run", "--quiet", folder("none.tar.zst"))
        #expect(plan.status == 66)
        #expect(plan.errors.contains("none.tar.zst"))
    }

    @Test func damagedBundlePreventsSending() throws {
        var bytes = try folder.data("a.tar.zst")
        bytes[bytes.count / 3] ^= 1
        try bytes.write(to: URL(fileURLWithPath: folder("b.tar.zst")))
        let finished = try job(bundle, folder("b.tar.zst"))
        #expect(finished.status == 65)
        #expect(finished.errors.contains("b.tar.zst"))
        #expect(try upload("--dry-run", folder("none.tar.zst")).status == 66)
        // A folder without bundles is not an error.
        #expect(try upload("--dry-run", sample("focus")).lines == ["0 uploads planned of 0 records"])
    }

    @Test func secondJobNamesRunningProcess() throws {
        _ = try job(bundle)
        let script = """
            exec 9<>"$2.lock"
            flock --exclusive 9
            "$(dirname "$0")/pingferry-upload" --ledger "$2" "$1"
            """
        let finished = try shell(script, [bundle, ledger])
        #expect(finished.status == 75)
        #expect(finished.errors.contains("in use by process"))
        #expect(finished.errors.contains("nothing was sent"))
    }

    @Test func recordsAreReleasedAndForgottenByID() throws {
        let waits = try #require(try upload("--dry-run", "--json", bundle).json()["waits"] as? [[String: Any]])
        let id = try #require(waits.first?["id"] as? String)
        #expect(try upload("release", "--reason", "pending-events", id).status == 64)
        #expect(try upload("release", "--reason", "no-such-reason", id).status == 64)
        #expect(try upload("release", "--force", "--reason", "schema", id).status == 66)
        #expect(!FileManager.default.fileExists(atPath: folder("state")))
        _ = try job(bundle)
        #expect(try upload("release", "--reason", "schema", id).status == 66)
        let released = try upload("release", "--force", "--reason", "schema", id)
        #expect(released.status == 0)
        #expect(released.text == "1 record released\n")
        #expect(try upload("forget", id).text == "1 entry forgotten\n")
        let unknown = try upload("forget", id)
        #expect(unknown.status == 66)
        #expect(unknown.errors.contains(id))
        #expect(try upload("retry", "none").status == 66)
    }

    @Test func statusCreatesNoLedger() throws {
        let finished = try upload("status")
        #expect(finished.status == 66)
        #expect(finished.errors.contains("the ledger does not exist"))
        #expect(!FileManager.default.fileExists(atPath: ledger))
    }

    @Test func otherFileIsNotLedger() throws {
        try folder.put("not a database, but text that is long enough to be looked at", "state/ledger.sqlite")
        #expect(try job(bundle).status == 78)
        #expect(try upload("status").status == 78)
    }

    @Test func ledgerIsInStateFolder() throws {
        // Only a job creates a ledger. This one has nothing to send.
        let script = """
            mkdir "$2"
            XDG_STATE_HOME="$2" "$(dirname "$0")/pingferry-upload" send "$2"
            env -u XDG_STATE_HOME HOME="$2/home" "$(dirname "$0")/pingferry-upload" send "$2"
            env -u XDG_STATE_HOME -u HOME "$(dirname "$0")/pingferry-upload" send "$2"
            """
        let finished = try shell(script, [bundle, folder("s")])
        #expect(finished.status == 78)
        #expect(finished.errors.contains("specify its path with --ledger"))
        #expect(FileManager.default.fileExists(atPath: folder("s/pingferry/ledger.sqlite")))
        #expect(FileManager.default.fileExists(atPath: folder("s/home/.local/state/pingferry/ledger.sqlite")))
    }

    @Test func pingferryRunsUploader() throws {
        let finished = try pingferry("upload", "--dry-run", "--ledger", ledger, bundle)
        #expect(finished.status == 0)
        #expect(finished.lines.last?.hasPrefix("6 uploads planned") == true)
        #expect(try pingferry("upload", "--help").text.contains("pingferry-upload"))
        #expect(try pingferry("upload", "--nonsense").status == 64)
    }

    @Test func pingferryFindsUploaderOnPath() throws {
        let script = """
            cp "$0" "$1/pingferry"
            mkdir "$1/bin"
            printf '#!/bin/sh\\necho "found $*"\\nexit 7\\n' > "$1/bin/pingferry-upload"
            chmod +x "$1/bin/pingferry-upload"
            PATH="$1/bin:$PATH" "$1/pingferry" upload status "a b"
            """
        let finished = try shell(script, [folder.path])
        #expect(finished.text == "found status a b\n")
        #expect(finished.status == 7)
    }

    @Test func missingUploaderIsReported() throws {
        let finished = try shell("cp \"$0\" \"$1/pingferry\"; PATH=/nowhere \"$1/pingferry\" upload x", [folder.path])
        #expect(finished.status == 69)
        #expect(finished.errors.contains("not installed"))
    }
}
