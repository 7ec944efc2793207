import Foundation
import TestSupport
import Testing

/// Tests that commands read and write a number of bytes that is proportional to the size of their input, and that the
/// lines for the operator have a limited length.
@Suite struct GrowthCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func put(_ name: String, _ text: String) throws {
        let url = URL(filePath: folder(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// Returns the line of a record with the given holds.
    ///
    /// If `time` is `nil`, the record has no time.
    private func record(_ number: Int, client: String, type: String, sequence: Int, time: Int?, held: [String])
        -> String
    {
        let id = "00000000-1111-4111-8111-\(String(1_000_000_000_000 + number).suffix(12))"
        let seconds = time.map {
            "\"2020-03-\(String(101 + $0 / 1440).suffix(2))T\(String(100 + $0 / 60 % 24).suffix(2)):\(String(100 + $0 % 60).suffix(2)):00.000Z\""
        }
        let holds = held.map { "\"\($0)\"" }.joined(separator: ",")
        return """
            {"app":{"id":"app\(number % 5)","name":"App \(number % 5)"},"client":"\(client)","held":[\(holds)],"id":"\(id)",\
            "notes":["C8 x\(number)"],"payload":{"seq":\(sequence)},"source":{"capture":"c","index":\(number),"path":"p\(number)",\
            "store":"mozilla-ping-file"},"system":"mozilla","target":null,"time":\(seconds ?? "null"),"type":"\(type)"}

            """
    }

    /// Creates a capture with `count` stores, rejects, clients, types, hold codes, restarts, and records without a time,
    /// and a property list with `count` elements.
    private func makeInputs(_ count: Int) throws -> (capture: String, list: String) {
        let name = "capture-\(count)"
        var lines = ""
        for number in 0..<count {
            let code = ["no-target", "x\(number)"]
            lines += record(number, client: "client\(number)", type: "core", sequence: 1, time: number, held: code)
            lines += record(
                count + number, client: "c", type: "core", sequence: 1 + number % 2, time: number, held: code)
            lines += record(2 * count + number, client: "c", type: "core", sequence: 1, time: nil, held: code)
            lines += record(3 * count + number, client: "c", type: "t\(number)", sequence: 1, time: nil, held: code)
            lines += "{broken\n"
            try put("\(name)/Documents/a\(number)/MozTelemetry-core.json", "[7,{}]")
        }
        try put("\(name).ndjson", lines)
        let elements = (0..<count).map { "<dict><key>a</key><integer>\($0)</integer></dict>" }.joined()
        try put("\(name).plist", "<?xml version=\"1.0\"?><plist version=\"1.0\"><array>\(elements)</array></plist>")
        return (folder(name), folder("\(name).plist"))
    }

    @Test("The bytes that a command reads and writes grow with its input")
    func bytes() throws {
        let inputs = Dictionary(uniqueKeysWithValues: try [40, 80, 160].map { ($0, try makeInputs($0)) })
        func expectGrowth(_ name: String, _ arguments: (_ capture: String, _ list: String) -> [String]) throws {
            try expectLinearGrowth(of: "structures, read by \(name)", from: 40) { count in
                let (capture, list) = try #require(inputs[count])
                return try RunningProgram.countBytes(running: [pingferryPath] + arguments(capture, list))
            }
        }
        func bundle(_ capture: String) -> String { "\(capture).tar.zst" }
        try expectGrowth("scan") { capture, _ in ["scan", capture] }
        try expectGrowth("inspect") { _, list in ["inspect", list] }
        try expectGrowth("convert") { capture, _ in ["convert", "-o", "-", capture, "\(capture).ndjson"] }
        try expectGrowth("convert to tables") { capture, _ in
            ["convert", "-o", "\(capture).sqlite", capture, "\(capture).ndjson"]
        }
        try expectGrowth("report") { capture, _ in ["report", "-o", "\(capture).html", capture, "\(capture).ndjson"] }
        try expectGrowth("gaps") { capture, _ in ["gaps", "\(capture).ndjson"] }
        try expectGrowth("bundle") { capture, _ in ["bundle", "-o", bundle(capture), capture, "\(capture).ndjson"] }
        try expectGrowth("verify") { capture, _ in ["verify", bundle(capture)] }
        try expectGrowth("list") { capture, _ in ["list", bundle(capture)] }
    }

    @Test("Lines with counts show the most frequent hold codes and the number of others")
    func summaryLines() throws {
        let codes = (0..<3000).map { "code\($0)" }
        var lines = record(0, client: "c", type: "core", sequence: 1, time: 1, held: codes)
        for number in 1...3 {
            lines += record(
                number, client: "c", type: "core", sequence: 1, time: 1,
                held: ["code2999", String(repeating: "l", count: 5000)])
        }
        try put("held.ndjson", lines)
        let (bundle, ledger) = (folder("b.tar.zst"), folder("ledger"))
        let made = try pingferry("bundle", "-o", bundle, folder("held.ndjson"))
        let verified = try pingferry("verify", bundle)
        let planned = try RunningProgram([
            builtProgram("pingferry-upload"), "send", "--dry-run", "--ledger", ledger, bundle,
        ]).finish()
        for finished in [made, verified, planned] {
            let line = try #require(finished.lines.first { $0.contains("4 records") })
            #expect(line.utf8.count < 3000)
        }
        for finished in [made, verified] {
            #expect(finished.text.contains("code2999 4"))
            #expect(finished.text.contains("and 2989 others (2989)"))
        }
    }
}
