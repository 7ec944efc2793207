import Foundation
import TestSupport
import Testing

/// Tests of the option `--segments` of `convert`, which reads a part of a bundle.
@Suite struct SegmentCommandTests {
    private static let ping =
        "\(sample("focus"))/Documents/MozTelemetry-Default-core/-t-1583154291.7114122.json"
    private let folder: TemporaryFolder
    private let bundle: String

    /// A bundle of three segments and a quarantined item.
    ///
    /// The segments have two records each, except for the last one.
    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        bundle = folder("a.tar.zst")
        let ping = try String(contentsOfFile: Self.ping, encoding: .utf8)
        for (number, size) in [10, 140_000, 140_000, 10, 140_000].enumerated() {
            let text = ping.replacing("6959B896", with: "6959B89\(number)")
                .replacing("1583154291.7082131", with: "158315429\(number).5")
                .replacing("iPhone11,8", with: String(repeating: "x", count: size))
            try folder.put(text, "phone/Documents/MozTelemetry-Default-core/-t-158315429\(number).5.json")
        }
        try folder.put("", "phone/Documents/MozTelemetry-Default-core/-t-1583154299.5.json")
        #expect(try pingferry("bundle", "-q", "-o", bundle, folder("phone")).status == 1)
    }

    private func convert(_ words: String...) throws -> FinishedProgram {
        try shell(#""$0" convert "$@""#, words)
    }

    @Test("The listing shows the number of records in each segment")
    func segmentsInListing() throws {
        let segments = try #require(try pingferry("list", "--json", bundle).json()["segments"] as? [[String: Any]])
        let names = try tool("tar", "--zstd", "-tf", bundle).split(separator: "\n").map(String.init)
        #expect(segments.compactMap { $0["path"] as? String } == names.filter { $0.hasPrefix("records/") })
        #expect(segments.compactMap { $0["records"] as? Int } == [2, 2, 1])
        for segment in segments {
            let path = try #require(segment["path"] as? String)
            let size = try tool("bash", "-c", #"tar --zstd -xOf "$0" "$1" | wc -c"#, bundle, path)
            #expect(segment["bytes"] as? Int == Int(size.trimmingCharacters(in: .whitespacesAndNewlines)))
        }
    }

    @Test(
        "The lines of all parts equal the lines of the whole bundle",
        arguments: [[], ["--payload-only"], ["--since", "2020-03-02T13:04:52Z"]])
    func lines(options: [String]) throws {
        let script = """
            "$0" convert -o - "${@:2}" "$1" > "$1.whole" && for range in 1 2 3-; do
                "$0" convert -o - --segments $range "${@:2}" "$1" || exit
            done > "$1.parts" && cmp "$1.whole" "$1.parts" && "$0" convert -o - --segments 1- "${@:2}" "$1" | cmp - "$1.whole" \
            && "$0" convert -o - --segments 2-2 "${@:2}" - < "$1" | wc -l && wc -l < "$1.whole"
            """
        let finished = try shell(script, [bundle] + options)
        #expect(finished.status == 0, "\(finished.errors)")
        let expected = options.first == "--since" ? [2, 3] : [2, 5]
        #expect(finished.lines.compactMap { Int($0) } == expected)
    }

    @Test("The rows of all parts equal the rows of the whole bundle", arguments: ["sqlite", "csv"])
    func rows(ending: String) throws {
        func rows(_ name: String, _ options: [String]) throws -> [String: Int] {
            let words = ["--json", "-o", folder("\(name).\(ending)")] + options + [bundle]
            let finished = try shell(#""$0" convert "$@""#, words)
            #expect(finished.status == 0, "\(finished.errors)")
            return try #require(try finished.json()["rows"] as? [String: Int])
        }
        let whole = try rows("whole", [])
        let parts = try (1...3).map { try rows("part-\($0)", ["--segments", "\($0)"]) }
        #expect(parts.map { $0["records"] } == [2, 2, 1])
        #expect(parts.map { $0["quarantine"] } == [0, 0, 1])
        for table in ["records", "events", "searches", "problems", "quarantine"] {
            #expect(parts.compactMap { $0[table] }.reduce(0, +) == whole[table], "\(table)")
        }
        #expect(whole["records"] == 5 && whole["quarantine"] == 1)
    }

    @Test("The timeline of a part has the records of its segments")
    func timeline() throws {
        let finished = try convert("--json", "--segments", "2-3", "-o", folder("a.timeline.jsonl"), bundle)
        #expect(finished.status == 0)
        #expect(try finished.json()["segments"] as? String == "2-3")
        let script = #"grep -c ID "$1"; wc -l < "$1""#
        let lines = try shell(script, [folder("a.timeline.jsonl")]).lines
        #expect(lines.last == "3")
    }

    @Test("Damage in one segment does not affect other segments")
    func damage() throws {
        var bytes = try folder.data("a.tar.zst")
        let members = try #require(try pingferry("list", "--json", bundle).json()["members"] as? [[String: Any]])
        let sizes = members.compactMap { $0["compressed"] as? Int }
        let start = sizes[0] + sizes[1]
        bytes.replaceSubrange(start..<start + sizes[2], with: Data(count: sizes[2]))
        try bytes.write(to: URL(fileURLWithPath: bundle))
        #expect(try convert("-o", folder("x"), bundle).status == 65)
        for range in ["2", "1-2", "2-3", "1-"] {
            let finished = try convert("-o", folder("x"), "--segments", range, bundle)
            #expect(finished.status == 65, "\(range)")
            #expect(finished.errorLines.first?.hasPrefix("pingferry: \(bundle): byte \(start): ") == true)
        }
        #expect(!FileManager.default.fileExists(atPath: folder("x")))
        for (range, count) in [("1", 2), ("3", 1), ("3-", 1)] {
            let finished = try convert("-q", "--force", "-o", folder("y"), "--segments", range, bundle)
            #expect(finished.status == 0 && finished.errors == "", "\(range): \(finished.errors)")
            #expect(try folder.data("y").count { $0 == 10 } == count)
        }
    }

    @Test("Missing segments, and inputs without segments, are usage errors")
    func usage() throws {
        for range in ["4", "4-", "2-4", "1-999999999"] {
            let finished = try convert("-o", folder("x"), "--segments", range, bundle)
            #expect(finished.status == 64)
            #expect(
                finished.errorLines.first
                    == "pingferry: --segments \(range) exceeds the bundle: \(bundle) has 3 segments")
        }
        for range in ["0", "2-1", "a", ""] {
            #expect(try convert("-o", folder("x"), "--segments", range, bundle).status == 64, "\(range)")
        }
        let log = folder("log.ndjson.zst")
        #expect(try convert("-q", "-o", log, bundle).status == 0)
        for path in [log, folder("phone"), Self.ping, "\(repository)/samples/pings.ndjson", sample("focus.zip")] {
            let finished = try convert("-o", folder("x"), "--segments", "1", path)
            #expect(finished.status == 64)
            #expect(finished.errorLines.first == "pingferry: --segments requires a bundle, but \(path) is not a bundle")
        }
        let two = try convert("-o", folder("x"), "--segments", "1", bundle, bundle)
        #expect(two.status == 64)
        #expect(two.errorLines.first == "pingferry: --segments requires exactly one bundle")
        #expect(try convert("-o", folder("x"), "--salvage", "--segments", "1", bundle).status == 64)
        #expect(try convert("-o", folder("x"), "--segments", "1", folder("none")).status == 66)
        #expect(try convert("-o", bundle, "--force", "--segments", "1", bundle).status == 73)
        #expect(!FileManager.default.fileExists(atPath: folder("x")))
    }

    @Test("A bundle without records has no segment")
    func bundleWithoutSegments() throws {
        let empty = folder("empty.tar.zst")
        #expect(try pingferry("bundle", "-q", "--type", "none", "-o", empty, sample("webxr")).status == 0)
        #expect((try pingferry("list", "--json", empty).json()["segments"] as? [Any])?.isEmpty == true)
        let finished = try convert("-o", folder("x"), "--segments", "1", empty)
        #expect(finished.status == 64)
        #expect(finished.errorLines.first?.hasSuffix(" has 0 segments") == true)
    }
}
