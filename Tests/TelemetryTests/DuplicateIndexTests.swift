import Hashing
import Mozilla
import Sift
import Telemetry
import TestSupport
import Testing

/// Tests cases P10 and P11 of the format document: equal uploads, and different uploads with the same id.
@Suite struct DuplicateIndexTests {
    private func record(
        system: SystemName = .mozilla, type: String = "core", id: String = "0C5A3B52", payload: String = "{}"
    ) -> Record {
        Record(
            system: system, type: type, id: id, payload: Array(payload.utf8),
            source: Source(capture: "a", path: "p", store: .mozillaPingFile, index: 0))
    }

    private func key(_ record: Record) -> RecordKey { RecordKey(record) }

    private func key(_ identity: UInt64, _ content: UInt64) -> RecordKey {
        RecordKey(identity: Digest16(high: identity, low: identity), content: Digest16(high: content, low: content))
    }

    @Test("P10: The same id and payload from another source is a duplicate.")
    func samePingTwice() {
        var second = record()
        second.source = Source(capture: "b", path: "q", store: .mozillaPingArray, index: 7)
        second.notes = ["P13 x"]
        second.held = [.noTarget]
        second.client = "x"
        var index = DuplicateIndex()
        #expect(index.insert(key(record())) == .new)
        #expect(index.insert(key(second)) == .duplicate)
        #expect(index.insert(key(record())) == .duplicate)
        #expect(index.count == 1)
    }

    @Test("P11: The same id with another payload is another record.")
    func oneIDThreePings() {
        var index = DuplicateIndex()
        #expect(index.insert(key(record(payload: #"{"seq":1}"#))) == .new)
        #expect(index.insert(key(record(payload: #"{"seq":2}"#))) == .sameIDOtherPayload)
        #expect(index.insert(key(record(payload: #"{"seq":3}"#))) == .sameIDOtherPayload)
        #expect(index.insert(key(record(payload: #"{"seq":2}"#))) == .duplicate)
        #expect(index.insert(key(record(payload: #"{"seq":1}"#))) == .duplicate)
        #expect(index.count == 3)
    }

    @Test("The number of each record is found, with any payload.")
    func numbers() {
        var index = DuplicateIndex()
        for (number, content) in [(1, 1), (2, 2), (3, 1), (4, 2), (5, 3)] as [(Int, UInt64)] {
            _ = index.insert(key(7, content), number: number)
        }
        #expect([1, 2, 3, 4].map { index.number(of: key(7, $0)) } == [1, 2, 5, nil])
        #expect(index.number(of: key(8, 1)) == nil)
    }

    @Test("A dropped copy is read from its bytes.")
    func droppedCopy() throws {
        let line = Array("{\"a\":1,\"payload\":{\"b\":2},\"source\":{}}\n".utf8)
        let copy = DroppedCopy(key: key(.max, 3), line: line[...], payload: 17..<24)
        let read = try #require(DroppedCopy((Array("xy".utf8) + copy.bytes)[2...]))
        #expect(read.key == key(.max, 3) && read.isPayloadEqual)
        #expect(String(decoding: read.envelope, as: UTF8.self) == #"{"a":1,"payload":0,"source":{}}"#)
        #expect(DroppedCopy(copy.bytes[..<32]) == nil)
    }

    @Test("Another system, type or letter case makes another id.")
    func otherIdentities() {
        var index = DuplicateIndex()
        let records = [
            record(), record(system: .sift), record(type: "focus-event"), record(id: "0c5a3b52"),
            record(type: "core0", id: "C5A3B52"), record(type: "cor", id: "e0C5A3B52"), record(type: "", id: ""),
        ]
        for record in records { #expect(index.insert(key(record)) == .new) }
        #expect(Set(records.map { key($0).identity }).count == records.count)
        #expect(Set(records.map { key($0).content }).count == 1)
    }

    @Test("Keys of zeros and of ones can be inserted.")
    func keyOfZeros() {
        var index = DuplicateIndex()
        let zeros = key(0, 0)
        #expect(index.insert(zeros) == .new)
        #expect(index.insert(zeros) == .duplicate)
        #expect(index.insert(key(0, 9)) == .sameIDOtherPayload)
        #expect(index.insert(key(.max, .max)) == .new)
        #expect(index.insert(key(.max, .max)) == .duplicate)
        #expect(index.count == 3)
    }

    /// A model of the index that is based on sets.
    private struct Model {
        private var keys: Set<RecordKey> = []
        private var identities: Set<Digest16> = []

        mutating func insert(_ key: RecordKey) -> DuplicateIndex.Finding {
            let isNewIdentity = identities.insert(key.identity).inserted
            guard keys.insert(key).inserted else { return .duplicate }
            return isNewIdentity ? .new : .sameIDOtherPayload
        }
    }

    @Test("Random keys are distinguished as they are by sets.", arguments: 1...8 as ClosedRange<UInt64>)
    func randomKeys(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var index = DuplicateIndex()
        var model = Model()
        // Depending on the seed, most ids are new, or most payloads belong to a few ids.
        let identities = UInt64(1) << (seed * 2)
        for _ in 0..<20_000 {
            let identity = UInt64.random(in: 0..<identities, using: &random) &* 0x9E37_79B9_7F4A_7C15
            let content = UInt64.random(in: 0..<4000, using: &random) &* 0xBF58_476D_1CE4_E5B9
            let key = key(identity, content)
            let (found, expected) = (index.insert(key), model.insert(key))
            guard found == expected else {
                Issue.record("\(key): \(found), not \(expected)")
                return
            }
        }
    }

    @Test("Thousands of payloads with the same id are distinguished.")
    func manyPayloads() {
        var index = DuplicateIndex()
        var findings: [DuplicateIndex.Finding] = []
        for number in 0..<5000 { findings.append(index.insert(key(record(payload: "{\"seq\":\(number)}")))) }
        #expect(findings[0] == .new)
        #expect(findings.dropFirst().allSatisfy { $0 == .sameIDOtherPayload })
        for number in 0..<5000 { findings.append(index.insert(key(record(payload: "{\"seq\":\(number)}")))) }
        #expect(findings.dropFirst(5000).allSatisfy { $0 == .duplicate })
        #expect(index.count == 5000)
    }
}
