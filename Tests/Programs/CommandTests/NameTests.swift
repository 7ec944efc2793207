import Foundation
import TestSupport
import Testing

/// Tests of unusual names in captures and on the command line.
@Suite struct NameTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let names = [
        "with space", "new\nline", "tab\tand\u{1B}[31mred", "quote\"s'", "back\\slash", "é😀", "e\u{301}", "-dash",
        "a*b?",
        "\u{202E}right", String(repeating: "n", count: 200),
    ]

    @Test(arguments: names) func captureWithUnusualNameIsBundled(name: String) throws {
        let capture = try folder.copySample("webxr", to: name)
        let bundle = folder("a.tar.zst")
        let finished = try pingferry("bundle", "-o", bundle, capture)
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(try pingferry("verify", bundle).status == 0)
        let line = try #require(try pingferry("convert", "-o", "-", bundle).lines.first)
        let record = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let label = try #require((record["source"] as? [String: Any])?["capture"] as? String)
        // The bytes are compared, because different encodings of é are equal strings.
        #expect(Array(label.utf8) == Array(name.utf8))
    }

    @Test func pingWithInvalidUTF8NameIsRead() throws {
        let capture = try folder.copySample("focus")
        let rename =
            #"cd "$1/Documents/MozTelemetry-Default-core" && mv -- -t-1583154291.7114122.json "$(printf 'a\377.json')""#
        #expect(try shell(rename, [capture]).status == 0)
        let finished = try pingferry("convert", "-q", "-o", "-", capture)
        #expect(finished.lines.count == 7)
        #expect(finished.lines.filter { $0.contains("a\u{FFFD}.json") }.count == 1)
    }

    @Test func folderWithInvalidUTF8NameIsRead() throws {
        let copy = #"mkdir "$1" && cp -R "$2" "$1/$(printf 'd\377')""#
        #expect(try shell(copy, [folder("capture"), sample("webxr")]).status == 0)
        let finished = try pingferry("scan", "--json", folder("capture"))
        #expect(finished.status == 0)
        #expect((try finished.json()["totals"] as? [String: Any])?["records"] as? Int == 6)
    }

    @Test func deeplyNestedStores() throws {
        let capture = try folder.makeFolder("deep")
        let script = """
            import os, shutil, sys
            for depth in (15, 30):
                here = os.open(sys.argv[1], os.O_RDONLY)
                for _ in range(depth):
                    name = "d" * 200 + str(depth)
                    os.mkdir(name, dir_fd=here)
                    here = os.open(name, os.O_RDONLY, dir_fd=here)
                os.mkdir("MozTelemetry-Default-core", dir_fd=here)
                here = os.open("MozTelemetry-Default-core", os.O_RDONLY, dir_fd=here)
                for ping in os.listdir(sys.argv[2]):
                    with open(os.path.join(sys.argv[2], ping), "rb") as stream:
                        file = os.open(ping, os.O_WRONLY | os.O_CREAT, dir_fd=here)
                        os.write(file, stream.read())
            """
        try tool("python3", "-c", script, capture, "\(sample("focus"))/Documents/MozTelemetry-Default-core")
        let finished = try pingferry("scan", "--json", capture)
        #expect(finished.status == 1)
        let scanned = try finished.json()
        #expect((scanned["totals"] as? [String: Any])?["records"] as? Int == 3)
        let problems = try #require(scanned["problems"] as? [[String: String]])
        #expect(problems.map { $0["code"] } == ["unreadable"])
        #expect(problems.first?["text"]?.hasSuffix("File name too long") == true)
        try tool("rm", "-r", capture)
    }
}
