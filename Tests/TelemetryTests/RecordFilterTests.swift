import ActivityStream
import Leanplum
import Mozilla
import Sift
import Telemetry
import Testing

/// Which records a filter lets pass.
@Suite struct RecordFilterTests {
    private static let noon = Timestamp(milliseconds: 1_527_163_200_000)
    private static let justBefore = Timestamp(milliseconds: 1_527_163_199_999)
    private static let justAfter = Timestamp(milliseconds: 1_527_163_200_001)

    private func record(
        client: String? = "4F8E2D6A", time: Timestamp? = noon, held: [Hold] = [], system: SystemName = .mozilla
    ) -> Record {
        Record(
            system: system, type: "core", id: "x", client: client, time: time, payload: [],
            source: Source(capture: "", path: "", store: .mozillaPingFile, index: 0), held: held)
    }

    private func passes(_ record: Record, _ change: (inout RecordFilter) -> Void) -> Bool {
        var filter = RecordFilter()
        change(&filter)
        var findings = FilterFindings()
        return filter.passes(record, noting: &findings)
    }

    @Test("without conditions everything passes")
    func noConditions() {
        #expect(passes(record()) { _ in })
        #expect(passes(record(client: nil, time: nil, held: [.noTarget])) { _ in })
    }

    @Test("systems and types")
    func systemsAndTypes() {
        #expect(passes(record()) { $0.systems = [.mozilla] })
        #expect(passes(record()) { $0.systems = [.mozilla, .sift] })
        #expect(!passes(record()) { $0.systems = [.sift, .leanplum, .activityStream] })
        #expect(passes(record()) { $0.types = ["core"] })
        #expect(!passes(record()) { $0.types = ["Core", "focus-event"] })
    }

    @Test("the first instant counts, the last does not")
    func times() {
        #expect(passes(record()) { $0.since = Self.noon })
        #expect(!passes(record()) { $0.since = Self.justAfter })
        #expect(!passes(record()) { $0.until = Self.noon })
        #expect(passes(record()) { $0.until = Self.justAfter })
        #expect(passes(record()) { ($0.since, $0.until) = (Self.justBefore, Self.justAfter) })
        #expect(!passes(record()) { ($0.since, $0.until) = (Self.noon, Self.noon) })
    }

    @Test("a record without a time passes no condition on time")
    func unknownTime() {
        #expect(!passes(record(time: nil)) { $0.since = Timestamp(milliseconds: 0) })
        #expect(!passes(record(time: nil)) { $0.until = Self.justAfter })
    }

    @Test("records without a time are counted where a time is all that is wrong with them")
    func withoutTime() {
        var filter = RecordFilter()
        filter.since = Self.noon
        filter.types = ["core"]
        var findings = FilterFindings()
        #expect(!filter.passes(record(time: nil), noting: &findings))
        #expect(!filter.passes(record(time: Self.justBefore), noting: &findings))
        #expect(filter.passes(record(), noting: &findings))
        #expect(findings.withoutTime == 1)
        filter.types = ["other"]
        #expect(!filter.passes(record(time: nil), noting: &findings))
        #expect(findings.withoutTime == 1)
        (filter.types, filter.since) = ([], nil)
        #expect(filter.passes(record(time: nil), noting: &findings))
        #expect(findings.withoutTime == 1)
    }

    @Test("a value that no record has is told, and one that only other conditions leave out is not")
    func unmatched() {
        var filter = RecordFilter()
        filter.systems = [.mozilla, .sift]
        filter.types = ["core", "corr", "b"]
        filter.clients = ["4f8e2d6a", "xyz"]
        filter.uploadableOnly = true
        var (findings, others) = (FilterFindings(), FilterFindings())
        #expect(!filter.passes(record(held: [.noTarget]), noting: &findings))
        let missing = findings.unmatched(of: filter).map { "\($0.condition) \($0.value)" }
        #expect(missing == ["client xyz", "system sift", "type b", "type corr"])
        #expect(filter.passes(record(client: "XYZ", system: .sift), noting: &others))
        findings.add(others)
        #expect(findings.unmatched(of: filter).map(\.value) == ["b", "corr"])
        #expect(FilterFindings().unmatched(of: RecordFilter()) == [])
    }

    @Test("clients are compared without letter case")
    func clients() {
        #expect(passes(record()) { $0.clients = ["4f8e2d6a"] })
        #expect(passes(record(client: "4f8e2D6a")) { $0.clients = ["4f8e2d6a", "x"] })
        #expect(!passes(record()) { $0.clients = ["4f8e2d6b"] })
        #expect(!passes(record(client: nil)) { $0.clients = ["4f8e2d6a"] })
    }

    @Test("held records are not uploadable")
    func uploadable() {
        #expect(passes(record()) { $0.uploadableOnly = true })
        #expect(!passes(record(held: [.tooFewEvents])) { $0.uploadableOnly = true })
    }

    @Test("all conditions have to hold")
    func together() {
        let all: (inout RecordFilter) -> Void = {
            $0.systems = [.mozilla]
            $0.types = ["core"]
            ($0.since, $0.until) = (Self.noon, Self.justAfter)
            $0.clients = ["4f8e2d6a"]
            $0.uploadableOnly = true
        }
        #expect(passes(record(), all))
        #expect(!passes(record(system: .sift), all))
        #expect(!passes(record(client: "x"), all))
        #expect(!passes(record(time: Self.justAfter), all))
        #expect(!passes(record(held: [.noTarget]), all))
    }
}
