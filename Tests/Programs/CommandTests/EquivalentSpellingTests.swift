import Bytes
import Foundation
import JSONText
import Telemetry
import TestSupport
import Testing

/// Tests of text whose spellings are canonically equivalent, or look alike, but consist of different bytes.
///
/// `Set` and `Dictionary` have another order in each process. Each command therefore runs in several processes, whose
/// results must be equal.
@Suite struct EquivalentSpellingTests {
    private static let processCount = 8

    /// Spellings of which several are equal as `String`: Latin, Hangul, Angstrom and Kelvin signs, ligatures, and
    /// full-width letters.
    private static let spellings = [
        "caf\u{E9}", "cafe\u{301}", "\u{AC00}", "\u{1100}\u{1161}", "\u{212B}", "\u{C5}", "A\u{30A}", "k", "K",
        "\u{212A}", "\u{FB01}", "fi", "\u{FF41}", "a", "q\u{307}\u{323}", "q\u{323}\u{307}",
    ]

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Returns records in which each spelling is a client, an app, a type, a hold code and a capture.
    private static var records: [Record] {
        var records: [Record] = []
        for (number, spelling) in spellings.enumerated() {
            let event = #"{"$ip":"\#(number)","$time":\#(number + 1)}"#
            var record = Sample.sift([event], client: "c", minute: number)
            record.app = App(id: "org.example.\(spelling)", name: spelling, version: spelling)
            records.append(record)
            record = Sample.sift([event], client: spelling, minute: number)
            record.id += "#2"
            record.type = spelling
            record.app = App(id: "org.example", name: "App \(spelling)")
            record.source.capture = spelling
            record.source.path = "Documents/\(spelling)/x"
            record.held = [Hold(spelling, spelling), .schema([spelling])]
            records.append(record)
        }
        return records
    }

    /// Runs a program in several processes, and returns the different results.
    private func results(_ run: (_ output: String) throws -> FinishedProgram) throws -> Set<Data> {
        var results: Set<Data> = []
        for _ in 0..<Self.processCount {
            let output = folder("output")
            let finished = try run(output)
            let file = (try? Data(contentsOf: URL(fileURLWithPath: output))) ?? Data()
            try? FileManager.default.removeItem(atPath: output)
            // The time of a plan is the only one after the times of the records.
            let text = finished.text.replacing(/"time":"20(?:2[1-9]|[3-9])[^"]*"/, with: "")
            results.insert(Data("\(finished.status)\n\(text)\(finished.errors)".utf8) + file)
        }
        return results
    }

    @Test("The results of all processes are equal", .timeLimit(.minutes(10)))
    func equalResults() async throws {
        let bundle = try await Sample.bundle(Self.records, at: folder("a.tar.zst"))
        let commands: [[String]] = [
            ["bundle", "-q", "-o", "OUTPUT"], ["list"], ["list", "--json"], ["verify"], ["scan"], ["scan", "--json"],
            ["convert", "-q", "-o", "-"], ["convert", "-q", "--client", "k", "-o", "-"],
            ["convert", "-q", "--to", "sqlite", "-o", "OUTPUT"],
            ["convert", "-q", "--to", "timesketch", "-o", "OUTPUT"], ["report", "-q", "-o", "OUTPUT"],
            ["gaps", "--json"], ["upload", "--dry-run", "--json"],
        ]
        for command in commands {
            let found = try results { output in
                var words = command.map { $0 == "OUTPUT" ? output : $0 } + [bundle]
                if command[0] == "upload" { words += ["--ledger", folder("ledger.sqlite")] }
                return try RunningProgram([pingferryPath] + words).finish()
            }
            #expect(found.count == 1, "\(command): \(found.map { String(decoding: $0, as: UTF8.self) })")
        }
    }

    @Test("A bundle of all spellings is verified, and no spelling is lost")
    func completeness() async throws {
        let bundle = try await Sample.bundle(Self.records, at: folder("a.tar.zst"))
        let merged = folder("b.tar.zst")
        #expect(try pingferry("bundle", "-q", "-o", merged, bundle).status == 0)
        for path in [bundle, merged] {
            #expect(try pingferry("verify", "-q", path).status == 0)
            // Foundation would merge keys that are equal as strings.
            let list = try JSONFields(Array(try pingferry("list", "--json", path).output))
            let types = try #require(list.object("totals")?.object("type")?.counts)
            let holds = try #require(list.object("totals")?.object("held")?.counts)
            for spelling in Self.spellings {
                #expect(types["sift/\(spelling)"] == 1 && holds[spelling] == 1, "\(spelling)")
            }
        }
    }

    @Test("A client is selected without the case of ASCII letters only")
    func client() async throws {
        let bundle = try await Sample.bundle(Self.records, at: folder("a.tar.zst"))
        let finished = try pingferry("convert", "-q", "--client", "k", "-o", "-", bundle)
        #expect(finished.status == 0)
        let lines = finished.output.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 2)
    }
}
