import Hashing
import Systems
import Telemetry
import TestSupport
import Testing

@Suite struct IndexKeyTests {
    private func record(_ type: String, _ id: String, _ payload: String = "{}", notes: [String] = []) -> Record {
        Record(
            system: .mozilla, type: type, id: id, client: "c", payload: Array(payload.utf8),
            source: Source(capture: "phone", path: "p", store: .mozillaPingFile, index: 0), notes: notes)
    }

    @Test("The key is made of the hashes that the article specifies")
    func documentedHashes() {
        let key = IndexKey(record("core", "ID-1", #"{"a":1}"#))
        let identity = ContentHash(of: Array("7:mozilla4:core4:ID-1".utf8)).leadingWords
        let content = ContentHash(of: Array(#"{"a":1}"#.utf8)).leadingWords
        #expect(key.identity == identity.high)
        #expect(key.contentHigh == content.high && key.contentLow == content.low)
    }

    @Test func onlySystemTypeIDAndPayloadMatter() {
        let key = IndexKey(record("core", "1"))
        #expect(IndexKey(record("core", "1", notes: ["C8 x"])) == key)
        let others = [
            record("core", "2"), record("event", "1"), record("core1", ""), record("cor", "e1"),
            record("core", "1", "[]"),
        ]
        #expect(Set(others.map { IndexKey($0) } + [key]).count == others.count + 1)
    }

    @Test("A record with pseudonyms has another key than an equal record without them")
    func pseudonyms() throws {
        let record = record("core", "1")
        var marked = record
        marked.held = [.pseudonymized]
        marked.notes = ["pseudonymized 0123456789abcdef"]
        let keyID = try #require(marked.pseudonymKeyID)
        #expect(IndexKey(marked) != IndexKey(record))
        let identity = ContentHash(of: Array("7:mozilla4:core1:1\(keyID.utf8.count):\(keyID)".utf8))
        #expect(IndexKey(marked).identity == identity.leadingWords.high)
    }

    @Test func keysAreOrderedByTheirWords() {
        let words: [UInt64] = [0, 1, .max]
        let keys = words.flatMap { a in
            words.flatMap { b in words.map { IndexKey(identity: a, contentHigh: b, contentLow: $0, rank: 0) } }
        }
        #expect(keys.shuffled().sorted() == keys)
    }
}
