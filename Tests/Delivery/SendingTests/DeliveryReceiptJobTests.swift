import Foundation
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests delivery receipts of the commands `send` and `receipt`.
@Suite struct DeliveryReceiptJobTests {
    private let folder: TemporaryFolder
    private let server: LoopbackServer
    private let receipt: String
    private var common: [String] { ["--ledger", folder("ledger.sqlite"), "--timezone", noonTimezone] }

    init() throws {
        folder = try TemporaryFolder()
        server = try LoopbackServer()
        receipt = folder("night.json")
    }

    private func sendArguments(_ arguments: [String]) -> [String] {
        ["send", "--endpoint", server.address, "--attempts", "1"] + arguments + common
    }

    private func send(_ arguments: String..., environment: [String: String] = [:]) async throws -> FinishedProgram {
        try await Uploader(sendArguments(arguments), environment: environment).finish()
    }

    private func makeReceipt(_ arguments: String...) async throws -> FinishedProgram {
        try await Uploader(["receipt"] + arguments + common).finish()
    }

    private func bundle(_ name: String, _ records: [Record]) async throws -> String {
        try await Sample.bundle(records, at: folder("\(name).tar.zst"))
    }

    /// Returns the predicate of a statement after a check that it is an in-toto Statement.
    private func predicate(_ path: String) throws -> [String: Any] {
        try tool(["python3", fixture("check_statement.py"), "https://pingferry.example/delivery/v1", path])
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let statement = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        return try #require(statement["predicate"] as? [String: Any])
    }

    /// Returns the predicate of the receipt that the command `receipt` prints.
    private func printedPredicate(_ arguments: String...) async throws -> [String: Any] {
        let finished = try await Uploader(["receipt", "--receipt-records"] + arguments + common).finish()
        #expect(finished.status == 0, "\(finished.errors)")
        return try predicate(try folder.put(finished.text, "printed.json"))
    }

