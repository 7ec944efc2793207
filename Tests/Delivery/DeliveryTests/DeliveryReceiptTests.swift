import Bundle
import Hashing
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests of the bytes of delivery receipts, and of the outcomes that they are made from.
@Suite struct DeliveryReceiptTests {
    private let origin = Receipt.Origin(
        user: "ada", userID: 1000, host: "site-3", toolVersion: "9.8.7",
        time: Timestamp(clamping: 1_590_000_000_123))
    private let hash = ContentHash(of: Array("abc".utf8))
    private let delivered = RecordOutcome(
        status: .delivered, httpStatus: 200, time: Timestamp(clamping: 1_583_154_000_000))

    private func entry(_ name: String, _ outcomes: [RecordOutcome]) -> BundleOutcomes {
        BundleOutcomes(
            name: name, files: [Receipt.File(name: name, sha256: hash)], digest: "d-\(name)",
            counts: outcomes.reduce(into: [:]) { $0[$1.group, default: 0] += 1 })
    }

    @Test("The receipt of a job states its times, its servers and the outcomes of each bundle")
    func job() throws {
        let receipt = DeliveryReceipt(
            run: .job(
                start: Timestamp(clamping: 1_589_999_990_000), end: Timestamp(clamping: 1_590_000_000_000),
                endpoints: [.mozilla: ["https://b:443", "http://a:80"]]),
            origin: origin,
            bundles: [
                entry("a", [delivered, RecordOutcome(status: .inFlight)]),
                entry("b", [delivered]),
            ], skippedBundles: [SkippedBundle(name: "c", reason: "cut")])
        let expected =
            #"{"_type":"https://in-toto.io/Statement/v1","predicate":{"bundles":[{"digest":"d-a","files":["a"],"#
            + #""name":"a","outcomes":[{"outcome":"delivered","reason":null,"records":1,"status":200},"#
            + #"{"outcome":"in-flight","reason":null,"records":1,"status":null}],"total":2},{"digest":"d-b","#
            + #""files":["b"],"name":"b","outcomes":[{"outcome":"delivered","reason":null,"records":1,"status":200}],"#
            + #""total":1}],"command":"send","end":"2020-05-20T18:40:00.000Z","#
            + #""endpoints":{"mozilla":["http://a:80","https://b:443"]},"host":"site-3","#
            + #""outcomes":[{"outcome":"delivered","reason":null,"records":2,"status":200},"#
            + #"{"outcome":"in-flight","reason":null,"records":1,"status":null}],"#
            + #""skipped":[{"name":"c","reason":"cut"}],"start":"2020-05-20T18:39:50.000Z","#
            + #""time":"2020-05-20T18:40:00.123Z","tool":{"name":"pingferry-upload","version":"9.8.7"},"total":3,"#
            + #""user":{"name":"ada","uid":1000}},"predicateType":"https://pingferry.example/delivery/v1","#
            + #""subject":[{"digest":{"sha256":"\#(hash.hex)"},"name":"a"},"#
            + #"{"digest":{"sha256":"\#(hash.hex)"},"name":"b"}]}"#
        #expect(try receipt.statement().text() == expected + "\n")
    }

