import Hashing
import Systems
import Telemetry
import TestSupport
import Testing

@Suite struct RecordKeyTests {
    private func record(_ type: String, _ id: String, _ payload: String = "{}", notes: [String] = []) -> Record {
        Record(
            system: .mozilla, type: type, id: id, client: "c", payload: Array(payload.utf8),
            source: Source(capture: "phone", path: "p", store: .mozillaPingFile, index: 0), notes: notes)
    }

    // The expected values were computed with Python.
    @Test("The key is made of the hashes that the article specifies")
    func documentedHashes() {
        let key = RecordKey(record("core", "ID-1", #"{"a":1}"#))
        #expect(key.identity == Digest16(high: 0x4f8c4357489835ee, low: 0xcce11c4882536d28))
        #expect(key.content == Digest16(high: 0x015abd7f5cc57a2d, low: 0xd94b7590f04ad808))
    }

    @Test func onlySystemTypeIDAndPayloadMatter() {
        let key = RecordKey(record("core", "1"))
        #expect(RecordKey(record("core", "1", notes: ["C8 x"])) == key)
        let others = [
            record("core", "2"), record("event", "1"), record("core1", ""), record("cor", "e1"),
            record("core", "1", "[]"),
        ]
        #expect(Set(others.map { RecordKey($0) } + [key]).count == others.count + 1)
    }

    @Test("A record with pseudonyms has another key than an equal record without them")
    func pseudonyms() {
        let record = record("core", "1")
        var marked = record
        marked.held = [.pseudonymized]
        marked.notes = ["pseudonymized 01234567"]
        #expect(RecordKey(marked).content == RecordKey(record).content)
        #expect(RecordKey(marked).identity != RecordKey(record).identity)
        #expect(RecordKey(marked).identity == Digest16(high: 0xb23c1776f61e7538, low: 0x793405a3bade344b))
    }

    @Test func keysAreOrderedByTheirBytes() {
        let words: [UInt64] = [0, 1, .max]
        let digests = words.flatMap { high in words.map { Digest16(high: high, low: $0) } }
        let keys = digests.flatMap { identity in digests.map { RecordKey(identity: identity, content: $0) } }
        #expect(keys.shuffled().sorted() == keys)
    }
}