    /// Returns the outcomes of a predicate or of a bundle, such as `refused 400: 1`.
    private func outcomes(_ object: [String: Any]) throws -> [String] {
        try #require(object["outcomes"] as? [[String: Any]]).map { outcome in
            let words = [
                outcome["outcome"] as? String, (outcome["status"] as? Int).map(String.init),
                outcome["reason"] as? String,
            ]
            return "\(words.compactMap(\.self).joined(separator: " ")): \(outcome["records"] as? Int ?? 0)"
        }
    }

    /// Returns the ids of the listed records with an outcome.
    private func ids(_ predicate: [String: Any], _ outcome: String) throws -> Set<String> {
        let records = try #require(predicate["records"] as? [[String: Any]])
        return Set(records.filter { $0["outcome"] as? String == outcome }.compactMap { $0["id"] as? String })
    }

    private func held(_ number: Int) -> Record {
        var record = Sample.ping(number, client: "H")
        record.held = [.schema([])]
        return record
    }

    @Test("A night without bundles succeeds without a receipt, and keeps an earlier one")
    func nightWithoutBundles() async throws {
        let spool = try folder.makeFolder("spool")
        #expect(try await send("--receipt", receipt, spool).status == 0)
        #expect(!folder.names.contains { $0.contains("night.json") })
        try folder.put("earlier", "night.json")
        let again = try await send("--receipt", receipt, "--force", "--quiet", spool)
        #expect(again.status == 0)
        #expect(again.text == "" && again.errors == "")
        #expect(try folder.text("night.json") == "earlier")
        // The same applies if the only bundle is still being copied, but that is reported.
        try folder.put(String(repeating: "x", count: 99), "spool/copied.tar.zst")
        let unfinished = try await send("--receipt", receipt, "--force", "--quiet", "--keep-going", spool)
        #expect(unfinished.status == 65)
        #expect(!unfinished.errors.contains("no receipt"))
        #expect(try folder.text("night.json") == "earlier")
    }

    @Test func receiptStatesEveryOutcome() async throws {
        try await server.setRules(#"[{"contains":"\"seq\":2}","status":400,"text":"no such field"}]"#)
        let first = try await bundle("a", [Sample.ping(1, client: "C"), Sample.ping(2, client: "C"), held(3)])
        let second = try await bundle("b", [1, 4, 5].map { Sample.ping($0, client: "C") })
        let finished = try await send("--receipt", receipt, "--receipt-records", "--per-type-limit", "3", first, second)
        #expect(finished.status == 1, "\(finished.errors)")
        let job = try predicate(receipt)
        #expect(job["command"] as? String == "send")
        #expect(try job["tool"] as? [String: String] == ["name": "pingferry-upload", "version": programVersion()])
        #expect(job["endpoints"] as? [String: [String]] == ["mozilla": [server.address]])
        let times = ["start", "end", "time"].compactMap { job[$0] as? String }
        #expect(times.count == 3 && times == times.sorted())
        #expect(job["total"] as? Int == 6)
        #expect(
            try outcomes(job) == [
                "delivered 200: 3", "held schema: 1", "refused 400: 1", "waiting per-type-limit: 1",
            ])
        let bundles = try #require(job["bundles"] as? [[String: Any]])
        #expect(bundles.map { $0["name"] as? String } == ["a.tar.zst", "b.tar.zst"])
        #expect(try outcomes(bundles[0]) == ["delivered 200: 1", "held schema: 1", "refused 400: 1"])
        #expect(try outcomes(bundles[1]) == ["delivered 200: 2", "waiting per-type-limit: 1"])
        let records = try #require(job["records"] as? [[String: Any]])
        #expect(records.map { $0["bundle"] as? Int } == [0, 0, 0, 1, 1, 1])
        #expect(records.map { $0["status"] as? Int } == [200, 400, nil, 200, 200, nil])
        #expect(records[0]["id"] as? String == Sample.ping(1, client: "C").id)
        #expect(records[0]["sha256"] as? String == PayloadHash.hex(of: Sample.ping(1, client: "C").payload))
        let text = try folder.text("night.json")
        #expect(!text.contains("no such field") && !text.contains(folder.path))
        for path in [first, second] {
            let hash = try tool("sha256sum", path).prefix(64)
            #expect(text.contains(#"{"digest":{"sha256":"\#(hash)"},"name":"\#(path.suffix(9))"}"#))
        }
        let mode = try FileManager.default.attributesOfItem(atPath: receipt)[.posixPermissions] as? Int
        #expect(mode == 0o600)

        let later = try await printedPredicate(first, second)
        #expect(later["command"] as? String == "receipt")
        #expect(later["start"] == nil && later["end"] == nil && later["endpoints"] == nil)
        #expect(later["records"] as? NSArray == job["records"] as? NSArray)
        #expect(later["bundles"] as? NSArray == job["bundles"] as? NSArray)
        let made = try await makeReceipt("-o", folder("later.json"), first, second)
        #expect(made.status == 0)
        #expect(made.text == "")
        #expect(
            made.errors
                == "pingferry-upload: of these 6 records 3 were accepted, 1 was refused with 400, 1 is held, 1 waits\n")
        #expect(try predicate(folder("later.json"))["records"] == nil)
    }

    @Test func unusablePathIsReportedBeforeAnythingIsSent() async throws {
        let path = try await bundle("a", [Sample.ping(1, client: "C")])
        try folder.put("old", "night.json")
        try folder.put("signature", "a.tar.zst.sig")
        try folder.put("{}", "credentials.json", mode: 0o600)
        let existing = try await send("--receipt", receipt, path)
        #expect(existing.status == 73)
        #expect(existing.errorLines.first == "pingferry-upload: cannot create \(receipt): File exists")
        #expect(try await send("--receipt", folder("none/a.json"), path).status == 73)
        #expect(try await send("--receipt", "-", path).status == 64)
        #expect(try await send("--receipt-records", path).status == 64)
        #expect(try await send("--dry-run", "--receipt", folder("b.json"), path).status == 64)
        for name in [
            "a.tar.zst", "a.tar.zst.sig", "credentials.json", "ledger.sqlite", "ledger.sqlite-wal",
            "ledger.sqlite.lock", "ledger.sqlite.jobs",
        ] {
            let refused = try await send(
                "--force", "--receipt", folder(name), "--credentials", folder("credentials.json"), path)
            #expect(refused.status == 73, "\(name)")
            #expect(
                refused.errorLines.first
                    == "pingferry-upload: cannot replace \(folder(name)): it is part of the input")
        }
        #expect(folder.names == ["a.tar.zst", "a.tar.zst.sig", "credentials.json", "night.json"])
        #expect(try await server.report().total == 0)

        #expect(try await send("--force", "--receipt", receipt, path).status == 0)
        #expect(try outcomes(predicate(receipt)) == ["delivered 200: 1"])
        #expect(try await makeReceipt("-o", receipt, path).status == 73)
        #expect(try await makeReceipt("--force", "-o", folder("ledger.sqlite"), path).status == 73)
        #expect(try await makeReceipt("--force", "-o", receipt, path).status == 0)
        #expect(try predicate(receipt)["command"] as? String == "receipt")
    }

    @Test func receiptIsWrittenIfTheJobFails() async throws {
        let path = try await bundle("a", [Sample.ping(1, client: "C"), Sample.ping(2, client: "C")])
        try await server.setRules(#"[{"status":503}]"#)
        #expect(try await send("--receipt", receipt, path).status == 69)
        #expect(try outcomes(predicate(receipt)) == ["waiting not-sent: 2"])
        try await server.setRules()
        // If nothing was sent, there is no job that a receipt could describe.
        try Data(try folder.data("a.tar.zst").prefix(300)).write(to: URL(fileURLWithPath: folder("cut.tar.zst")))
        #expect(try await send("--receipt", folder("cut.json"), path, folder("cut.tar.zst")).status == 65)
        #expect(!folder.names.contains { $0.hasPrefix("cut.json") || $0.hasPrefix(".cut.json") })
        // A skipped bundle is listed.
        let skipping = try await send("--keep-going", "--receipt", folder("cut.json"), path, folder("cut.tar.zst"))
        #expect(skipping.status == 65)
        let made = try predicate(folder("cut.json"))
        #expect(try outcomes(made) == ["delivered 200: 2"])
        #expect((made["skipped"] as? [[String: String]])?.map { $0["name"] } == ["cut.tar.zst"])
    }

    @Test func receiptIsWrittenAfterASignal() async throws {
        try await server.setRules(#"[{"hold":true}]"#)
        let path = try await bundle("a", (1...6).map { Sample.ping($0, client: "C") })
        let uploader = try Uploader(sendArguments(["--receipt", receipt, "--receipt-records", path]))
        while try await server.report().total < 1 { try await Task.sleep(for: .milliseconds(20)) }
        uploader.program.send(SIGTERM)
        let finished = try await uploader.finish()
        #expect(finished.status == 75, "\(finished.errors)")
        try await server.configure(#"{"rules":[],"release":true}"#)
        #expect(try outcomes(predicate(receipt)) == ["in-flight: 1", "waiting not-sent: 5"])
        #expect(!folder.names.contains(".night.json.partial"))
    }

    @Test(arguments: [(200, 73), (503, 69)])
    func receiptThatCannotBeWrittenIsReported(answer: Int, status: Int32) async throws {
        try await server.setRules(#"[{"hold":true,"status":\#(answer)}]"#)
        let path = try await bundle("a", [Sample.ping(1, client: "C")])
        let uploader = try Uploader(sendArguments(["--receipt", receipt, path]))
        while try await server.report().total < 1 { try await Task.sleep(for: .milliseconds(20)) }
        // Another process creates the file during the job.
        try folder.put("theirs", "night.json")
        try await server.configure(#"{"rules":[],"release":true}"#)
        let finished = try await uploader.finish()
        #expect(finished.status == status, "\(finished.errors)")
        #expect(
            finished.errorLines.contains(
                "pingferry-upload: no receipt was written: cannot create \(receipt): File exists"))
        #expect(
            finished.errorLines.contains { $0.hasPrefix("hint: ") && $0.hasSuffix("; only the receipt is missing") })
        #expect(try folder.text("night.json") == "theirs")
        #expect(finished.text.hasPrefix("1 record: "))
    }

    @Test func receiptOfAnotherJobIsNotReplaced() async throws {
        try await server.setRules(#"[{"hold":true}]"#)
        let path = try await bundle("a", [Sample.ping(1, client: "C")])
        let uploader = try Uploader(sendArguments(["--receipt", receipt, path]))
        while try await server.report().total < 1 { try await Task.sleep(for: .milliseconds(20)) }
        let locked = try await send("--receipt", receipt, path)
        #expect(locked.status == 75)
        #expect(locked.errorLines.first?.hasPrefix("pingferry-upload: another job is running: cannot lock ") == true)
        #expect(try await makeReceipt("-o", receipt, path).status == 73)
        try await server.configure(#"{"rules":[],"release":true}"#)
        #expect(try await uploader.finish().status == 0)
        #expect(try outcomes(predicate(receipt)) == ["delivered 200: 1"])
    }

    /// Tests a bundle without unsent records, which the job does not read again before it lists the records.
    @Test func bundleDamagedAfterItsDeliveryIsNotBadData() async throws {
        let done = try await bundle("a", [Sample.ping(1, client: "C")])
        #expect(try await send(done).status == 0)
        try await server.setRules(#"[{"hold":true}]"#)
        let count = try await server.report().total
        let path = try await bundle("b", [Sample.ping(2, client: "C")])
        let uploader = try Uploader(sendArguments(["--receipt", receipt, "--receipt-records", done, path]))
        while try await server.report().total == count { try await Task.sleep(for: .milliseconds(20)) }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: done))
        try file.truncate(atOffset: 100)
        try file.close()
        try await server.configure(#"{"rules":[],"release":true}"#)
        let finished = try await uploader.finish()
        #expect(finished.status == 74, "\(finished.errors)")
        #expect(finished.errors.contains("pingferry-upload: no receipt was written: "))
        #expect(finished.text.hasPrefix("2 records: delivered 1, delivered before 1"))
        #expect(!folder.names.contains { $0.contains("night.json") })
    }

    @Test func receiptAfterAKillAgreesWithTheServer() async throws {
        let records = (0..<6).flatMap { client in
            (0..<5).map { Sample.ping(client * 100 + $0, client: "C-\(client)") }
        }
        let path = try await bundle("a", records)
        let paths = Dictionary(
            uniqueKeysWithValues: try records.map { ($0.id, try #require($0.target).path) })
        for requests in 1...6 {
            let uploader = try Uploader(sendArguments(["--connections", "3", "--receipt", receipt, path]))
            let process = uploader.program.identifier
            try await server.configure(
                #"{"kill":{"process":\#(process),"requests":\#(requests),"microseconds":\#(requests * 300)}}"#)
            let finished = try await uploader.finish()
            let made = try await printedPredicate(path)
            let accepted = Set(try await server.report().receipts?.filter { $0.accepted > 0 }.map(\.path) ?? [])
            let delivered = Set(try ids(made, "delivered").compactMap { paths[$0] })
            #expect(delivered.isSubset(of: accepted))
            #expect(accepted.isSubset(of: delivered.union(try ids(made, "in-flight").compactMap { paths[$0] })))
            #expect([0, 128 + SIGKILL].contains(finished.status), "\(finished.errors)")
            // A killed job leaves no receipt.
            #expect(folder.names.contains("night.json") == (finished.status == 0))
            guard finished.status != 0 else { break }
        }
        #expect(try await send("--force", "--receipt", receipt, path).status == 0)
        #expect(try outcomes(predicate(receipt)) == ["delivered 200: 30"])
        #expect(try await server.report().receipts?.filter { $0.accepted > 0 }.count == 30)
    }

    @Test func receiptContainsNoCredential() async throws {
        let key = "prod_Xq4Lw9Tt7zBv"
        try await server.setRules(#"[{"path":"/v3","status":400,"text":"bad key \#(key)"}]"#)
        let path = try await bundle(
            "a", [Sample.leanplum([#"{"action":"start"}"#]), Sample.sift([#"{"time":1}"#, #"{"time":2}"#])])
        let finished = try await send(
            "--receipt", receipt, "--receipt-records", path,
            environment: [
                "PINGFERRY_LEANPLUM_APP_ID": "app_1", "PINGFERRY_LEANPLUM_PRODUCTION_KEY": key,
                "PINGFERRY_SIFT_KEY_acme": key,
            ])
        #expect(finished.status == 1, "\(finished.errors)")
        #expect(try outcomes(predicate(receipt)) == ["delivered 200: 1", "refused 400: 1"])
        for text in [try folder.text("night.json"), try await makeReceipt("--receipt-records", path).text] {
            for part in ["Xq4", "bad key"] { #expect(!text.contains(part)) }
        }
    }

    @Test func eachVolumeIsASubject() async throws {
        let path = try await bundle("a", (1...300).map { Sample.ping($0, client: "C-\($0)") })
        try tool("split", "-b", "4096", "-d", "-a", "3", "--numeric-suffixes=1", path, path + ".")
        unlink(path)
        let volumes = folder.names.filter { $0.hasPrefix("a.tar.zst.") }
        #expect(volumes.count > 1)
        #expect(try await send("--receipt", receipt, path + ".001").status == 0)
        let bundles = try #require(predicate(receipt)["bundles"] as? [[String: Any]])
        #expect(bundles.map { $0["files"] as? [String] } == [volumes])
    }

    @Test func receiptsNeedALedgerAndGoodSignatures() async throws {
        let path = try await bundle("a", [Sample.ping(1, client: "C")])
        let missing = try await makeReceipt("-o", receipt, path)
        #expect(missing.status == 66)
        #expect(folder.names == ["a.tar.zst"])
        #expect(try await send(path).status == 0)
        _ = try tool("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", folder("key"))
        let signers = try folder.put("ada \(try folder.text("key.pub"))", "signers")
        #expect(try await makeReceipt("-o", receipt, "--signers", signers, path).status == 65)
        #expect(!folder.names.contains("night.json"))
        try tool("ssh-keygen", "-q", "-Y", "sign", "-n", "pingferry-bundle", "-f", folder("key"), path)
        #expect(try await makeReceipt("-q", "-o", receipt, "--signers", signers, path).errors == "")
        let bundles = try #require(predicate(receipt)["bundles"] as? [[String: Any]])
        #expect((bundles[0]["signer"] as? [String: String])?["principal"] == "ada")

        // The receipt itself is signed like those of pingferry.
        try tool("ssh-keygen", "-q", "-Y", "sign", "-n", "pingferry-delivered", "-f", folder("key"), receipt)
        let words = ["ssh-keygen", "-Y", "verify", "-n", "pingferry-delivered", "-I", "ada", "-f", signers]
        try tool(words + ["-s", receipt + ".sig"], input: Array(try folder.data("night.json")))
    }
}
