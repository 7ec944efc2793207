import Files
import Hashing
import Telemetry
import TestSupport
import Testing

@testable import Bundle

/// Tests of the bytes of receipts.
@Suite struct ReceiptTests {
    private let maker = Receipt.Origin(
        user: "ada", userID: 1000, host: "site-3", toolVersion: "9.8.7",
        time: Timestamp(clamping: 1_590_000_000_123))

    @Test("The receipt of a new bundle states user, time, host, arguments, inputs, and the hash of the file")
    func bundle() async throws {
        let manifest = try await SampleBundle.pack([SampleBundle.record(1)]).manifest
        let sha256 = ContentHash(of: Array("abc".utf8))
        let receipt = Receipt(
            command: "bundle", arguments: ["-o", "out/n\"1.tar.zst", "phone"], origin: maker,
            entries: [
                Receipt.Entry(
                    name: "n.tar.zst", files: [Receipt.File(name: "n.tar.zst", sha256: sha256)], outcome: .complete,
                    manifest: manifest)
            ], inputs: BundleInputs([BundleInput(kind: .folder, label: "phone")]))
        let expected =
            #"{"_type":"https://in-toto.io/Statement/v1","predicate":{"arguments":["-o","out/n\"1.tar.zst","phone"],"#
            + #""bundles":[{"digest":"\#(manifest.digest)","duplicates":0,"files":["n.tar.zst"],"name":"n.tar.zst","#
            + #""result":"complete","totals":{"held":{},"records":1,"system":{"mozilla":1},"#
            + #""type":{"mozilla/core":1},"uploadable":1}}],"command":"bundle","host":"site-3","#
            + #""inputs":[{"kind":"folder","label":"phone"}],"time":"2020-05-20T18:40:00.123Z","#
            + #""tool":{"name":"pingferry","version":"9.8.7"},"user":{"name":"ada","uid":1000}},"#
            + #""predicateType":"https://pingferry.example/receipt/v1","subject":[{"digest":"#
            // SHA-256 of abc, from FIPS 180-4's examples.
            + #"{"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},"name":"n.tar.zst"}]}"#
        #expect(try receipt.statement.text() == expected + "\n")
        #expect(receipt.statement.hasSubject)
    }

    @Test("The receipt of a verification states faults, and each volume is a subject")
    func verify() throws {
        let (first, second) = (ContentHash(of: [1]), ContentHash(of: [2]))
        let receipt = Receipt(
            command: "verify", arguments: nil,
            origin: Receipt.Origin(user: nil, userID: 7, host: "", toolVersion: "1", time: Timestamp(clamping: 0)),
            entries: [
                Receipt.Entry(
                    name: "a",
                    files: [Receipt.File(name: "a.001", sha256: first), Receipt.File(name: "a.002", sha256: second)],
                    outcome: .invalid(reason: "a: cut", status: 65), manifest: nil),
                Receipt.Entry(name: "b", files: [], outcome: .invalid(reason: "no b", status: 66), manifest: nil),
            ], inputs: nil)
        let expected =
            #"{"_type":"https://in-toto.io/Statement/v1","predicate":{"bundles":[{"files":["a.001","a.002"],"name":"a","#
            + #""reason":"a: cut","result":"bad","status":65},{"files":[],"name":"b","reason":"no b","result":"bad","#
            + #""status":66}],"command":"verify","host":"","time":"1970-01-01T00:00:00.000Z","#
            + #""tool":{"name":"pingferry","version":"1"},"user":{"name":null,"uid":7}},"#
            + #""predicateType":"https://pingferry.example/receipt/v1","#
            + #""subject":[{"digest":{"sha256":"\#(first.hex)"},"name":"a.001"},"#
            + #"{"digest":{"sha256":"\#(second.hex)"},"name":"a.002"}]}"#
        #expect(try receipt.statement.text() == expected + "\n")
    }

    @Test("A receipt has no subject if no file could be read")
    func nothing() {
        let entry = Receipt.Entry(name: "b", files: [], outcome: .invalid(reason: "no b", status: 66), manifest: nil)
        #expect(
            !Receipt(command: "verify", arguments: nil, origin: maker, entries: [entry], inputs: nil).statement
                .hasSubject)
        #expect(
            !Receipt(command: "verify", arguments: nil, origin: maker, entries: [], inputs: nil).statement.hasSubject)
    }

    @Test("Bytes that are added in pieces have the hash of all bytes")
    func runningHash() {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let hash = RunningHash()
        for piece in [0..<0, 0..<1, 1..<65_537, 65_537..<300_000] { hash.update(Array(bytes[piece]).span) }
        #expect(hash.value == ContentHash(of: bytes))
    }
}
