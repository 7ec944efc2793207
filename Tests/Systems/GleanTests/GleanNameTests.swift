import Testing

@testable import Glean

@Suite struct GleanNameTests {
    private static let digits = "0b9c7a5e6d214f7b8f0c3e1d2a4b5c60"
    private static let spelled = "0b9c7a5e-6d21-4f7b-8f0c-3e1d2a4b5c60"

    @Test(
        "UUIDs are recognized in all spellings that the SDK accepts [G14]",
        arguments: [spelled, spelled.uppercased(), digits, "{\(spelled)}", "urn:uuid:\(spelled)"])
    func acceptedUUIDs(name: String) {
        #expect(GleanName.digits(ofUUID: name.utf8.span) == Array(Self.digits.utf8))
    }

    @Test(
        "Names that are not UUIDs are rejected",
        arguments: [
            "", "\(spelled).json", "\(spelled) (1)", "{\(spelled)", "urn:uuid:{\(spelled)}", "URN:UUID:\(spelled)",
            String(spelled.dropLast()), String(digits.dropLast()) + "g", "{\(digits)}", "-\(digits.dropLast())",
        ])
    func rejectedUUIDs(name: String) {
        #expect(GleanName.digits(ofUUID: name.utf8.span) == nil)
    }

    @Test(
        "Ping names are checked against the grammar",
        arguments: [
            ("baseline", true), ("fx-suggest", true), ("old_ping", true), ("a", true),
            (String(repeating: "a", count: 30), true),
            ("", false), (String(repeating: "a", count: 31), false), ("1st", false), ("-a", false), ("Baseline", false),
            ("a.b", false), ("a b", false), ("ä", false),
        ])
    func pingNames(name: String, isValid: Bool) {
        #expect(GleanName.isPingName(name.utf8.span) == isValid)
    }
}

@Suite struct GleanPathTests {
    private static let id = "0b9c7a5e-6d21-4f7b-8f0c-3e1d2a4b5c60"

    @Test(
        "A valid path is split into its parts",
        arguments: [
            "/submit/org-mozilla-ios-firefox/baseline/1/\(id)", "/submit/Org-Mozilla/baseline/999/\(id.uppercased())",
            "/submit/\(String(repeating: "a", count: 100))/a/17/\(id)",
        ])
    func validPaths(path: String) throws {
        let read = GleanPath(path.utf8.span)
        let parts = try #require(read)
        let bytes = Array(path.utf8)
        let words = path.split(separator: "/").map(String.init)
        let found = [parts.namespace, parts.ping, parts.documentID].map { String(decoding: bytes[$0], as: UTF8.self) }
        #expect(found == [words[1], words[2], words[4]])
    }

    @Test(
        "Paths outside the grammar are rejected [G26]",
        arguments: [
            "", "x", "/submit/", "submit/a/b/1/\(id)", "//submit/a/b/1/\(id)", " /submit/a/b/1/\(id)",
            "/submit/a/b/1/\(id)?v=4", "/submit/a/b/1/\(id)/", "/submit/a/b/\(id)", "/submit/a/b/c/1/\(id)",
            "/submit/telemetry/b/1/\(id)", "/submit/a/../1/\(id)", "/submit/a b/b/1/\(id)", "/submit/%2e/b/1/\(id)",
            "/submit/ä/b/1/\(id)", "/submit/a/B/1/\(id)", "/submit/a/b/0/\(id)", "/submit/a/b/01/\(id)",
            "/submit/a/b/1000/\(id)", "/submit/a/b/x/\(id)", "/submit/a/b/1/not-a-uuid", "/submit//b/1/\(id)",
            "/submit/a/b/1/\(id.replacing("-", with: ""))", "/submit/\(String(repeating: "a", count: 101))/b/1/\(id)",
            "https://incoming.telemetry.mozilla.org/submit/a/b/1/\(id)",
        ])
    func invalidPaths(path: String) {
        #expect(GleanPath(path.utf8.span) == nil)
    }
}
