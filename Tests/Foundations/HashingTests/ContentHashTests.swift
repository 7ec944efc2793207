import Testing

@testable import Hashing

@Suite struct ContentHashTests {
    /// The SHA-256 digest of no bytes, as `sha256sum` prints it.
    private let emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    @Test func hexadecimalDigestRoundTrips() throws {
        #expect(ContentHash(of: []).hex == emptyDigest)
        #expect(ContentHash(hex: emptyDigest) == ContentHash(of: []))
    }

    @Test func invalidDigestsAreRejected() {
        for text in [
            "", String(emptyDigest.dropLast()), emptyDigest + "0", emptyDigest.uppercased(),
            "g" + emptyDigest.dropFirst(),
        ] {
            #expect(ContentHash(hex: text) == nil, "\(text)")
        }
    }

    @Test func hashesAreOrderedLikeTheirDigits() {
        let hashes = (0..<50).map { ContentHash(of: [$0]) }
        #expect(hashes.sorted().map(\.hex) == hashes.map(\.hex).sorted())
    }

    @Test func shortDigestIsThePrefixOfTheDigest() {
        let hashes = (0..<50).map { ContentHash(of: [$0]) }
        let digests = (0..<50).map { Digest16(of: [$0].span) }
        for (hash, digest) in zip(hashes, digests) {
            let bytes = digest.bytes
            let copy = [0, 0] + hash.bytes
            #expect(bytes.indices.map { bytes[$0] } == Array(hash.bytes.prefix(16)))
            #expect(Digest16(copy.span.bytes, at: 2) == digest)
        }
        #expect(digests.sorted().map(\.high) == hashes.sorted().map { hash in Digest16(hash.bytes.span.bytes).high })
    }

    @Test func prefixedLengthsSeparateTexts() {
        func digest(_ texts: String...) -> Digest16 {
            var hash = SHA256()
            for text in texts { hash.update(lengthPrefixed: text.utf8.span) }
            return Digest16(hash)
        }
        #expect(Set([digest("ab", "c"), digest("a", "bc"), digest("abc"), digest("abc", "")]).count == 4)
        let expected: [UInt8] = [2, 0, 0, 0, 0, 0, 0, 0, 0x61, 0x62]
        #expect(digest("ab") == Digest16(of: expected.span))
    }
}