    @Test("A receipt without a job has no start, no end and no servers, and can list records")
    func query() throws {
        let outcome = delivered
        let receipt = DeliveryReceipt(run: .query, origin: origin, bundles: [entry("a", [outcome])])
        let record = Sample.ping("A")
        let text = try receipt.statement {
            try $0(DeliveryReceipt.json(of: record, inBundle: 0, released: [], outcome))
        }.text()
        #expect(
            text.contains(
                #""outcomes":[{"outcome":"delivered","reason":null,"records":1,"status":200}],"#
                    + #""records":[{"bundle":0,"id":"A","outcome":"delivered","reason":null,"#
                    + #""released":[],"sha256":"\#(PayloadHash.hex(of: record.payload))","status":200,"system":"mozilla","#
                    + #""time":"2020-03-02T13:00:00.000Z","type":"core"}],"skipped":[],"time""#))
        #expect(text.contains(#""command":"receipt","host""#))
        for key in ["start", "end", "endpoints"] { #expect(!text.contains(#""\#(key)":"#)) }
    }

    @Test(
        "Each status has a name and a reason, without the text of the server",
        arguments: [
            (.delivered, .delivered, nil), (.excluded, .excluded, nil), (.refused("400 no"), .refused, nil),
            (.held(["schema", "no-target"]), .held, "schema, no-target"), (.inFlight, .inFlight, nil),
            (.waiting(WaitReason(code: "daily-limit")), .waiting, "daily-limit"),
            (
                .waiting(WaitReason(code: "missing-credential", detail: "sift acme")), .waiting,
                "missing-credential: sift acme"
            ),
        ] as [(RecordStatus, OutcomeName, String?)])
    func groups(status: RecordStatus, name: OutcomeName, reason: String?) {
        #expect(RecordOutcome(status: status).group == OutcomeGroup(name: name, reason: reason, httpStatus: nil))
    }

    @Test(
        "The summary counts each record once",
        arguments: [
            ([], "the bundles contain no records"), ([(.delivered, 200)], "of this 1 record 1 was accepted"),
            (
                [
                    (.inFlight, nil), (.delivered, 200), (.refused("400 a"), 400), (.delivered, nil),
                    (.refused("400 b"), 400), (.refused("413 c"), 413), (.held(["schema"]), nil), (.held(["x"]), nil),
                    (.excluded, nil), (.waiting(WaitReason(code: "daily-limit")), nil),
                ],
                "of these 10 records 2 were accepted, 2 were refused with 400, 1 was refused with 413, 2 are held, "
                    + "1 waits, 1 is in flight, 1 is not sent any more"
            ),
        ] as [([(RecordStatus, Int?)], String)])
    func summary(outcomes: [(RecordStatus, Int?)], summary: String) {
        let bundles = outcomes.map { status, httpStatus in
            entry("a", [RecordOutcome(status: status, httpStatus: httpStatus)])
        }
        #expect(DeliveryReceipt(run: .query, origin: origin, bundles: bundles).summary == summary)
    }

    @Test("Outcomes are read from the ledger, with the status and time of the answer")
    func outcomes() async throws {
        let folder = try TemporaryFolder(inMemory: true)
        let (path, now) = (folder("ledger.sqlite"), Sample.time(0))
        let records = [
            Sample.ping("A"), Sample.ping("B"), Sample.ping("C"), Sample.ping("D", held: [.schema([])]),
            Sample.ping("E", client: "E"),
        ]
        let pool = Sample.pool(records)
        let ledger = try Ledger(path: path, now: now)
        let plan = Planner.plan(
            pool, try ledger.view.state(of: pool, today: 0), rules: PlanRules(limits: UploadLimits(daily: 3)), now: now)
        try ledger.begin(plan)
        _ = try await ledger.mark(plan.sends, at: now)
        let settlements: [Outcome] = [.delivered(status: 201), .refused(status: 400, reason: "no")]
        for (send, outcome) in zip(plan.sends, settlements) {
            try await ledger.settle([Settlement(send: send, recordID: "x", outcome: outcome)], at: Sample.time(1))
        }
        let found = try ledger.view.recordOutcomes(of: pool, today: 0)
        #expect(
            found.map(\.group) == [
                OutcomeGroup(name: .delivered, reason: nil, httpStatus: 201),
                OutcomeGroup(name: .refused, reason: nil, httpStatus: 400),
                OutcomeGroup(name: .inFlight, reason: nil, httpStatus: nil),
                OutcomeGroup(name: .held, reason: "schema", httpStatus: nil),
                OutcomeGroup(name: .inFlight, reason: nil, httpStatus: nil),
            ])
        #expect(found.map(\.time) == [Sample.time(1), Sample.time(1), nil, nil, nil])
    }
}
