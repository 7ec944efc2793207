import Bytes
import Foundation
import Hashing
import Telemetry
import Testing

@testable import Bundle

@Suite struct BundleIndexTests {
    private static let digest = String(repeating: "ab", count: 32)
    private static let ancestor = String(repeating: "0c", count: 32)

    private static func digest(_ number: UInt64) -> Digest16 { Digest16(high: number, low: 7) }

    private static func key(_ identity: UInt64, _ content: UInt64 = 0) -> RecordKey {
        RecordKey(identity: digest(identity), content: digest(content))
    }

    private static let index = BundleIndex(
        digest: digest, ancestors: [CapturedText(ancestor)], records: [key(9): 8, key(2, 5): 8, key(2, 4): 6],
        details: [digest(.max), digest(1)])

    @Test func indexHasTheDocumentedForm() {
        let header =
            #"{"ancestors":["\#(Self.ancestor)"],"details":2,"digest":"\#(Self.digest)","format":"pingferry-index","#
            + #""records":3,"version":1}"# + "\n"
        func words(_ words: UInt8...) -> [UInt8] { words.flatMap { [0, 0, 0, 0, 0, 0, 0, $0] } }
        var expected = Array(header.utf8)
        expected += words(2, 7, 4, 7, 6) + words(2, 7, 5, 7, 8) + words(9, 7, 0, 7, 8)
        expected += words(1, 7) + [UInt8](repeating: 0xFF, count: 8) + words(7)
        #expect(Self.index.bytes == expected + ContentHash(of: expected).bytes)
    }

    @Test func indexRoundTrips() throws {
        #expect(try BundleIndex(Self.index.bytes) == Self.index)
        let empty = BundleIndex(digest: Self.digest, ancestors: [], records: [:], details: [])
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
        (#""details":2,"#, #""details":2, "#, .malformed),
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

    @Test("Keys that are not in ascending order are rejected, because equal bundles have equal indexes")
    func unsortedKeys() throws {
        let bytes = Self.index.bytes.dropLast(32)
        let keys = try #require(bytes.firstIndex(of: UInt8(ascii: "\n"))) + 1
        let details = keys + 3 * 40
        // The first two keys are exchanged, or the second one is replaced by the first one.
        for (start, size) in [(keys, 40), (details, 16)] {
            let (first, second) = (bytes[start..<start + size], bytes[start + size..<start + 2 * size])
            for pair in [second + first, first + first] {
                let changed = Array(bytes[..<start] + pair + bytes[(start + 2 * size)...])
                let hash = ContentHash(of: changed)
                #expect(throws: BundleIndexError.malformed) { try BundleIndex(changed + hash.bytes) }
            }
        }
    }

    @Test("Two copies of a record in one index are rejected, because only one is kept")
    func repeatedCopy() throws {
        var bytes = Array(Self.index.bytes.dropLast(32))
        let start = try #require(bytes.firstIndex(of: UInt8(ascii: "\n"))) + 1
        // The second key gets the payload of the first one, and keeps its higher rank.
        bytes[start + 40 + 23] = 4
        #expect(throws: BundleIndexError.malformed) { try BundleIndex(bytes + ContentHash(of: bytes).bytes) }
    }

    // MARK: Copies

    /// Returns earlier bundles whose indexes contain the given records.
    private static func earlier(_ indexes: [RecordKey: UInt64]...) -> EarlierBundles {
        var earlier = EarlierBundles()
        for records in indexes {
            earlier.add(BundleIndex(digest: digest, ancestors: [], records: records, details: []))
        }
        return earlier
    }

    @Test func keysAreFound() {
        let earlier = Self.earlier([Self.key(9): CopyRank.notHeld.indexNumber], Self.index.records)
        func finding(_ key: RecordKey) -> DuplicateIndex.Finding { earlier.finding(for: key, rank: .notHeld) }
        for key in Self.index.records.keys { #expect(finding(key) == .duplicate) }
        for content: UInt64 in [0, 3, 6] { #expect(finding(Self.key(2, content)) == .sameIDOtherPayload) }
        for identity: UInt64 in [0, 1, 3, 8, 10, .max] { #expect(finding(Self.key(identity)) == .new) }
        #expect(EarlierBundles().finding(for: Self.key(2), rank: .notHeld) == .new)
    }

    @Test("A copy is omitted only if the index contains a better copy, or one with the same holds")
    func ranks() {
        let (free, headers) = (CopyRank([]), CopyRank([Hold("headers")]))
        let (delivered, two) = (CopyRank([.delivered(status: 200)]), CopyRank([Hold("headers"), Hold("metadata")]))
        let forgotten = CopyRank([.forgotten, Hold("attribution")])
        let ordered = [forgotten, delivered, CopyRank([.optedOut]), free, headers, two]
        let key = Self.key(1)
        for (worse, known) in ordered.enumerated() {
            for (better, copy) in ordered.enumerated() {
                let finding = Self.earlier([key: known.indexNumber]).finding(for: key, rank: copy)
                #expect(finding == (better < worse ? .new : .duplicate), "\(better) after \(worse)")
            }
        }
        // Which of these is kept depends on their texts, so a reader of both decides.
        let metadata = CopyRank([Hold("metadata")])
        #expect(Self.earlier([key: headers.indexNumber]).finding(for: key, rank: metadata) == .new)
        // The best copy of several indexes is kept.
        let numbers = [two, delivered, free].map(\.indexNumber)
        let union = Self.earlier([key: numbers[0]], [key: numbers[1]], [key: numbers[2]])
        #expect(union.records == [key: delivered.indexNumber])
    }
}
