import Foundation
import TestSupport
import Testing

/// An output whose name promises another format than NDJSON is written, and told.
@Suite struct OutputNameTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("an output within a capture is written, with a warning")
    func outputInCapture() throws {
        try folder.copySample("webxr", to: "phone")
        for (output, isWithin) in [("phone.tar.zst", false), ("phone/a.tar.zst", true)] {
            let finished = try pingferry("bundle", "-o", folder(output), folder("phone"))
            #expect(finished.status == 0)
            #expect(finished.errors.contains("is written into the capture \(folder("phone"))") == isWithin)
        }
    }

    private static let end = "as its name says; name it .ndjson or .ndjson.zst"

    @Test(
        "the format that a name promises is told",
        arguments: [
            ("x.Parquet", "NDJSON, one record a line, not Parquet"),
            ("x.sqlite.zst", "compressed NDJSON, one record a line, not SQLite"),
            ("x.json", "NDJSON, one record a line, not one JSON value"),
            ("x.tsv", "NDJSON, one record a line, not TSV"),
            ("x.ndjson.gz", "NDJSON, one record a line, not gzip"),
            ("x.csv.zst", "compressed NDJSON, one record a line, not CSV"),
            ("x.tar.zst", "compressed NDJSON, one record a line, not tar"),
        ])
    func told(name: String, words: String) throws {
        let finished = try pingferry("convert", "-o", folder(name), sample("webxr"))
        #expect(finished.status == 0)
        #expect(finished.errors == "pingferry: \(folder(name)) holds \(words) \(Self.end)\n")
        #expect(try pingferry("convert", "-q", "--force", "-o", folder(name), sample("webxr")).errors == "")
    }

    @Test(
        "other names are not",
        arguments: ["x.csv", "x.sqlite", "x.ndjson", "x.jsonl", "x.ndjson.zst", "x", "x.zst", "csv", "x.v2", "a.csv/x"])
    func untold(name: String) throws {
        try folder.makeFolder("a.csv")
        #expect(try pingferry("convert", "-o", folder(name), sample("webxr")).errors == "")
    }
}
