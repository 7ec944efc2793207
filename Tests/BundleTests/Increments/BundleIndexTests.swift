import Bytes
import Foundation
import Hashing
import Telemetry
import Testing

@testable import Bundle

@Suite struct BundleIndexTests {
    private static let digest = String(repeating: "ab", count: 32)
    private static let ancestor = String(repeating: "0c", count: 32)

    private static func key(_ identity: UInt64, _ content: UInt64 = 0, rank: UInt64 = 8) -> IndexKey {
        IndexKey(identity: identity, contentHigh: content, contentLow: 7, rank: rank)
    }

    private static let index = BundleIndex(
        digest: digest, ancestors: [CapturedText(ancestor)], records: IndexKeySet([key(9), key(2, 5), key(2, 4)]),
        details: IndexKeySet([key(UInt64.max)]))

    @Test func indexHasTheDocumentedForm() {
        let header =
            #"{"ancestors":["\#(Self.ancestor)"],"details":1,"digest":"\#(Self.digest)","format":"pingferry-index","#
            + #""records":3,"version":1}"# + "\n"
        func words(_ words: UInt8...) -> [UInt8] { words.flatMap { [0, 0, 0, 0, 0, 0, 0, $0] } }
        var expected = Array(header.utf8) + words(2, 4, 7, 8) + words(2, 5, 7, 8) + words(9, 0, 7, 8)
        expected += [UInt8](repeating: 0xFF, count: 8) + words(0, 7, 8)
        #expect(Self.index.bytes == expected + ContentHash(of: expected).bytes)
    }

    @Test func indexRoundTrips() throws {
        #expect(try BundleIndex(Self.index.bytes) == Self.index)
        let empty = BundleIndex(digest: Self.digest, ancestors: [], records: IndexKeySet(), details: IndexKeySet())
        #expect(try BundleIndex(empty.bytes) == empty)
    }

    @Test func everyCutIsRejected() {
        let bytes = Self.index.bytes
        for count in bytes.indices {
            #expect(throws: BundleIndexError.self, "\(count) bytes") { try BundleIndex(Array(bytes[..<count])) }
        }
    }

    @Test func everyChangedByteIsRejected() {
        for position in Self.index.bytes.indices {
            var bytes = Self.index.bytes
            bytes[position] ^= 0x20
            #expect(throws: BundleIndexError.self, "byte \(position)") { try BundleIndex(bytes) }
        }
    }

