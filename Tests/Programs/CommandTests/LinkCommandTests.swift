import Foundation
import TestSupport
import Testing

/// Tests of reports of symbolic links, which are not followed.
@Suite struct LinkCommandTests {
    private let folder: TemporaryFolder
    private let capture: String

    init() throws {
        folder = try TemporaryFolder()
        capture = try folder.copySample("focus")
        try FileManager.default.moveItem(atPath: "\(capture)/Documents", toPath: folder("d"))
        try FileManager.default.createSymbolicLink(atPath: "\(capture)/Documents", withDestinationPath: "../d")
        // The capture also has a store, because a capture with only a link is rejected.
        try tool("cp", "-R", "\(sample("webxr"))/.", "\(capture)/other")
    }

    private let line =
        "pingferry: focus: Documents: symbolic link to ../d not followed; give that as a capture of its own"

    @Test("A link to a folder is reported, counted, and a loss", arguments: ["folder", "tar", "zip"])
    func linkToFolder(kind: String) throws {
        var path = capture
        if kind != "folder" {
            path = folder("focus.\(kind)")
            try tool("bsdtar", "-a", "-cf", path, "-C", folder.path, "focus")
        }
        let inside = kind == "folder" ? "" : "focus/"
        let finished = try pingferry("scan", "--json", "--label", "focus", path)
        #expect(finished.status == 1)
        #expect(finished.errorLines == [line.replacingOccurrences(of: ": Documents", with: ": \(inside)Documents")])
        let summary = try finished.json()
        #expect(summary["complete"] as? Bool == false)
        #expect(summary["problemCounts"] as? [String: Int] == ["link": 1, "pending-counters": 1])
        let problems = try #require(summary["problems"] as? [[String: String]]).filter { $0["code"] == "link" }
        #expect(problems.map { $0["path"] } == ["\(inside)Documents"])
        #expect(problems.first?["text"]?.contains("../d") == true)
        #expect(try pingferry("convert", "-q", "-o", folder("x.ndjson"), path).status == 1)
    }

    @Test("A bundle lists the link once")
    func listedInBundle() throws {
        #expect(try pingferry("bundle", "-q", "-o", folder("a.tar.zst"), capture).status == 1)
        let list = try pingferry("list", "--json", folder("a.tar.zst")).json()
        #expect((list["problems"] as? [[String: String]])?.map { $0["code"] } == ["link", "pending-counters"])
        let scanned = try pingferry("scan", folder("a.tar.zst"))
        #expect(scanned.status == 0)
        #expect(scanned.errors == "")
    }

    @Test("Only some of many links are printed, but all are counted")
    func manyLinks() throws {
        try folder.makeFolder("focus/many")
        for number in 0..<1500 {
            try FileManager.default.createSymbolicLink(
                atPath: "\(capture)/many/\(number)", withDestinationPath: "../../d")
        }
        let finished = try pingferry("scan", "--json", capture)
        #expect(finished.status == 1)
        #expect(finished.errorLines.count == 21)
        #expect(finished.errorLines.last == "pingferry: and 1481 more")
        let summary = try finished.json()
        #expect(summary["problemCounts"] as? [String: Int] == ["link": 1501, "pending-counters": 1])
        #expect((summary["problems"] as? [Any])?.count == 1000)
    }

    @Test("Only some of many warnings are printed, and the number of the others")
    func manyWarnings() throws {
        try FileManager.default.removeItem(atPath: "\(capture)/Documents")
        let pings = "\(capture)/pings/MozTelemetry-Default-core"
        try FileManager.default.createDirectory(atPath: pings, withIntermediateDirectories: true)
        for number in 0..<25 { try tool("mkfifo", "\(pings)/-t-\(number).json") }
        let finished = try pingferry("scan", capture)
        #expect(finished.status == 0)
        #expect(finished.errorLines.count == 21)
        #expect(finished.errorLines.last == "pingferry: and 5 more warnings")
    }
}
