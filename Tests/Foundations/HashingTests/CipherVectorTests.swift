import Testing

@testable import Hashing

/// Tests with the published vectors of PBKDF2, AES-CBC and AES key wrap.
@Suite struct CipherVectorTests {
    private static func bytes(_ hex: String) -> [UInt8] { PasswordDerivationTests.bytes(hex) }

    /// Source: RFC 6070, section 2.
    @Test(arguments: [
        ("password", "salt", 1, "0c60c80f961f0e71f3a9b524af6012062fe037a6"),
        ("password", "salt", 2, "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957"),
        ("password", "salt", 4096, "4b007901b765489abead49d926f721d065a429c1"),
        (
            "passwordPASSWORDpassword", "saltSALTsaltSALTsaltSALTsaltSALTsalt", 4096,
            "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038"
        ),
        ("pass\0word", "sa\0lt", 4096, "56fa6aa75548099dcc37d7f03425e0c3"),
    ])
    func pbkdf2WithSHA1(_ password: String, _ salt: String, _ rounds: Int, _ key: String) throws {
        try expectDerivation(.sha1, password, salt, rounds, key)
    }

    /// Source: RFC 7914, section 11.
    @Test(arguments: [
        ("passwd", "salt", 1, "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"),
        ("Password", "NaCl", 80_000, "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"),
    ])
    func pbkdf2WithSHA256(_ password: String, _ salt: String, _ rounds: Int, _ key: String) throws {
        try expectDerivation(.sha256, password, salt, rounds, key)
    }

    private func expectDerivation(
        _ hash: PasswordDerivation.HashFunction, _ password: String, _ salt: String, _ rounds: Int, _ key: String
    ) throws {
        let step = PasswordDerivation.Step(salt: Array(salt.utf8), rounds: rounds)
        let derived = try #require(PasswordDerivation.derive(PasswordDerivationTests.secret(password), step, hash))
        let expected = Self.bytes(key)
        #expect(derived.withBytes { Array($0.prefix(expected.count)) } == expected)
    }

    /// Source: NIST SP 800-38A, sections F.2.2, F.2.4 and F.2.6.
    @Test(arguments: [
        (
            "2b7e151628aed2a6abf7158809cf4f3c",
            """
            7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2\
            73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7
            """
        ),
        (
            "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
            """
            4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a\
            571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd
            """
        ),
        (
            "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
            """
            f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d\
            39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b
            """
        ),
    ])
    func cbcDecryption(_ key: String, _ encrypted: String) throws {
        let plain = """
            6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
            30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710
            """
        let key = try #require(CipherKey(Self.bytes(key)))
        #expect(key.decrypt(Self.bytes(encrypted), after: (0..<16).map { $0 }) == Self.bytes(plain))
    }

    /// Source: RFC 3394, sections 4.1, 4.2, 4.3 and 4.6.
    @Test(arguments: [
        (16, "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5"),
        (24, "96778b25ae6ca435f92b5b97c050aed2468ab8a17ad84e5d"),
        (32, "64e8c3f9ce0f5ba263e9777905818a2a93c8191e7d6e8ae7"),
        (32, "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21"),
    ])
    func keyUnwrap(_ keySize: Int, _ wrapped: String) throws {
        let key = try #require(CipherKey((0..<keySize).map { UInt8($0) }))
        let wrapped = Self.bytes(wrapped)
        let data = Self.bytes("00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f")
        let unwrapped = try #require(key.unwrap(wrapped))
        #expect(unwrapped.isEqual(to: Array(data.prefix(wrapped.count - 8))))
        for index in wrapped.indices {
            var changed = wrapped
            changed[index] ^= 1
            #expect(key.unwrap(changed) == nil)
        }
    }
}
