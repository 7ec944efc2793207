import ActivityStream
import Mozilla
import Systems
import Telemetry
import TestSupport
import Testing

/// Tests numbering equal payloads of a file.
@Suite struct RepeatedPayloadCounterTests {
    private func record(
        _ payload: String = "{}", type: String = "a", system: SystemName = .mozilla, time: Int64? = nil
    ) -> Record {
        Record(
            system: system, type: type, id: "id", time: time.map { Timestamp(clamping: $0) },
            payload: Array(payload.utf8), source: Source(capture: "c", path: "p", store: .harEntry, index: 0))
    }

    private func ids(_ counter: RepeatedPayloadCounter, _ records: [Record]) -> [String] {
        var counter = counter
        return records.map { record in
            var record = record
            counter.number(&record)
            return record.id
        }
    }

    @Test("Equal payloads of a type are numbered from the second one.")
    func types() {
        let records = [
            record(), record(type: "b"), record(), record(#"{"a":1}"#), record(type: "b"), record(), record(type: ""),
        ]
        #expect(ids(RepeatedPayloadCounter(.mozilla), records) == ["id", "id", "id#2", "id", "id#2", "id#3", "id"])
    }

    @Test("A record with a time is not numbered, and does not count.")
    func times() {
        let records = [record(time: 1), record(time: 1), record(), record(time: 1), record()]
        #expect(ids(RepeatedPayloadCounter(.mozilla), records) == ["id", "id", "id", "id", "id#2"])
    }

    @Test("Records of other systems are not numbered.")
    func systems() {
        let records = [record(system: .activityStream), record(system: .activityStream), record(), record()]
        #expect(ids(RepeatedPayloadCounter(.mozilla), records) == ["id", "id", "id", "id#2"])
        // The payloads of Activity Stream have neither an id nor a time, but those of telemetry-ios have an id.
        #expect(ids(RepeatedPayloadCounter(Systems.table), records) == ["id", "id#2", "id", "id"])
    }
}