    /// Changes of the text before the checksum, which is then made correct, and the expected errors.
    private static let faults: [(String, String, BundleIndexError)] = [
        ("pingferry-index", "other", .notAnIndex),
        (#""version":1"#, #""version":2"#, .unsupportedVersion(2)),
        (#""version":1"#, #""version":"1""#, .unsupportedVersion(nil)),
        (#""records":3"#, #""records":4"#, .malformed),
        (#""records":3"#, #""records":2"#, .malformed),
        (#""records":3"#, #""records":-3"#, .malformed),
        (#""records":3"#, #""records":9223372036854775807"#, .malformed),
        (#""details":1,"#, #""details":1, "#, .malformed),
        (String(digest.prefix(8)), "ABABABAB", .malformed),
        (String(ancestor.prefix(8)), "xxxxxxxx", .malformed),
        // A bundle cannot continue itself.
        (ancestor, digest, .malformed),
    ]

    @Test(arguments: faults)
    func malformedIndexIsRejected(text: String, replacement: String, error: BundleIndexError) throws {
        let bytes = Self.index.bytes.dropLast(32)
        let end = try #require(bytes.firstIndex(of: UInt8(ascii: "\n")))
        let header = String(decoding: bytes[..<end], as: UTF8.self).replacing(text, with: replacement)
        let changed = Array(header.utf8) + bytes[end...]
        #expect(throws: error) { try BundleIndex(changed + ContentHash(of: changed).bytes) }
    }

    @Test("A header that would need too much memory is not parsed")
    func largeHeader() {
        let header = BundleIndex.prefix + [UInt8](repeating: UInt8(ascii: " "), count: 16 << 20)
        let rest = Self.index.bytes.dropFirst(BundleIndex.prefix.count).dropLast(32)
        let bytes = header + rest
        #expect(throws: BundleIndexError.notAnIndex) { try BundleIndex(bytes + ContentHash(of: bytes).bytes) }
    }

    @Test("Keys in descending order are rejected, because they could not be found")
    func unsortedKeys() throws {
        let bytes = Self.index.bytes.dropLast(32)
        let start = try #require(bytes.firstIndex(of: UInt8(ascii: "\n"))) + 1
        let changed = Array(
            bytes[..<start] + bytes[(start + 32)..<(start + 64)] + bytes[start..<(start + 32)] + bytes[(start + 64)...])
        #expect(throws: BundleIndexError.malformed) { try BundleIndex(changed + ContentHash(of: changed).bytes) }
    }

    @Test func keysAreFound() {
        let keys = Self.index.records
        #expect(keys.finding(for: Self.key(2, 4)) == .duplicate)
        #expect(keys.finding(for: Self.key(2, 5)) == .duplicate)
        #expect(keys.finding(for: Self.key(9)) == .duplicate)
        for content: UInt64 in [0, 3, 6] { #expect(keys.finding(for: Self.key(2, content)) == .sameIDOtherPayload) }
        for identity: UInt64 in [0, 1, 3, 8, 10, .max] { #expect(keys.finding(for: Self.key(identity)) == .new) }
        #expect(IndexKeySet().finding(for: Self.key(2)) == .new)
    }

    @Test func unionIsSortedWithoutDuplicates() {
        var generator = SystemRandomNumberGenerator()
        let keys = (0..<500).map { _ in Self.key(.random(in: 0..<60, using: &generator), .random(in: 0..<4)) }
        var union = IndexKeySet()
        for part in stride(from: 0, to: 500, by: 50) { union.formUnion(Array(keys[part..<part + 50])) }
        #expect(union.keys == Set(keys).sorted())
        #expect(union == IndexKeySet(keys))
    }

    @Test("Two copies of a record in one index are rejected, because only one could be found")
    func repeatedCopy() throws {
        var bytes = Array(Self.index.bytes.dropLast(32))
        let start = try #require(bytes.firstIndex(of: UInt8(ascii: "\n"))) + 1
        // The second key gets the payload of the first one, and a higher rank.
        bytes[start + 32 + 15] = 4
        bytes[start + 32 + 31] = 9
        #expect(throws: BundleIndexError.malformed) { try BundleIndex(bytes + ContentHash(of: bytes).bytes) }
    }

    @Test("A copy is omitted only if the index contains a better copy, or one with the same holds")
    func ranks() {
        func key(_ holds: [Hold]) -> IndexKey { Self.key(1, rank: CopyRank(holds).indexNumber) }
        let (free, headers, metadata) = (key([]), key([Hold("headers")]), key([Hold("metadata")]))
        let (delivered, two) = (key([.delivered(status: 200)]), key([Hold("headers"), Hold("metadata")]))
        let ordered = [key([.forgotten, Hold("attribution")]), delivered, key([.optedOut]), free, headers, two]
        for (worse, known) in ordered.enumerated() {
            for (better, copy) in ordered.enumerated() {
                let finding = IndexKeySet([known]).finding(for: copy)
                #expect(finding == (better < worse ? .new : .duplicate), "\(better) after \(worse)")
            }
        }
        // Which of these is kept depends on their texts, so a reader of both decides.
        #expect(IndexKeySet([headers]).finding(for: metadata) == .new)
        #expect(IndexKeySet([headers]).contains(metadata))
        #expect(IndexKeySet([two, free, delivered]).keys == [delivered])
    }
}
