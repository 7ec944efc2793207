import Files
import Hashing
import JSONText
import Telemetry
import Testing

@testable import Bundle

/// Tests of the inputs that a manifest lists.
@Suite struct GivenInputsTests {
    private static let digest = String(repeating: "ab", count: 32)
    private static let sha256 = String(repeating: "01", count: 32)

    private static func bundle(_ label: String, of inputs: BundleInputs?) -> BundleInput {
        BundleInput(
            kind: .bundle, label: label, sha256: nil, digest: ContentHash(hex: digest), filters: nil, inputs: inputs)
    }

    /// Returns a manifest with inputs as a string.
    private func manifest(_ inputs: [BundleInput], pseudonymized: String? = nil) async throws -> String {
        var bytes: [UInt8] = []
        var assembler = try BundleAssembler(level: 1, toolVersion: "1", limit: JobLimit(jobs: 1))
        try await assembler.add(SampleBundle.spill([QuarantineEntry]())) { _, _ in
            []
        } to: {
            bytes.append(copying: $0)
        }
        let manifest = try assembler.finish(
            problems: SampleBundle.spill([LocatedProblem]()), duplicateCount: 0, emptyKeyID: pseudonymized,
            inputs: inputs
        ) { bytes.append(copying: $0) }
        // The reader accepts the manifest and parses the same values.
        #expect(try BundleReader(bytes: bytes).manifest == manifest)
        return String(decoding: manifest.bytes, as: UTF8.self)
    }

    /// Returns the part of a manifest between the format and the members.
    private func written(_ inputs: [BundleInput], pseudonymized: String? = nil) async throws -> String {
        let text = try await manifest(inputs, pseudonymized: pseudonymized)
        let start = try #require(text.range(of: #""format":"pingferry-bundle","#))
        let end = try #require(text.range(of: #""members":"#))
        return String(text[start.upperBound..<end.lowerBound])
    }

    private func fields(_ text: String) throws -> JSONFields { try JSONFields(Array(text.utf8)) }

    private func read(_ text: String, isPseudonymized: Bool = false) throws -> BundleInputs? {
        try BundleInputs(ofManifest: fields(text), isPseudonymized: isPseudonymized)
    }

    // MARK: Form

    @Test("Inputs are listed in the given order, and missing values have no keys")
    func form() async throws {
        let hash = ContentHash(hex: Self.sha256)
        let below = BundleInputs([BundleInput(kind: .log, label: "a\"\n.har", sha256: hash)])
        let inputs = [
            BundleInput(kind: .folder, label: "phone"), BundleInput(kind: .archive, label: "b.zip", sha256: hash),
            Self.bundle("m.tar.zst", of: below), Self.bundle("old.tar.zst", of: nil),
        ]
        let expected =
            #""inputs":[{"kind":"folder","label":"phone"},"#
            + #"{"kind":"archive","label":"b.zip","sha256":"\#(Self.sha256)"},{"digest":"\#(Self.digest)","#
            + #""inputs":[{"kind":"log","label":"a\"\n.har","sha256":"\#(Self.sha256)"}],"#
            + #""kind":"bundle","label":"m.tar.zst"},"#
            + #"{"digest":"\#(Self.digest)","kind":"bundle","label":"old.tar.zst"}],"#
        #expect(try await written(inputs) == expected)
        #expect(try await written([]) == #""inputs":[],"#)
    }

    @Test func manifestAndMarkerStateTheVersion() async throws {
        #expect(try await manifest([]).hasSuffix("\"version\":1}\n"))
        #expect(BundleLayout.markerContents == Array("{\"format\":\"pingferry-bundle\",\"version\":1}\n".utf8))
    }

    @Test("A pseudonymized bundle lists only the kinds of its inputs")
    func pseudonyms() async throws {
        let inputs = [
            BundleInput(kind: .store, label: "x", sha256: ContentHash(of: [1])),
            Self.bundle("m", of: BundleInputs([BundleInput(kind: .folder, label: "phone")])),
        ]
        #expect(
            try await written(inputs, pseudonymized: "01e15c1d") == #""inputs":[{"kind":"store"},{"kind":"bundle"}],"#)
    }

    private static let wronglyNamed =
        "inputs have labels although the records have pseudonyms, or lack labels although they have none"
    private static let halfNamed = "an input has no label, or an input that is a bundle has no digest"

