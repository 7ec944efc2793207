import Testing

@testable import Hashing

/// Tests with the vectors of "iOS backups", section 5.5, whose password is `hashcat`.
@Suite struct PasswordDerivationTests {
    struct Vector: Sendable {
        let derivation: PasswordDerivation
        let wrapped: String
        let passwordKey: String
        let key: String
    }

    static let vectors = [
        Vector(
            derivation: PasswordDerivation(
                first: .init(salt: bytes("99fafc983e732998adb9fadc162a2e382143f115"), rounds: 1000),
                last: .init(salt: bytes("2721336781705041205314422175267631184867"), rounds: 10_000)),
            wrapped: "17a3b858e79bc273be43a9f113b71efe7ec8e7e401396b350180b4592ef45db67ffef7b2d64329a5",
            passwordKey: "ca1bdd8196307fe1e2ed421321267d96e2988bf12f736035192cfed20ec823ea",
            key: "2ed7042e87b50000fa6ba698661c000013194470a1f70000c35bd72ce0360000"),
        Vector(
            derivation: PasswordDerivation(
                first: nil, last: .init(salt: bytes("4542263740587424862267232255853830404566"), rounds: 10_000)),
            wrapped: "b8e3f3a970239b22ac199b622293fe4237b9d16e74bad2c3c3568cd1bd3c471615a6c4f867265642",
            passwordKey: "274deb9da2cc41e5316a8f740b6bff41885b475252dfeb0488d4cb0ebed5db7c",
            key: "ef6350dc7dd100005d63c19758080000d16b7de7ab7300000f6187b152020000"),
    ]

    static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    static func secret(_ text: String) -> Secret {
        var bytes = Array(text.utf8)
        return Secret(taking: &bytes)
    }

    @Test("the derived key unwraps the class key", arguments: vectors)
    func derives(_ vector: Vector) throws {
        let key = try #require(vector.derivation.key(for: Self.secret("hashcat")))
        #expect(key.isEqual(to: Self.bytes(vector.passwordKey)))
        let found = try #require(key.unwrap(Self.bytes(vector.wrapped)))
        #expect(found.isEqual(to: Self.bytes(vector.key)))
    }

    @Test("the key of a wrong password unwraps nothing", arguments: vectors)
    func wrongPassword(_ vector: Vector) throws {
        let key = try #require(vector.derivation.key(for: Self.secret("Hashcat")))
        #expect(!key.isEqual(to: Self.bytes(vector.passwordKey)))
        #expect(key.unwrap(Self.bytes(vector.wrapped)) == nil)
    }

    @Test("an empty password and salt are valid, but no iterations are not")
    func edgeCases() {
        let empty = PasswordDerivation(first: nil, last: .init(salt: [], rounds: 1))
        #expect(empty.key(for: Self.secret("")) != nil)
        #expect(PasswordDerivation(first: nil, last: .init(salt: [1], rounds: 0)).key(for: Self.secret("x")) == nil)
    }

    @Test("a secret removes the bytes from the array, and loses them when it is wiped")
    func secrets() {
        var bytes = Array("secret".utf8)
        let secret = Secret(taking: &bytes)
        #expect(bytes == [])
        #expect(secret.withBytes { Array($0) } == Array("secret".utf8))
        secret.wipe()
        #expect(secret.isEmpty)
    }

    @Test("wrapped keys of invalid lengths are rejected", arguments: [0, 7, 8, 16, 39, 41])
    func invalidLengths(_ count: Int) throws {
        let key = try #require(CipherKey([UInt8](repeating: 7, count: 32)))
        #expect(key.unwrap([UInt8](repeating: 1, count: count)) == nil)
    }

    @Test("blocks can be decrypted in parts")
    func partialDecryption() throws {
        let key = try #require(CipherKey((0..<32).map { UInt8($0) }))
        let plain = (0..<96).map { UInt8(truncatingIfNeeded: $0 * 37) }
        let blocks = try #require(key.encrypt(plain))
        let zeros = [UInt8](repeating: 0, count: 16)
        #expect(key.decrypt(blocks, after: zeros) == plain)
        let later = key.decrypt(Array(blocks[32..<80]), after: Array(blocks[16..<32]))
        #expect(later == Array(plain[32..<80]))
        #expect(key.decrypt([], after: zeros) == [])
        #expect(key.decrypt(Array(blocks.prefix(17)), after: zeros) == nil)
        #expect(key.decrypt(blocks, after: [1, 2]) == nil)
        #expect(CipherKey([1, 2, 3]) == nil)
    }
}
