import Foundation
import TestSupport
import Testing

/// Tests of warnings about the names and locations of outputs.
@Suite struct OutputNameTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("An output inside a capture is written with a warning")
    func outputInCapture() throws {
        try folder.copySample("webxr", to: "phone")
        for (output, isWithin) in [("phone.tar.zst", false), ("phone/a.tar.zst", true)] {
            let finished = try pingferry("bundle", "-o", folder(output), folder("phone"))
            #expect(finished.status == 0)
            #expect(finished.errors.contains("is inside the capture \(folder("phone"))") == isWithin)
        }
    }

    @Test(
        "A name that suggests another format causes a warning",
        arguments: [
            ("x.Parquet", "NDJSON, one record per line, not Parquet"),
            ("x.parq", "NDJSON, one record per line, not Parquet"),
            ("x.sqlite.zst", "compressed NDJSON, one record per line, not SQLite"),
            ("x.json", "NDJSON, one record per line, not one JSON value"),
            ("x.tsv", "NDJSON, one record per line, not TSV"),
            ("x.ndjson.gz", "NDJSON, one record per line, not gzip"),
            ("x.csv.zst", "compressed NDJSON, one record per line, not CSV"),
            ("x.tar.zst", "compressed NDJSON, one record per line, not tar"),
        ])
    func misleadingName(name: String, words: String) throws {
        let finished = try pingferry("convert", "-o", folder(name), sample("webxr"))
        #expect(finished.status == 0)
        #expect(
            finished.errors == """
                pingferry: \(folder(name)): contains \(words) as its name suggests
                hint: use the extension .ndjson or .ndjson.zst

                """)
        #expect(try pingferry("convert", "-q", "--force", "-o", folder(name), sample("webxr")).errors == "")
    }

    @Test(
        "Other names cause no warning",
        arguments: ["x.csv", "x.sqlite", "x.ndjson", "x.jsonl", "x.ndjson.zst", "x", "x.zst", "csv", "x.v2", "a.csv/x"])
    func suitableName(name: String) throws {
        try folder.makeFolder("a.csv")
        #expect(try pingferry("convert", "-o", folder(name), sample("webxr")).errors == "")
    }
}
