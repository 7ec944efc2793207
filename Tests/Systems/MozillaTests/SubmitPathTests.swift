import Telemetry
import TestSupport
import Testing

@testable import Mozilla

extension Target {
    /// Whether uploads accept the target.
    fileprivate var isMozillaSubmission: Bool { MozillaUploads().accepts(self) }
}

/// Tests the grammar of upload paths.
///
/// Other paths are never accepted as targets, so that a capture cannot redirect requests.
@Suite struct SubmitPathTests {
    private static let id = "0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B11"

    @Test(
        "Paths of the documented form are accepted",
        arguments: [
            "/submit/telemetry/\(id)/core/Focus/5.0/release/2?v=4", "/submit/telemetry/\(id)/core/Focus/5.0/release/2",
            "/submit/telemetry/\(id)/core/Focus/5.0/release/2?v=0", "/submit/telemetry/\(id)/mobile-event/a/b/c/d?v=10",
            "/submit/telemetry/ping-0001/core/Focus/5.0/release/unknown?v=4",
            "/submit/telemetry/\(id)/core/Firefox Klar/5.0/release/2?v=4",
            "/submit/telemetry/\(id)/core/Firefox%20Klar/5.0/release/2?v=4",
            "/submit/telemetry/\(id)/core/\u{1F98A}/5.0/release/2?v=4",
            "/submit/telemetry/\(id)/core/a:b@c/.../release/..2?v=4", "/submit/telemetry/a/b/c/d/e/f",
            "/submit/telemetry/a/b/%41/%7e/e/%C3%A4",
        ])
    func documentedPaths(path: String) {
        #expect(Target(path: path).isMozillaSubmission)
        #expect(Target(path: path).isKnown(to: .mozilla))
        #expect(Target(path: path, method: "POST").isMozillaSubmission)
    }

    @Test(
        "Other paths are rejected",
        arguments: [
            "", "/", "submit/telemetry/a/b/c/d/e/f", "/Submit/telemetry/a/b/c/d/e/f", "/submit/telemetry",
            "/submit/telemetry/", "//telemetry.example/submit/telemetry/a/b/c/d/e/f",
            "//submit/telemetry/a/b/c/d/e/f", "/submit//telemetry/a/b/c/d/e/f", "/submit/telemetry//a/b/c/d/e/f",
            "https://telemetry.example/submit/telemetry/a/b/c/d/e/f", "/submit/telemetry@example/a/b/c/d/e/f",
            "/submit/pioneer/a/b/c/d/e/f", "/other/submit/telemetry/a/b/c/d/e/f", " /submit/telemetry/a/b/c/d/e/f",
            "@host/submit/telemetry/a/b/c/d/e/f",
        ])
    func otherPaths(path: String) {
        #expect(!Target(path: path).isMozillaSubmission)
    }

    @Test(
        "Paths with another number of parts, or with empty parts, are rejected",
        arguments: [
            "a/b/c/d/e", "a/b/c/d/e/", "a/b/c/d/e/f/", "a/b/c/d/e/f/g", "/b/c/d/e/f", "a//c/d/e/f", "a/b/c/d//f", "a",
            "/////", "a/b/c/d/e/?v=4",
        ])
    func partCounts(parts: String) {
        #expect(!Target(path: "/submit/telemetry/\(parts)").isMozillaSubmission)
    }

    @Test(
        "Parts that a server could resolve to another path are rejected",
        arguments: [
            "..", ".", "%2e%2e", "%2E%2e", "%2e", "a%2Fb", "a%2fb", "a%5Cb", "a\\b", "..\\x", "%2e%2e%2fadmin", "a%3Fb",
            "a%23b", "a#b", "a%00", "a%0d%0aX", "a%0D", "a%1f", "a%7F", "%", "a%", "a%4", "a%4g", "a%g4", "%%41",
        ])
    func resolvableParts(part: String) {
        for index in 0..<6 {
            var parts = ["a", "b", "c", "d", "e", "f"]
            parts[index] = part
            #expect(!Target(path: "/submit/telemetry/\(parts.joined(separator: "/"))").isMozillaSubmission, "\(index)")
        }
    }

    @Test("Control characters are rejected at any position", arguments: Array(0..<0x20) + [0x7F])
    func controlCharacters(scalar: UInt8) {
        let character = String(UnicodeScalar(scalar))
        #expect(!Target(path: "/submit/telemetry/a/b/c\(character)/d/e/f?v=4").isMozillaSubmission)
        #expect(!Target(path: "/submit/telemetry/a/b/c/d/e/f?v=4\(character)").isMozillaSubmission)
        #expect(!Target(path: "\(character)/submit/telemetry/a/b/c/d/e/f?v=4").isMozillaSubmission)
    }

    @Test("Line breaks are rejected")
    func lineBreaks() {
        let path = "/submit/telemetry/a\r\nX: y/core/Focus/5.0/release/2?v=4"
        #expect(!Target(path: path).isMozillaSubmission)
        #expect(!Target(path: "/submit/telemetry/a/b/c/d/e/f?v=4 HTTP/1.1\r\nHost: x").isMozillaSubmission)
    }

    @Test(
        "Other queries are rejected",
        arguments: [
            "?", "?v", "?v=", "?v=x", "?v=4x", "?v=-4", "?v=4&x=1", "?x=1&v=4", "?V=4", "??v=4", "?v=4?v=4", "?v=4#x",
            "#x", "?v=4.0", "?v=%34", "?v=\u{664}", "?v=4/", "? v=4", "?v=4 ",
        ])
    func otherQueries(query: String) {
        #expect(!Target(path: "/submit/telemetry/a/b/c/d/e/f\(query)").isMozillaSubmission)
    }

    @Test(
        "Only the method that the server accepts is accepted", arguments: ["GET", "PUT", "post", "DELETE", "", "POST "])
    func otherMethods(method: String) {
        #expect(!Target(path: "/submit/telemetry/a/b/c/d/e/f?v=4", method: method).isMozillaSubmission)
    }

    @Test("The document id, the type and the app are read from a path")
    func parts() throws {
        let path = Array("/submit/telemetry/\(Self.id)/core/Firefox Klar/5.0/release/2?v=4".utf8)
        let optional = SubmitPath(path.span)
        let read = try #require(optional)
        #expect(String(decoding: path[read.documentID], as: UTF8.self) == Self.id)
        #expect(String(decoding: path[read.type], as: UTF8.self) == "core")
        let app = read.app(in: path.span, id: "org.mozilla.ios.Klar")
        #expect(
            app
                == App(
                    id: "org.mozilla.ios.Klar", name: "Firefox Klar", version: "5.0", channel: "release", build: "2"))
    }

    @Test("A truncated path is rejected unless it is a valid path itself")
    func truncatedPaths() {
        let path = "/submit/telemetry/a/b/c/d/e/build?v=42"
        let whole = (0...path.count).filter { Target(path: String(path.prefix($0))).isMozillaSubmission }
        #expect(whole == [29, 30, 31, 32, 33, 37, 38])
    }
}
