import Foundation
import Hashing
import JSONText
import Telemetry
import Testing

@testable import Bundle

@Suite struct ManifestTests {
    private func text() async throws -> String {
        let members = try SampleBundle.members(try await SampleBundle.small())
        return String(decoding: try #require(members.last).contents, as: UTF8.self)
    }

    @Test func manifestRoundTrips() async throws {
        let bytes = Array(try await text().utf8)
        #expect(try Manifest(bytes).bytes == bytes)
    }

    @Test func manifestIsOneCanonicalLine() async throws {
        let text = try await text()
        #expect(text.hasPrefix(#"{"digest":""#))
        #expect(text.hasSuffix("\"version\":1}\n"))
        #expect(
            text.contains(#""held":{},"records":3,"system":{"mozilla":3},"type":{"mozilla/core":3},"uploadable":3"#))
    }

    @Test func totalsThatExceedTheLargestIntegerAreSaturated() throws {
        var totals = BundleTotals()
        for (count, type) in [(Int.max, "core"), (1, "core"), (2, "event")] {
            totals.add(count, ofType: type, in: "mozilla")
        }
        for count in [Int.max, 1] {
            totals.addUploadable(count)
            totals.addHeld(count, code: "schema")
        }
        var doubled = totals
        doubled.add(totals)
        for sum in [totals, doubled] {
            #expect(sum.records == .max && sum.uploadableCount == .max && sum.holds == ["schema": .max])
            #expect(sum.systems == ["mozilla": .max])
        }
        #expect(totals.types == ["mozilla/core": .max, "mozilla/event": 2])
        #expect(doubled.types == ["mozilla/core": .max, "mozilla/event": 4])
        // A manifest with such totals is not valid, nor is one whose types have a larger sum than a count can be.
        let counts = #""mozilla/core":9007199254740991,"mozilla/event":1"#
        let text = #"{"held":{},"records":2,"system":{"mozilla":9007199254740991},"type":{\#(counts)},"uploadable":0}"#
        #expect(BundleTotals(try JSONFields(totals.json.bytes)) == nil)
        #expect(BundleTotals(try JSONFields(Array(text.utf8))) == nil)
    }

    /// Parts of the manifest, their replacements, and the expected messages.
    private static let faults = [
        (#""format":"pingferry-bundle""#, #""format":"other""#, "manifest.json: it is not a manifest of a bundle"),
        (
            "\"inputs\":", "\"input\":",
            "manifest.json: its list of inputs is missing"
        ),
        (
            "\"parents\":", "\"parent\":",
            "manifest.json: its parents or the numbers of omitted contents are missing"
        ),
        (
            "\"problems\":0", "\"problems\":1",
            "manifest.json: it omits contents, but has no parents"
        ),
        ("\"version\":1", "\"version\":2", "bundle format version 2 is not supported"),
        (
            "\"tool\"", "\"pseudonymized\":\"01E15C1D\",\"tool\"",
            "manifest.json: the id of its pseudonym key is not 8 lowercase hexadecimal digits"
        ),
        ("\"version\":1", "\"version\":1.0", "bundle format version unknown is not supported"),
        ("\"duplicates\":0,", "", "manifest.json: a key is missing or has another type, or a count is out of range"),
        (
            "\"duplicates\":0", "\"duplicates\":\"0\"",
            "manifest.json: a key is missing or has another type, or a count is out of range"
        ),
        (
            "\"tool\":\"1\"", "\"tool\":null",
            "manifest.json: a key is missing or has another type, or a count is out of range"
        ),
        ("\"records\":3,\"sha256\"", "\"sha256\"", "manifest.json: the number of records of a segment is missing"),
        (
            "\"records\":3,\"sha256\"", "\"records\":-1,\"sha256\"",
            "manifest.json: the number of records of a segment is not an integer from 0 to 9007199254740991"
        ),
        ("\"path\":\"clients.ndjson\",", "", "manifest.json: a member has no path or hash"),
        (
            "\"bytes\":", "\"bytes\":9007199254740992,\"size\":",
            "manifest.json: the size of a member is not an integer from 0 to 9007199254740991"
        ),
    ]

    @Test(arguments: faults) func faultsAreReported(text: String, replacement: String, description: String) async throws
    {
        let manifest = try await self.text()
        let changed = try #require(
            manifest.range(of: text).map { manifest.replacingCharacters(in: $0, with: replacement) })
        let error = #expect(throws: BundleError.self) { try Manifest(Array(changed.utf8)) }
        #expect(error?.description == description)
    }

    /// Values of `omitted`, and the expected messages.
    private static let omittedFaults = [
        ("null", "its parents or the numbers of omitted contents are missing"),
        (#"{"problems":0,"quarantine":0}"#, "the number of omitted records is missing"),
        (
            #"{"problems":0,"quarantine":0,"records":-1}"#,
            "the number of omitted records is not an integer from 0 to 9007199254740991"
        ),
        (
            #"{"problems":0,"quarantine":9007199254740992,"records":0}"#,
            "the number of omitted quarantine entries is not an integer from 0 to 9007199254740991"
        ),
        (
            #"{"problems":9223372036854775808,"quarantine":0,"records":0}"#,
            "the number of omitted problems is not an integer from 0 to 9007199254740991"
        ),
        (
            #"{"problems":0.5,"quarantine":0,"records":0}"#,
            "the number of omitted problems is not an integer from 0 to 9007199254740991"
        ),
    ]

    @Test("A number of omitted contents that is out of range is not reported as missing", arguments: omittedFaults)
    func omittedFaultsAreReported(omitted: String, description: String) async throws {
        let none = #""omitted":{"problems":0,"quarantine":0,"records":0}"#
        let manifest = try await text()
        try #require(manifest.contains(none))
        let changed = manifest.replacing(none, with: #""omitted":\#(omitted)"#)
        let error = #expect(throws: BundleError.self) { try Manifest(Array(changed.utf8)) }
        #expect(error?.description == "manifest.json: \(description)")
    }

    @Test func malformedJSONIsRejected() {
        for text in ["", "{", "[]", "null", "\u{0}"] {
            let error = #expect(throws: BundleError.self) { try Manifest(Array(text.utf8)) }
            #expect(error?.description == "manifest.json: it is not a manifest of a bundle")
        }
    }

    @Test func digestDependsOnNamesHashesAndOrder() {
        let (hash, other) = (ContentHash(of: [0]), ContentHash(of: [1]))
        func member(_ path: String, _ sha256: ContentHash) -> Manifest.Member {
            Manifest.Member(path: path, bytes: 0, sha256: sha256)
        }
        let members = [member("a", hash), member("b", other)]
        let digests = [
            Manifest.digest(of: members), Manifest.digest(of: members.reversed()), Manifest.digest(of: []),
            Manifest.digest(of: [member("a", other), member("b", other)]),
            Manifest.digest(of: [member("c", hash), member("b", other)]),
        ]
        #expect(Set(digests).count == digests.count)
        // The SHA-256 hash of no bytes.
        #expect(digests[2] == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }
}