    /// Malformed inputs and the expected messages.
    private static let malformed: [(text: String, description: String)] = [
        (#"{"inputs":[{}]}"#, "an input has an unknown kind"),
        (#"{"inputs":[{"kind":"disk","label":"a"}]}"#, "an input has an unknown kind"),
        (#"{"inputs":[{"kind":"folder"}]}"#, wronglyNamed),
        (#"{"inputs":[{"digest":"\#(digest)","kind":"bundle"}]}"#, halfNamed),
        (#"{"inputs":[{"kind":"bundle","label":"a"}]}"#, halfNamed),
        (#"{"inputs":[{"digest":"ABCD","kind":"bundle","label":"a"}]}"#, halfNamed),
        (#"{"inputs":[{"kind":"log","sha256":"\#(sha256)"}]}"#, halfNamed),
        (
            #"{"inputs":[{"kind":"folder","label":"a","sha256":"\#(sha256)"}]}"#,
            "an input of the kind folder has a hash, filters or inputs, which it cannot have"
        ),
        (
            #"{"inputs":[{"digest":"\#(digest)","kind":"log","label":"a"}]}"#,
            "an input of the kind log has a hash, filters or inputs, which it cannot have"
        ),
        (
            #"{"inputs":[{"inputs":[],"kind":"archive","label":"a"}]}"#,
            "an input of the kind archive has a hash, filters or inputs, which it cannot have"
        ),
        (#"{"inputs":[],"inputsOmitted":-1}"#, "the number of omitted inputs is out of range"),
        (#"{"inputs":[],"inputsOmitted":9007199254740992}"#, "the number of omitted inputs is out of range"),
    ]

    @Test("Malformed inputs are rejected", arguments: malformed)
    func formIsChecked(text: String, description: String) {
        let error = #expect(throws: BundleError.self) { try read(text) }
        #expect(error?.description == "manifest.json: \(description)")
    }

    @Test("A pseudonymized bundle must not identify its inputs")
    func nameAmongPseudonyms() throws {
        let error = #expect(throws: BundleError.self) {
            try read(#"{"inputs":[{"kind":"folder","label":"phone"}]}"#, isPseudonymized: true)
        }
        #expect(error?.description == "manifest.json: \(Self.wronglyNamed)")
        #expect(try read(#"{"inputs":[{"kind":"folder"}]}"#, isPseudonymized: true)?.entries.count == 1)
    }

    // MARK: Limits

    /// Returns inputs that are nested on the given number of levels.
    private func nested(_ levels: Int) -> String {
        let open = #"{"digest":"\#(Self.digest)","inputs":["#
        let close = #"],"kind":"bundle","label":"b"}"#
        let head = String(repeating: open, count: levels - 1), tail = String(repeating: close, count: levels - 1)
        return #"{"inputs":["# + head + #"{"kind":"folder","label":"phone"}"# + tail + "]}"
    }

    @Test("Inputs can be nested on eight levels, but not on more")
    func levels() throws {
        #expect(try read(nested(8))?.totalCount == 8)
        for levels in [9, 100] {
            let error = #expect(throws: BundleError.self) { try read(nested(levels)) }
            #expect(error?.description == "manifest.json: inputs are nested on more than 8 levels")
        }
    }

    @Test("More inputs or longer labels than the limits allow are rejected")
    func tooMany() throws {
        func list(_ count: Int, _ label: String) -> String {
            let entry = #"{"kind":"folder","label":"\#(label)"}"#
            return #"{"inputs":[\#(Array(repeating: entry, count: count).joined(separator: ","))]}"#
        }
        let description =
            "manifest.json: it lists more than 4096 inputs, or their labels and filters have more than 1048576 bytes"
        #expect(try read(list(4096, "a"))?.entries.count == 4096)
        #expect(try read(list(2, String(repeating: "a", count: 1 << 19)))?.entries.count == 2)
        for text in [list(4097, "a"), list(2, String(repeating: "a", count: 1 << 19 + 1))] {
            let error = #expect(throws: BundleError.self) { try read(text) }
            #expect(error?.description == description)
        }
    }

    @Test("Inputs beyond the limits on levels, number and size are counted on their level")
    func cut() {
        let phone = BundleInput(kind: .folder, label: "phone")
        var chain = phone
        for _ in 0..<10 { chain = Self.bundle("b", of: BundleInputs([chain])) }
        // There are eleven nested inputs. Three of them exceed the maximum level.
        var (depth, inputs) = (0, BundleInputs([chain]))
        #expect(inputs.totalCount == 11)
        while let next = inputs.entries.first?.inputs { (depth, inputs) = (depth + 1, next) }
        #expect((depth, inputs.entries.count, inputs.omittedCount) == (8, 0, 3))

        let thousand = BundleInputs(Array(repeating: phone, count: 1000))
        let five = BundleInputs((1...5).map { Self.bundle("b\($0)", of: thousand) })
        #expect(five.omittedCount == 0)
        #expect(five.entries.compactMap { $0.inputs?.entries.count } == [1000, 1000, 1000, 1000, 91])
        #expect(five.entries.compactMap { $0.inputs?.omittedCount } == [0, 0, 0, 0, 909])

        let half = BundleInput(kind: .folder, label: String(repeating: "x", count: 1 << 19 + 1))
        let large = BundleInputs([half, half, phone])
        #expect((large.entries.count, large.omittedCount) == (1, 2))
    }

    @Test("The list of a bundle that is repeatedly merged with itself does not grow indefinitely")
    func doubling() {
        var inputs = BundleInputs([BundleInput(kind: .folder, label: "phone")])
        var expected = 1
        for round in 1...80 {
            inputs = BundleInputs(["left", "right"].map { Self.bundle($0, of: inputs) })
            // Each round gives two bundles, each with all earlier inputs.
            expected = min(2 + 2 * expected, 9_007_199_254_740_991)
            if round <= 40 { #expect(inputs.totalCount == expected, "round \(round)") }
            var object = CanonicalObject()
            inputs.add(to: &object)
            #expect(object.bytes.count < 256 << 10)
        }
        #expect(inputs.totalCount == 9_007_199_254_740_991)
    }
}
