import Bytes
import Hashing
import Testing

/// Tests with the published vectors of SHA-256, SHA-1 and HMAC-SHA-256.
@Suite struct HashVectorTests {
    private static let twoBlocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
    private static let millionLetters = String(repeating: "a", count: 1_000_000)

    /// Source: NIST, "Example values", SHA-256.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (Self.twoBlocks, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
    ])
    func sha256(_ message: String, _ digest: String) {
        #expect(SHA256.hash(message.utf8.span).hex == digest)
    }

    /// Source: NIST, "Example values", SHA-1.
    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (Self.twoBlocks, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
    ])
    func sha1(_ message: String, _ digest: String) {
        #expect(SHA1.hash(Array(message.utf8)).hex == digest)
    }

    @Test func millionLettersInOneUpdate() {
        #expect(SHA1.hash(Array(Self.millionLetters.utf8)).hex == "34aa973cd4c4daa4f61eeb2bdbad27316534016f")
        let sha256 = SHA256.hash(Self.millionLetters.utf8.span)
        #expect(sha256.hex == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    struct CodeVector: Sendable, CustomTestStringConvertible {
        let number: Int
        let key: [UInt8]
        let message: [UInt8]
        let code: String

        var testDescription: String { "test case \(number)" }
    }

    /// Source: RFC 4231, sections 4.2 to 4.4 and 4.7.
    static let codeVectors = [
        CodeVector(
            number: 1, key: [UInt8](repeating: 0x0B, count: 20), message: Array("Hi There".utf8),
            code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        CodeVector(
            number: 2, key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8),
            code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        CodeVector(
            number: 3, key: [UInt8](repeating: 0xAA, count: 20), message: [UInt8](repeating: 0xDD, count: 50),
            code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        CodeVector(
            number: 6, key: [UInt8](repeating: 0xAA, count: 131),
            message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
    ]

    @Test(arguments: codeVectors)
    func hmacSHA256(_ vector: CodeVector) {
        var code = HMACSHA256(key: vector.key.span)
        code.update(vector.message.span)
        #expect(code.finalize().hex == vector.code)
    }

    @Test("an intermediate digest and a copy do not affect the computation")
    func copiesAreIndependent() {
        let message = Array(Self.twoBlocks.utf8)
        for split in [0, 1, 55, 56] {
            var hash = SHA256()
            hash.update(message.span.extracting(..<split))
            var copy = hash
            copy.update([0].span)
            #expect(hash.finalize() == ContentHash(of: Array(message[..<split])))
            hash.update(message.span.extracting(split...))
            #expect(hash.finalize() == ContentHash(of: message))
            #expect(copy.finalize() == ContentHash(of: message[..<split] + [0]))
        }
    }
}
