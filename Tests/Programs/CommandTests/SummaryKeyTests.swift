import Foundation
import TestSupport
import Testing

/// Tests of the codes and texts of reasons in JSON summaries.
@Suite struct SummaryKeyTests {
    private let folder: TemporaryFolder
    private let bundle: String

    init() throws {
        folder = try TemporaryFolder()
        bundle = folder("a.tar.zst")
        _ = try pingferry("bundle", "-q", "-o", bundle, sample("damaged"), sample("focus"), sample("leanplum"))
    }

    /// Returns the keys in a value that contain other characters than letters, digits, hyphens, underscores, dots and
    /// slashes.
    ///
    /// The documented meanings of events are skipped, because they are not codes.
    private func unusualKeys(in value: Any) -> [String] {
        if let array = value as? [Any] { return array.flatMap(unusualKeys) }
        guard let object = value as? [String: Any] else { return [] }
        return object.flatMap { key, value in
            let isUnusual = key.contains { !$0.isASCII || !$0.isLetter && !$0.isNumber && !"-_./".contains($0) }
            return (isUnusual ? [key] : []) + (key == "known" ? [] : unusualKeys(in: value))
        }
    }

    @Test("Keys contain no spaces or colons")
    func keys() throws {
        let captures = ["damaged", "focus", "firefox-today", "leanplum", "shop"].map { sample($0) }
        let logs = sampleLogs.map { "\(repository)/samples/\($0)" }
        for words in [
            ["scan", "--json"] + captures + logs, ["convert", "--json", "-o", folder("x.ndjson")] + captures + logs,
            ["bundle", "--json", "-o", folder("b.tar.zst")] + captures + logs, ["list", "--json", "--ids", bundle],
            ["verify", "--json", bundle], ["verify", "--json", bundle, folder("none")],
            ["gaps", "--json"] + captures + logs,
        ] {
            let finished = try shell(#""$0" "$@""#, words)
            #expect(unusualKeys(in: try finished.json()) == [], "\(words)")
        }
    }

    @Test("A quarantined item has a code and a text")
    func quarantined() throws {
        for words in [["scan", "--json", sample("damaged")], ["list", "--json", bundle]] {
            let items = try #require(try shell(#""$0" "$@""#, words).json()["quarantined"] as? [[String: Any]])
            let codes = items.compactMap { $0["code"] as? String }
            #expect(codes.prefix(4).sorted() == ["P1", "P12", "P2", "P5"])
            for item in items {
                let parts = ["code", "text"].compactMap { item[$0] as? String }
                #expect(parts.joined(separator: " ") == item["reason"] as? String)
            }
        }
    }

    @Test("A damaged bundle has a reason")
    func damagedBundle() throws {
        let finished = try pingferry("verify", "--json", folder("none"), sample("focus"), bundle)
        #expect(finished.status == 66)
        let results = try #require(finished.json()["bundles"] as? [[String: Any]])
        #expect(results.map { $0["status"] as? Int } == [66, 65, nil])
        let texts = results.compactMap { ($0["text"] as? String).map { "pingferry: \($0)" } }
        #expect(texts.count == 2)
        #expect(texts.allSatisfy { finished.errorLines.contains($0) })
    }
}
