import ActivityStream
import Leanplum
import Mozilla
import Sift
import Telemetry
import Testing

/// Tests which records a filter accepts.
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

    @Test("A filter without conditions accepts all records.")
    func noConditions() {
        #expect(passes(record()) { _ in })
        #expect(passes(record(client: nil, time: nil, held: [.noTarget])) { _ in })
    }

    @Test("A filter accepts only the given systems and types.")
    func systemsAndTypes() {
        #expect(passes(record()) { $0.systems = [.mozilla] })
        #expect(passes(record()) { $0.systems = [.mozilla, .sift] })
        #expect(!passes(record()) { $0.systems = [.sift, .leanplum, .activityStream] })
        #expect(passes(record()) { $0.types = ["core"] })
        #expect(!passes(record()) { $0.types = ["Core", "focus-event"] })
    }

    @Test("The range of times includes its start and excludes its end.")
    func times() {
        #expect(passes(record()) { $0.since = Self.noon })
        #expect(!passes(record()) { $0.since = Self.justAfter })
        #expect(!passes(record()) { $0.until = Self.noon })
        #expect(passes(record()) { $0.until = Self.justAfter })
        #expect(passes(record()) { ($0.since, $0.until) = (Self.justBefore, Self.justAfter) })
        #expect(!passes(record()) { ($0.since, $0.until) = (Self.noon, Self.noon) })
    }

    @Test("A condition on the time excludes records without a time.")
    func unknownTime() {
        #expect(!passes(record(time: nil)) { $0.since = Timestamp(milliseconds: 0) })
        #expect(!passes(record(time: nil)) { $0.until = Self.justAfter })
    }

    @Test("Records that are excluded only because they have no time are counted.")
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

    @Test("A value that no record has is reported, but not one that only other conditions exclude.")
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

    @Test("Clients are compared without letter case.")
    func clients() {
        #expect(passes(record()) { $0.clients = ["4f8e2d6a"] })
        #expect(passes(record(client: "4f8e2D6a")) { $0.clients = ["4f8e2d6a", "x"] })
        #expect(!passes(record()) { $0.clients = ["4f8e2d6b"] })
        #expect(!passes(record(client: nil)) { $0.clients = ["4f8e2d6a"] })
    }

    @Test("Held records are not uploadable.")
    func uploadable() {
        #expect(passes(record()) { $0.uploadableOnly = true })
        #expect(!passes(record(held: [.tooFewEvents])) { $0.uploadableOnly = true })
    }

    @Test("A record must meet all conditions.")
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
