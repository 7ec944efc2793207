import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Tests that reusing the result for the last path does not change the results.
@Suite struct SubmitPathReaderTests {
    private static let ids = ["0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B11", "ffffffff-0000-4000-8000-00000000000a"]
    private static let rest = "core/Focus/5.0/release/2?v=4"

    /// The parts of a path.
    private struct Parts: Equatable {
        let id: String
        let type: String
        let app: App?
    }

    private static func parts(_ path: SubmitPath, of text: [UInt8], app: App?) -> Parts {
        Parts(
            id: String(decoding: text[path.documentID], as: UTF8.self),
            type: String(decoding: text[path.type], as: UTF8.self), app: app)
    }

    /// Reads paths with one reader.
    ///
    /// Each path is in a separate document.
    private static func read(_ paths: [String], id: String? = nil) throws -> [Parts?] {
        var reader = SubmitPathReader()
        return try paths.map { path in
            var text: [UInt8] = []
            text.append(jsonString: path)
            let document = try JSONDocument(text)
            let found = reader.read(document.root, of: document)
            let app = reader.app(id: id)
            guard let found else {
                #expect(app == nil)
                return nil
            }
            return parts(found, of: Array(path.utf8), app: app)
        }
    }

    /// Parses each path without a reader.
    private static func readAfresh(_ paths: [String], id: String? = nil) -> [Parts?] {
        paths.map { path in
            let text = Array(path.utf8)
            guard let found = SubmitPath(text.span) else { return nil }
            return parts(found, of: text, app: found.app(in: text.span, id: id))
        }
    }

    @Test("The document id, the type and the app are read from a path")
    func onePath() throws {
        let app = App(id: "org.mozilla.ios.Focus", name: "Focus", version: "5.0", channel: "release", build: "2")
        #expect(
            try Self.read(["/submit/telemetry/\(Self.ids[0])/\(Self.rest)"], id: "org.mozilla.ios.Focus")
                == [Parts(id: Self.ids[0], type: "core", app: app)])
    }

    @Test("A new reader has no app")
    func newReader() {
        var reader = SubmitPathReader()
        #expect(reader.app(id: "x") == nil)
    }

    @Test(
        "A path after another one is read correctly",
        arguments: [
            // These paths differ only in the document id.
            "/submit/telemetry/\(ids[1])/\(rest)", "/submit/telemetry/\(ids[0])/\(rest)",
            // These document ids have the same length, but are not UUIDs.
            "/submit/telemetry/0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B1g/\(rest)",
            "/submit/telemetry/0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2/11/\(rest)",
            "/submit/telemetry/0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B1?/\(rest)",
            "/submit/telemetry/0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2%2F/\(rest)",
            "/submit/telemetry/0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B1\u{1}/\(rest)",
            "/submit/telemetry/0C5A3B52_6E0B_4C8D_9F53_1D0A7E6C2B11/\(rest)",
            // These document ids have other lengths.
            "/submit/telemetry/a/\(rest)", "/submit/telemetry/\(ids[0])1/\(rest)", "/submit/telemetry//\(rest)",
            // These paths differ in a byte before or after the document id.
            "/submit/Telemetry/\(ids[0])/\(rest)", "/submit/telemetry/\(ids[0])/core/Focus/5.0/release/3?v=4",
            "/submit/telemetry/\(ids[1])/corf/Focus/5.0/release/2?v=4",
            "/submit/telemetry/\(ids[1])/core/Klar5/5.0/release/2?v=4",
            "/submit/telemetry/\(ids[1])/core/Focus/5.0/release/2?v=x",
            "/submit/telemetry/\(ids[1])/core/Focus/5/0/release/2?v=4",
            // These paths are shorter or longer.
            "/submit/telemetry/\(ids[1])/core/Focus/5.0/release/2?v=", "/submit/telemetry/\(ids[1])/\(rest)4",
            "/submit/telemetry/\(ids[1])/core/Focus/5.0/release/2", "", "/", ids[0],
        ])
    func followers(path: String) throws {
        let first = "/submit/telemetry/\(Self.ids[0])/\(Self.rest)"
        for paths in [[first, path], [path, first, path], [first, path, path, first], [path, path]] {
            #expect(try Self.read(paths) == Self.readAfresh(paths))
        }
    }

    @Test("A path whose document id is not a UUID is always parsed")
    func otherIDs() throws {
        let paths = ["ping-0001", "ping-0002", "ping/0002", "ping?0002"].map { "/submit/telemetry/\($0)/\(Self.rest)" }
        #expect(try Self.read(paths) == Self.readAfresh(paths))
        #expect(try Self.read(paths)[1]?.id == "ping-0002")
        #expect(try Self.read(paths)[2] == nil)
    }

    @Test("The app has the requested bundle id")
    func bundleIDs() throws {
        let document = try JSONDocument(Array("\"/submit/telemetry/\(Self.ids[0])/\(Self.rest)\"".utf8))
        var reader = SubmitPathReader()
        #expect(reader.read(document.root, of: document) != nil)
        for id in ["a", "a", nil, "b", nil, "a"] {
            #expect(
                reader.app(id: id) == App(id: id, name: "Focus", version: "5.0", channel: "release", build: "2"))
        }
    }

    @Test("Escaped characters in a path are unescaped")
    func escapes() throws {
        let slashed = "/submit/telemetry/\(Self.ids[0])/\(Self.rest)".map { $0 == "/" ? #"\/"# : String($0) }.joined()
        var reader = SubmitPathReader()
        for _ in 0..<2 {
            let document = try JSONDocument(Array("\"\(slashed)\"".utf8))
            let optional = reader.read(document.root, of: document)
            let path = try #require(optional)
            #expect(String(readingUTF8: document.bytes(of: document.root).extracting(path.type)) == "core")
            #expect(reader.app(id: nil)?.name == "Focus")
        }
    }
}
