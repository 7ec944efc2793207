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
}
