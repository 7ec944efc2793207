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
        return filter.passes(record)
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
