import Foundation
import TestSupport
import Testing

/// Tests of the page that `report` writes, and its options.
@Suite struct ReportCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func page(_ arguments: String..., status: Int32 = 0) throws -> String {
        let finished = try shell(#""$0" report -q --force -o "$1" "${@:2}""#, [folder("a.html")] + arguments)
        #expect(finished.status == status, "\(finished.errors)")
        return try folder.text("a.html")
    }

    /// Returns the contents of the element with an id.
    private func text(_ id: String, of page: String) throws -> String {
        let start = try #require(page.range(of: " id=\"\(id)\">"))
        let end = try #require(page.range(of: "<", range: start.upperBound..<page.endIndex))
        return String(page[start.upperBound..<end.lowerBound])
    }

    @Test func countsMatchSamples() throws {
        let page = try page(sample("focus"), sample("shop"), status: 1)
        let expected = [
            "records": "13", "uploadable": "12", "held": "1", "quarantined": "1", "duplicates": "0", "nights": "1",
            "clients": "3",
        ]
        for (id, number) in expected { #expect(try text(id, of: page) == number, "\(id)") }
        #expect(page.contains("<code><bdi>F4</bdi></code>"))
        #expect(page.contains("at byte 241"))
        #expect(page.contains("<code><bdi>pending-events</bdi></code>"))
        #expect(page.contains("Has unsent events that the device may still send itself."))
        #expect(page.contains("sift-default: not ready: 4 events pending"))
        #expect(page.contains("<bdi>Google</bdi>"))
    }

    @Test func policyAllowsOnlyOwnStyle() throws {
        let page = try page(sample("webxr"))
        let style = try #require(page.firstMatch(of: #/<style>([^<]*)<\/style>/#)?.1)
        let script =
            "import base64,hashlib,sys;print(base64.b64encode(hashlib.sha256(sys.argv[1].encode()).digest()).decode())"
        let hash = try tool("python3", "-c", script, String(style)).trimmingCharacters(in: .newlines)
        #expect(page.contains("content=\"default-src &#39;none&#39;; style-src &#39;sha256-\(hash)&#39;;"))
        #expect(!page.contains("<script"))
        #expect(!page.contains("style=\""))
        #expect(!page.contains("http:") && !page.contains("https:"))
    }

    @Test func outputIsDeterministic() throws {
        #expect(try page("-j", "1", sample("firefox")) == page("-j", "2", sample("firefox")))
    }

    @Test func filters() throws {
        #expect(try text("records", of: page("--type", "core", sample("focus"), status: 1)) == "3")
    }

    @Test func smallCountsAreHidden() throws {
        let page = try page("--minimum-count", "5", sample("focus"), sample("shop"), status: 1)
        // There are 13 records of 3 clients, and 1 of them is held.
        let expected = ["records": "10", "uploadable": "10", "held": "&lt;5", "clients": "&lt;5", "pending": "5"]
        for (id, number) in expected { #expect(try text(id, of: page) == number, "\(id)") }
        #expect(page.contains("<p id=\"masking\">"))
        for detail in ["events pending", "at byte 241", "id=\"nights\"", "Pending events:"] {
            #expect(!page.contains(detail), "\(detail)")
        }
    }

    @Test func activeClientsAndRetention() throws {
        let page = try page(sample("firefox-today"))
        let headings = ["Active clients by day", "Active clients by week", "Retention by week", "Locales"]
        for heading in headings { #expect(page.contains("<h3>\(heading)</h3>"), "\(heading)") }
        #expect(page.contains("<code><bdi>glean.<wbr>validation.<wbr>pings_submitted</bdi></code>"))
    }

    @Test func bundleIsIdentifiedByDigest() throws {
        let bundled = try pingferry("bundle", "-o", folder("b.tar.zst"), sample("webxr"))
        let digest = try #require(bundled.lines.last { $0.hasPrefix("digest ") }?.dropFirst("digest ".count))
        #expect(try page(folder("b.tar.zst")).contains("<code>\(digest)</code>"))
    }

    @Test func pseudonymizedPageCountsOmittedData() throws {
        let key = try folder.put("a key that is no secret, for tests", "key", mode: 0o600)
        let inputs = [sample("damaged"), sample("shop")]
        let page = try page("--pseudonymize", key, inputs[0], inputs[1], status: 1)
        let plain = try self.page(inputs[0], inputs[1], status: 1)
        for id in ["records", "clients", "quarantined", "problems", "events", "days"] {
            #expect(try text(id, of: page) == text(id, of: plain), "\(id)")
        }
        #expect(try text("uploadable", of: page) == "0")
        #expect(try text("key", of: page).wholeMatch(of: /[0-9a-f]{8}/) != nil)
        for name in ["damaged", "shop", "Containers", "at byte"] {
            #expect(plain.contains(name), "\(name)")
            #expect(!page.contains(name), "\(name)")
        }
    }

    @Test func jsonSummary() throws {
        let finished = try pingferry("report", "--json", "-o", folder("a.html"), sample("webxr"))
        let json = try finished.json()
        #expect(json["clients"] as? Int == 1)
        #expect((json["totals"] as? [String: Any])?["records"] as? Int == 6)
        #expect(json["size"] as? Int == (try folder.data("a.html")).count)
    }

    @Test func existingPageIsKept() throws {
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder("a.html")))
        let finished = try pingferry("report", "-o", folder("a.html"), sample("webxr"))
        #expect(finished.status == 73)
        #expect(try folder.text("a.html") == "mine")
        #expect(folder.names == ["a.html"])
    }

    @Test func nothingIsWrittenWithoutInput() throws {
        #expect(try pingferry("report", "-o", folder("a.html"), folder("none")).status == 66)
        #expect(folder.names.isEmpty)
    }

    @Test(arguments: [["--minimum-count", "0"], ["--minimum-count", "x"], ["--json", "-o", "-"], ["--at", "noon"]])
    func usage(options: [String]) throws {
        let finished = try shell(#""$0" report -o "$1" "$2" "${@:3}""#, [folder("a.html"), sample("webxr")] + options)
        #expect(finished.status == 64)
        #expect(folder.names.isEmpty)
    }
}
