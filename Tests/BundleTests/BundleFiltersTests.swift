import Files
import JSONText
import Systems
import Telemetry
import Testing

@testable import Bundle

@Suite struct BundleFiltersTests {
    private static var filter: RecordFilter {
        var filter = RecordFilter()
        filter.systems = [.mozilla, .adjust]
        filter.types = ["focus-event", "core", "cafe\u{301}", "caf\u{E9}"]
        filter.clients = ["B", "a"]
        filter.since = Timestamp(rfc3339: "2020-03-02")
        filter.uploadableOnly = true
        return filter
    }

    private static let text =
        #"{"client":["a","b"],"since":"2020-03-02T00:00:00.000Z","system":["adjust","mozilla"],"#
        + #""type":["cafe\u{301}","caf\u{E9}","core","focus-event"],"uploadable":true}"#

    /// Packs a bundle without records, and returns its manifest as it was written.
    private func manifest(_ filters: BundleFilters?, keyID: String? = nil, inputs: [BundleInput] = []) async throws
        -> Manifest
    {
        var bytes: [UInt8] = []
        var assembler = try BundleAssembler(level: 1, toolVersion: "1", limit: JobLimit(jobs: 1))
        try await assembler.add(SampleBundle.spill([QuarantineEntry]())) { _, _ in
            []
        } to: {
            bytes.append(copying: $0)
        }
        let manifest = try assembler.finish(
            problems: SampleBundle.spill([LocatedProblem]()), duplicateCount: 0, emptyKeyID: keyID, filters: filters,
            inputs: inputs
        ) { bytes.append(copying: $0) }
        let read = try BundleReader(bytes: bytes).manifest
        #expect(read.bytes == manifest.bytes)
        #expect(read.filters == manifest.filters)
        return read
    }

    @Test func filtersAreStatedInTheManifest() async throws {
        #expect(BundleFilters(RecordFilter()) == nil)
        let filters = try #require(BundleFilters(Self.filter))
        let manifest = try await manifest(filters)
        let text = Self.text.replacing("\\u{301}", with: "\u{301}").replacing("\\u{E9}", with: "\u{E9}")
        #expect(String(decoding: manifest.bytes, as: UTF8.self).contains(#""filters":\#(text),"format""#))
        #expect(
            filters.description.utf8.elementsEqual(
                """
                --client a --client b --since 2020-03-02T00:00:00.000Z --system adjust --system mozilla \
                --type cafe\u{301} --type caf\u{E9} --type core --type focus-event --uploadable
                """.utf8))
    }

    @Test("A bundle that is made of others states their filters, but with pseudonyms no client ids")
    func filtersOfInputs() async throws {
        let filtered = try await manifest(BundleFilters(Self.filter))
        let merged = try await manifest(nil, inputs: [BundleInput(bundle: filtered, label: "a.tar.zst")])
        #expect(merged.filters == nil)
        #expect(merged.inputs.entries.first?.filters == filtered.filters)
        let hidden = try await manifest(
            BundleFilters(Self.filter), keyID: "01e15c1d",
            inputs: [BundleInput(bundle: filtered, label: "a.tar.zst")])
        for filters in [hidden.filters, hidden.inputs.entries.first?.filters] {
            #expect(filters?.description.hasPrefix("--client --since") == true)
        }
    }

    @Test(arguments: [
        #"{}"#, #"[]"#, #"{"type":[]}"#, #"{"type":"core"}"#, #"{"type":["b","a"]}"#, #"{"type":["a","a"]}"#,
        #"{"since":"yesterday"}"#, #"{"since":"2020-03-02"}"#, #"{"uploadable":false}"#, #"{"host":["x"]}"#,
        #"{"type":["a"],"host":["x"]}"#, #"{"client":[]}"#,
    ])
    func malformedFilters(filters: String) async throws {
        let bytes = try SampleBundle.changingManifest(try await SampleBundle.small()) {
            $0.replacing(#""format""#, with: #""filters":\#(filters),"format""#)
        }
        #expect(throws: BundleError.self) { try BundleReader(bytes: bytes) }
    }
}
