import Foundation
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests jobs of the program with a server that answers in every way.
@Suite struct JobTests {
    private let folder: TemporaryFolder
    private var ledger: String { folder("ledger.sqlite") }

    init() throws { folder = try TemporaryFolder() }

    /// Writes a bundle with pings of several clients.
    private func bundle(clients: Int = 1, pings: Int = 3, name: String = "b") async throws -> String {
        let records = (0..<pings).flatMap { ping in
            (0..<clients).map { Sample.ping($0 * 100 + ping, client: "client-\($0)") }
        }
        return try await Sample.bundle(records, at: folder("\(name).tar.zst"))
    }

    /// Runs a job to its end.
    private func job(
        _ server: LoopbackServer, _ arguments: String..., environment: [String: String] = [:]
    ) async throws -> FinishedProgram {
        try await job(server, arguments, environment: environment)
    }

    private func job(
        _ server: LoopbackServer, _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> FinishedProgram {
        try await Uploader(
            ["send", "--ledger", ledger, "--timezone", noonTimezone, "--read-timeout", "600"]
                + ["mozilla", "sift", "leanplum", "activity-stream"].flatMap {
                    ["--endpoint", "\($0)=\(server.address)"]
                }
                + arguments, environment: environment
        ).finish()
    }

    @Test func pingsOfAClientArriveInOrderOfTime() async throws {
        let server = try LoopbackServer()
        try await server.setRules()
        let finished = try await job(server, "--connections", "4", try await bundle(clients: 3, pings: 8))
        #expect(finished.status == 0)
        #expect(finished.text == "24 records: delivered 24; nothing is left\n")
        var numbers: [String: [Int]] = [:]
        for request in try await server.report().requests {
            let body = try #require(try JSONSerialization.jsonObject(with: request.body) as? [String: Any])
            numbers[try #require(body["clientId"] as? String), default: []].append(try #require(body["seq"] as? Int))
        }
        #expect(numbers.count == 3)
        for sequence in numbers.values { #expect(sequence == sequence.sorted() && sequence.count == 8) }
    }

    @Test func eachSystemReceivesItsOwnRequests() async throws {
        let server = try LoopbackServer()
        try await server.setRules()
        let bundle = try await Sample.bundle(
            [
                Sample.ping(1, client: "C"), Sample.activityStream(1),
                Sample.sift([#"{"time":1}"#, #"{"time":2}"#]),
                Sample.leanplum([#"{"action":"start","sdkVersion":"2.7.2"}"#]),
            ], at: folder("b.tar.zst"))
        let credentials = try folder.put(
            #"{"leanplum":{"*":{"appId":"app_X","productionKey":"secret-2"}}}"#, "credentials", mode: 0o600)
        let finished = try await job(
            server, "--credentials", credentials, "--log-json", bundle,
            environment: ["PINGFERRY_SIFT_KEY_acme": "secret-1"])
        #expect(finished.status == 0, "\(finished.errors)")
        let requests = try await server.report().requests
        #expect(
            Set(requests.map { "\($0.method) \($0.path)" }) == [
                "POST /submit/telemetry/00000000-0000-4000-8000-000000000001/core/Focus/8.1.3/release/4236?v=4",
                "POST /v3/links/ping-centre", "PUT /v3/accounts/acme/mobile_events", "POST /api",
            ])
        let sift = try #require(requests.first { $0.method == "PUT" })
        #expect(sift.header("Authorization") == "Basic \(Data("secret-1".utf8).base64EncodedString())")
        #expect(try tool(["gzip", "-dc"], input: Array(sift.body)) == Data(#"{"data":[{"time":1},{"time":2}]}"#.utf8))
        let leanplum = try #require(requests.first { $0.path == "/api" })
        #expect(String(decoding: leanplum.body, as: UTF8.self).contains("&clientKey=secret-2&data=%7B%22data%22%3A%5B"))

        // There are four log lines, after the line about the new ledger. None contains a credential.
        #expect(finished.errors.split(separator: "\n").count == 5)
        #expect(!(finished.errors + finished.text).contains("secret"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: ledger)).range(of: Data("secret".utf8)) == nil)
    }

    @Test func missingCredentialAffectsOnlyItsAccount() async throws {
        let server = try LoopbackServer()
        let bundle = try await Sample.bundle(
            [Sample.ping(1, client: "C"), Sample.sift([#"{"time":1}"#])], at: folder("b.tar.zst"))
        let finished = try await job(server, "--quiet", bundle)
        #expect(finished.status == 78)
        #expect(
            finished.text.contains(
                "delivered 1, missing credential: sift acme 1; for sift acme set PINGFERRY_SIFT_KEY_acme"))
        #expect(try await server.report().total == 1)
        let later = try await job(server, "--quiet", bundle, environment: ["PINGFERRY_SIFT_KEY_acme": "k"])
        #expect(later.status == 0 && later.text.isEmpty)
        #expect(try await server.report().total == 2)
    }

    @Test(arguments: [401, 403])
    func rejectedCredentialStopsOnlyItsAccount(answer: Int) async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"path":"/v3/accounts/acme","status":\#(answer)}]"#)
        let bundle = try await Sample.bundle(
            [
                Sample.sift([#"{"time":1}"#], client: "I", minute: 1),
                Sample.sift([#"{"time":2}"#], client: "I", minute: 2),
                Sample.sift([#"{"time":3}"#], account: "other", client: "J"), Sample.ping(1, client: "C"),
            ], at: folder("b.tar.zst"))
        let keys = ["PINGFERRY_SIFT_KEY_acme": "wrong", "PINGFERRY_SIFT_KEY_other": "right"]
        let finished = try await job(server, "--connections", "1", bundle, environment: keys)
        #expect(finished.status == 78)
        #expect(finished.text.contains("delivered 2, left 2"))
        #expect(finished.text.contains("credential refused: sift acme"))
        #expect(try await server.report().total == 3)
        #expect(try await totals(of: ledger)["inFlight"] as? Int == 0)
        try await server.setRules()
        #expect(try await job(server, bundle, environment: keys).status == 0)
    }

    @Test(arguments: [401, 407])
    func rejectedCredentialIsReportedAfterALostAnswer(answer: Int) async throws {
        let server = try LoopbackServer()
        try await server.setRules(
            #"[{"path":"/submit","cut":"after","times":1},{"path":"/submit","status":\#(answer)}]"#)
        let bundle = try await bundle()
        let finished = try await job(server, bundle)
        #expect(finished.status == 78)
        #expect(finished.text.hasPrefix("3 records: left 3; "))
        #expect(finished.text.contains("credential refused: mozilla"))
        // The lost answer may have been a success.
        #expect(try await totals(of: ledger)["inFlight"] as? Int == 1)
        try await server.setRules()
        #expect(try await job(server, bundle).status == 0)
    }

    @Test func refusalIsFinalUntilRetry() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"contains":"\"seq\":1}","status":400,"text":"no"}]"#)
        let bundle = try await bundle()
        let finished = try await job(server, bundle)
        #expect(finished.status == 1)
        let stays = "1 record stays refused until retry or forget: 400 the server cannot read the request: no (1)"
        #expect(finished.text == "3 records: delivered 2, refused 1; \(stays)\n")
        #expect(
            finished.errorLines.last
                == "pingferry-upload: mozilla core: refused (400): the server cannot read the request: no"
        )
        try await server.setRules()
        // Each job reports the refusal, even a job with another bundle.
        let next = try await job(server, "--quiet", bundle)
        #expect(next.status == 1)
        #expect(next.text == "3 records: delivered before 2, refused before 1; \(stays)\n")
        let other = try await Sample.bundle([Sample.ping(9, client: "other")], at: folder("other.tar.zst"))
        #expect(try await job(server, "--quiet", other).text == "1 record: delivered 1; \(stays)\n")
        #expect(try await server.report().total == 4)
        let id = "00000000-0000-4000-8000-000000000001"
        #expect(try await upload("retry", "--ledger", ledger, id).status == 0)
        #expect(try await job(server, bundle).text == "3 records: delivered 1, delivered before 2; nothing is left\n")
    }

    /// A list of three events, which can be sent in three uploads.
    private static let listOfThree = Sample.sift(
        (1...3).map { #"{"text":"\#(String(repeating: "x", count: 2_600_000))","time":\#($0)}"# })
    private func listInThreeParts() async throws -> String {
        try await Sample.bundle([Self.listOfThree], at: folder("list.tar.zst"))
    }
    private let siftKey = ["PINGFERRY_SIFT_KEY_acme": "k"]

    @Test func refusedPartDoesNotBlockOtherParts() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"path":"/v3","status":413,"times":1},{"path":"/v3","status":503}]"#)
        let bundle = try await listInThreeParts()
        let first = try await job(server, "--attempts", "1", bundle, environment: siftKey)
        #expect(first.status == 75)
        #expect(first.text.hasPrefix("1 record: left 1; "))
        #expect(try await totals(of: ledger)["refused"] as? Int == 0)
        try await server.setRules()
        let second = try await job(server, bundle, environment: siftKey)
        #expect(second.status == 1)
        #expect(second.text.hasPrefix("1 record: refused 1; 1 record stays refused until retry or forget: 413 "))
        #expect(try await server.report().total == 4)
        #expect(try await totals(of: ledger)["refused"] as? Int == 1)
        let third = try await job(server, bundle, environment: siftKey)
        #expect(third.status == 1)
        #expect(third.text.hasPrefix("1 record: refused before 1; 1 record stays refused until retry or forget: 413 "))
        #expect(try await server.report().total == 4)
    }

    @Test(arguments: [false, true])
    func retrySendsOnlyTheRefusedPartOfAList(isSettled: Bool) async throws {
        let server = try LoopbackServer()
        let rest = isSettled ? "" : #",{"path":"/v3","status":200,"times":1},{"path":"/v3","status":503}"#
        try await server.setRules(#"[{"path":"/v3","status":400,"times":1}\#(rest)]"#)
        let bundle = try await listInThreeParts()
        let first = try await job(server, "--attempts", "1", bundle, environment: siftKey)
        #expect(first.status == (isSettled ? 1 : 75))
        try await server.setRules()
        #expect(try await upload("retry", "--ledger", ledger, Self.listOfThree.id).status == 0)
        let second = try await job(server, bundle, environment: siftKey)
        #expect(second.text == "1 record: delivered 1; nothing is left\n")
        #expect(try await server.report().total == (isSettled ? 4 : 5))
        #expect(try await totals(of: ledger)["delivered"] as? Int == 1)
    }

    @Test func partlyRefusedWaitingRecordIsCountedOnce() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"path":"/v3","status":413,"times":1}]"#)
        let finished = try await job(
            server, "--per-type-limit", "1", "--json", try await listInThreeParts(), environment: siftKey)
        #expect(finished.status == 75)
        #expect(try finished.json()["records"] as? [String: Int] == ["sent-in-part": 1])
        #expect(try finished.json()["total"] as? Int == 1)
    }

    @Test func listBeyondTheLimitsIsSentInPart() async throws {
        let server = try LoopbackServer()
        try await server.setRules()
        let words = ["--per-type-limit", "2", try await listInThreeParts()]
        let planned = try await job(server, ["--dry-run"] + words, environment: siftKey)
        #expect(planned.status == 0)
        #expect(planned.text.hasSuffix("2 uploads planned of 1 record: sent in part 1\n"))
        let plan = try await job(server, ["--dry-run", "--json"] + words, environment: siftKey).json()
        #expect(reasons(plan["reasons"]) == ["sent in part": 1])
        #expect((plan["sends"] as? [[String: Any]])?.map { $0["events"] as? Int } == [1, 1])
        #expect((plan["waits"] as? [[String: Any]])?.map { $0["reason"] as? String } == ["sent in part"])
        let first = try await job(server, words, environment: siftKey)
        #expect(first.status == 75)
        #expect(first.text == "1 record: sent in part 1\n")
        #expect(try await server.report().total == 2)
        #expect(reasons(try await totals(of: ledger)["waiting"]) == ["sent in part": 1])
        let second = try await job(server, words, environment: siftKey)
        #expect(second.status == 0)
        #expect(second.text == "1 record: delivered 1; nothing is left\n")
        #expect(try await server.report().total == 3)
        #expect(reasons(try await totals(of: ledger)["waiting"]) == [:])
    }

    @Test func partialListWithoutDeliveryIsLeft() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"path":"/v3","status":503}]"#)
        let words = ["--per-type-limit", "2", "--attempts", "1", try await listInThreeParts()]
        let finished = try await job(server, words, environment: siftKey)
        #expect(finished.status == 69)
        #expect(finished.text.hasPrefix("1 record: left 1; "))
        #expect(
            try await job(server, ["--json"] + words, environment: siftKey).json()["records"] as? [String: Int] == [
                "left": 1
            ])
    }

    @Test func tooLargeRequestsAreRefused() async throws {
        let server = try LoopbackServer()
        var large = Sample.ping(1, client: "C")
        large.payload = Array(#"{"a":"\#(String(repeating: "x", count: 10_000_000))"}"#.utf8)
        let name = String(repeating: "n", count: 1100)
        let long = Sample.ping(
            2, client: "C",
            path: "/submit/telemetry/00000000-0000-4000-8000-000000000002/core/\(name)/8.1.3/release/4236?v=4")
        let bundle = try await Sample.bundle([large, long], at: folder("b.tar.zst"))
        let finished = try await job(server, bundle)
        #expect(finished.status == 1)
        #expect(finished.errors.contains("refused (413): the body is too large: payload too large"))
        #expect(finished.errors.contains("refused (431): the path or a header is too long"))
    }

    @Test func busyServerIsRetried() async throws {
        let server = try LoopbackServer()
        try await server.setRules(
            #"[{"status":503,"headers":{"Retry-After":"1"},"times":1},{"cut":"before","times":1}]"#)
        let finished = try await job(server, try await bundle())
        #expect(finished.status == 0)
        #expect(finished.text == "3 records: delivered 3; nothing is left\n")
    }

    @Test func requestedPauseIsObserved() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"status":429,"headers":{"Retry-After":"3600"}}]"#)
        let finished = try await job(server, "--connections", "2", try await bundle(clients: 20))
        #expect(finished.status == 69)
        #expect(finished.text.hasPrefix("60 records: left 60; mozilla: "))
        #expect(finished.text.contains("mozilla: 429 the server is busy or failing ("))
        #expect(finished.text.contains("mozilla: not tried after 429 the server is busy or failing ("))
        #expect(finished.text.contains("; \(server.address) asked to be left alone until "))
        #expect(try await server.report().total <= 2)
        let totals = try await totals(of: ledger)
        #expect(totals["inFlight"] as? Int == 0)
        // The next job does not contact the server either, and reports the end of the pause.
        try await server.setRules()
        let received = try await server.report().total
        let next = try await job(server, "--quiet", folder("b.tar.zst"))
        let words = "\(server.address) asked to be left alone until "
        #expect(next.status == 69)
        #expect(next.text.hasPrefix("60 records: server asked to wait 60; \(words)"))
        #expect(try await job(server, "--dry-run", folder("b.tar.zst")).text.contains(words))
        #expect(try await server.report().total == received)
        #expect(try await upload("status", "--ledger", ledger).text.contains("server asked to wait 3\n"))
        #expect(try await upload("status", "--ledger", ledger).text.contains(words))
        let pauses = try await upload("status", "--json", "--ledger", ledger).json()["pauses"] as? [[String: String]]
        #expect(pauses?.map { $0["endpoint"] } == [server.address])
        #expect(try await upload("forget", "--ledger", ledger, server.address).text == "1 entry forgotten\n")
        #expect(try await job(server, folder("b.tar.zst")).text == "60 records: delivered 60; nothing is left\n")
    }

    @Test func equalRefusalsStopTheServerForTheJob() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"status":400,"text":"no"}]"#)
        let words = ["--connections", "1", try await bundle(pings: 10)]
        let first = try await job(server, ["--json", "--refusals", "3"] + words)
        #expect(first.status == 1)
        #expect(try first.json()["records"] as? [String: Int] == ["left": 7, "refused": 3])
        let left = try #require(first.json()["undelivered"] as? [[String: Any]])
        #expect(left.map { $0["code"] as? String } == ["refusal-limit"])
        #expect(left.map { $0["uploads"] as? Int } == [7])
        let second = try await job(server, ["--quiet", "--refusals", "1"] + words)
        #expect(second.text.contains("; mozilla: stopped after 1 refusal with 400 (6 uploads); "))
        #expect(try await server.report().total == 4)
        #expect(try await job(server, "--refusals", "0", words[2]).status == 64)
        #expect(try await job(server, ["--refusals", "unlimited"] + words).text.contains("refused 6"))
    }

    @Test func removedLedgerIsReportedDuringAJob() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"hold":true}]"#)
        let uploader = try Uploader([
            "send", "--ledger", ledger, "--endpoint", server.address, "--read-timeout", "600",
            try await bundle(pings: 1),
        ])
        while try await server.report().total < 1 { try await Task.sleep(for: .milliseconds(20)) }
        try FileManager.default.removeItem(atPath: ledger)
        try await server.configure(#"{"rules":[],"release":true}"#)
        let finished = try await uploader.finish()
        #expect(finished.status == 74)
        #expect(finished.errors.contains("\(ledger): the ledger was removed or replaced while it was in use"))
        #expect(finished.text.contains("1 record: left 1; "), "\(finished.text)")
    }

    @Test(.enabled(if: SmallDisk.isSupported, "only root can mount"))
    func fullLedgerDiskIsSummarizedAsRecorded() async throws {
        let (server, disk) = (try LoopbackServer(), try SmallDisk(kibibytes: 420))
        let words = ["--ledger", disk("l"), "--timezone", noonTimezone]
        let bundle = try await bundle(clients: 8, pings: 40)
        let finished = try await Uploader(["send", "--json", "--endpoint", server.address, bundle] + words).finish()
        #expect(finished.status == 74, "\(finished.errors)")
        let counts = try #require(finished.json()["records"] as? [String: Int])
        try disk.enlarge(kibibytes: 8000)
        let status = try await Uploader(["status", "--json"] + words).finish().json()
        let totals = try #require(status["totals"] as? [String: Any])
        #expect(totals["delivered"] as? Int == counts["delivered"] ?? 0)
        #expect((counts["delivered"] ?? 0) + (counts["left"] ?? 0) == 320)
    }

    @Test func repeatedFailuresStopTheServerForTheJob() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"status":500}]"#)
        let finished = try await job(server, "--connections", "1", "--attempts", "1", try await bundle(clients: 30))
        #expect(finished.status == 69)
        #expect(try await server.report().total == 5)
    }

    @Test func lostAnswerLeavesTheUploadInFlight() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"cut":"after"}]"#)
        let bundle = try await bundle(pings: 2)
        let finished = try await job(server, "--attempts", "1", bundle)
        #expect(finished.status == 69)
        #expect(finished.errors.contains("perhaps delivered: the server closed the connection without an answer"))
        #expect(try await totals(of: ledger)["inFlight"] as? Int == 1)
        try await server.setRules()
        #expect(try await job(server, "--daily-limit", "2", bundle).text == "2 records: delivered 2; nothing is left\n")
        let report = try await server.report()
        #expect(report.distinct == 2 && report.total > 2)
    }

    @Test(arguments: [false, true])
    func listDeliveredByOthersIsNoLongerInFlight(total: Bool) async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"cut":"after"}]"#)
        let first = try await Sample.bundle(
            [Sample.sift([#"{"time":1}"#, #"{"time":2}"#], minute: 1)], at: folder("n1.tar.zst"))
        let events = (total ? [1, 2, 3] : [2, 3]).map { #"{"time":\#($0)}"# }
        let second = try await Sample.bundle([Sample.sift(events, minute: 2)], at: folder("n2.tar.zst"))
        let lost = try await job(server, "--attempts", "1", first, environment: siftKey)
        #expect(lost.status == 69)
        #expect(try await totals(of: ledger)["inFlight"] as? Int == 1)
        try await server.setRules()
        #expect(try await job(server, second, environment: siftKey).status == 0)
        #expect(try await job(server, first, second, environment: siftKey).status == 0)
        #expect(try await totals(of: ledger)["inFlight"] as? Int == 0)
        #expect(try await totals(of: ledger)["delivered"] as? Int == 2)
    }

    @Test func signalLetsRequestsUnderWayFinish() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"hold":true}]"#)
        let uploader = try Uploader([
            "send", "--ledger", ledger, "--timezone", noonTimezone, "--endpoint", "mozilla=\(server.address)",
            "--connections", "4", "--read-timeout", "600", try await bundle(clients: 4, pings: 40),
        ])
        while try await server.report().total < 4 { try await Task.sleep(for: .milliseconds(20)) }
        uploader.program.send(SIGTERM)
        let words = "stopping; requests under way have 3 seconds to receive their answers"
        while true {
            // The state of the process is read first, because the process may end between the two reads.
            let isRunning = uploader.program.isRunning
            if String(decoding: try uploader.program.errorOutput, as: UTF8.self).contains(words) { break }
            try #require(isRunning)
            try await Task.sleep(for: .milliseconds(20))
        }
        try await server.configure(#"{"rules":[],"release":true}"#)
        let finished = try await uploader.finish()
        #expect(finished.status == 75, "\(finished.errors)")
        let totals = try await totals(of: ledger)
        // On a busy machine, the answers may arrive too late, so that the uploads stay in flight.
        let (delivered, inFlight) = (totals["delivered"] as? Int ?? 0, totals["inFlight"] as? Int ?? 0)
        #expect(delivered + inFlight == 4)
        #expect(try await server.report().total == 4)
    }

    @Test func serverWithoutTrustedCertificateReceivesNothing() async throws {
        let certificates = try Certificates()
        let (certificate, key) = try certificates.make("server", isExpired: true)
        let server = try LoopbackServer("--certificate=\(certificate)", "--key=\(key)")
        let finished = try await job(server, "--ca-file", certificates.authority, try await bundle(clients: 3))
        #expect(finished.status == 69)
        #expect(finished.text.contains("no trusted connection: certificate has expired ("))
        #expect(try await totals(of: ledger)["inFlight"] as? Int == 0)
    }

    @Test func keyOfAnotherCertificateIsBadConfiguration() async throws {
        let certificates = try Certificates()
        let (ours, theirs) = (try certificates.make("ours"), try certificates.make("theirs"))
        let server = try LoopbackServer()
        let finished = try await job(
            server, "--client-cert", ours.certificate, "--client-key", theirs.key, try await bundle())
        #expect(finished.status == 78)
        #expect(
            finished.errorLines.last == "pingferry-upload: \(theirs.key): this is not the key of \(ours.certificate)")
    }

    @Test func oneAddressCanBeGivenForAllSystems() async throws {
        let server = try LoopbackServer()
        let bundle = try await Sample.bundle(
            [Sample.ping(1, client: "C"), Sample.sift([#"{"time":1}"#])], at: folder("b.tar.zst"))
        let finished = try await upload(
            "send", "--ledger", ledger, "--endpoint", server.address, "--endpoint", "sift=http://127.0.0.1:1",
            "--attempts",
            "1", bundle, environment: siftKey)
        #expect(finished.text.hasPrefix("2 records: delivered 1, left 1; sift: "), "\(finished.text)\(finished.errors)")
        #expect(finished.status == 75, "something was delivered, so that it is no outage")
    }

    @Test func unresolvableNameLeavesAllForLater() async throws {
        let finished = try await upload(
            "send", "--ledger", ledger, "--endpoint", "mozilla=http://nowhere.invalid", "--attempts", "1", "--quiet",
            try await bundle())
        #expect(finished.status == 69)
        #expect(finished.text.contains("no address found for nowhere.invalid"))
        #expect(finished.errors == "pingferry-upload: created a new ledger at \(ledger)\n")
    }

    @Test func proxyOfTheEnvironmentIsUsed() async throws {
        let (server, proxy) = (try LoopbackServer(), try LoopbackServer("--proxy"))
        let bundle = try await bundle()
        let environment = ["http_proxy": "http://user:secret@127.0.0.1:\(proxy.port)"]
        #expect(
            try await job(server, bundle, environment: environment).text == "3 records: delivered 3; nothing is left\n")
        proxy.stop()
        let other = try await self.bundle(clients: 2, name: "other")
        let down = try await job(server, "--attempts", "1", other, environment: environment)
        #expect(down.status == 69)
        #expect(down.text.contains("cannot connect to the proxy 127.0.0.1:\(proxy.port): Connection refused"))
        #expect(down.errors.contains("cannot connect to the proxy 127.0.0.1:\(proxy.port)"))
        #expect(!(down.text + down.errors).contains("secret") && !down.text.contains("\(server.port)"))
        #expect(try await job(server, "--proxy", "direct", other, environment: environment).status == 0)
    }

    @Test(arguments: [
        ["--endpoint", "mozilla=http://user:pass@127.0.0.1"], ["--proxy", "http://user:pass@127.0.0.1:1"],
        ["--connections", "0"], ["--client-key", "x"],
    ])
    func secretsAndInvalidValuesOnTheCommandLineAreRejected(arguments: [String]) async throws {
        #expect(try await Uploader(["send"] + arguments + ["b.tar.zst"]).finish().status == 64)
    }

    @Test func credentialsReadableByOthersAreRejected() async throws {
        let server = try LoopbackServer()
        let credentials = try folder.put(#"{"sift":{"acme":"secret"}}"#, "credentials", mode: 0o644)
        let finished = try await job(server, "--credentials", credentials, try await bundle())
        #expect(finished.status == 77)
        #expect(finished.errors.contains("chmod 600 \(credentials)"))
        #expect(try await server.report().total == 0)
    }

    @Test(arguments: [
        "//evil.example/submit/telemetry/I/core/Focus/1/release/1",
        "http://evil.example/submit/telemetry/I/core/F/1/r/1",
        "/submit/telemetry/I/core/Focus/1/release/1 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "/submit/telemetry/I/core/Focus/1/release/..", "/v3/accounts/other/mobile_events",
    ])
    func bundleWithInvalidTargetIsNotSent(path: String) async throws {
        let server = try LoopbackServer()
        let bundle = try await Sample.bundle(
            [Sample.ping(1, client: "C"), Sample.ping(2, client: "C", path: path)], at: folder("b.tar.zst"))
        let finished = try await job(server, bundle)
        #expect(finished.status == 65)
        #expect(finished.errors.contains("the target is not in the system's grammar"))
        #expect(try await server.report().total == 0)
    }

    @Test func pingWithTheIdOfAnotherDocumentIsHeld() async throws {
        let server = try LoopbackServer()
        let path = "/submit/telemetry/00000000-0000-4000-8000-000000000001/core/Focus/8.1.3/release/4236?v=4"
        let bundle = try await Sample.bundle([Sample.ping(2, client: "C", path: path)], at: folder("b.tar.zst"))
        let finished = try await job(server, bundle)
        let stays = "1 record stays held until release or forget: foreign-target (1)"
        #expect(finished.text == "1 record: held: foreign-target 1; \(stays)\n")
        #expect(finished.status == 1)
        #expect(try await server.report().total == 0)
    }
}
