import Testing

@testable import Hashing

@Suite struct ContentHashTests {
    /// SHA-256 of nothing, as `sha256sum` prints it.
    private let ofNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    @Test func textOfAHashIsReadAndWrittenAlike() throws {
        #expect(ContentHash(of: []).hex == ofNothing)
        #expect(ContentHash(hex: ofNothing) == ContentHash(of: []))
    }

    @Test func otherTextsAreNoHashes() {
        for text in [
            "", String(ofNothing.dropLast()), ofNothing + "0", ofNothing.uppercased(), "g" + ofNothing.dropFirst(),
        ] {
            #expect(ContentHash(hex: text) == nil, "\(text)")
        }
    }

    @Test func hashesAreOrderedAsTheirTexts() {
        let hashes = (0..<50).map { ContentHash(of: [$0]) }
        #expect(hashes.sorted().map(\.hex) == hashes.map(\.hex).sorted())
    }
}
