import Testing

@testable import Delivery

/// Tests the parser of PEM blocks.
@Suite struct PEMBlockTests {
    private func blocks(_ text: String) -> [String] {
        PEMBlock.blocks(of: Array(text.utf8)).map {
            "\($0.label): \($0.isDERSequence) \($0.isCertificate) \($0.isUnencryptedKey)"
        }
    }

    @Test(
        "Blocks are parsed between their first and last lines",
        arguments: [
            ("", []), ("nothing", []), ("-----BEGIN CERTIFICATE-----\nMAMCAQE=\n", []),
            ("-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----", ["CERTIFICATE: true true false"]),
            (
                "words\r\n-----BEGIN X509 CERTIFICATE-----\r\nMAMC\r\nAQE=\r\n-----END X509 CERTIFICATE-----\r\n",
                ["X509 CERTIFICATE: true true false"]
            ),
            ("-----BEGIN CERTIFICATE-----\njunk!\n-----END CERTIFICATE-----", ["CERTIFICATE: false true false"]),
            ("-----BEGIN CERTIFICATE-----\nAAAAAAA=\n-----END CERTIFICATE-----", ["CERTIFICATE: false true false"]),
            (
                "-----BEGIN EC PRIVATE KEY-----\nMAMCAQE=\n-----END EC PRIVATE KEY-----",
                ["EC PRIVATE KEY: true false true"]
            ),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMAMCAQE=\n-----END RSA PRIVATE KEY-----",
                ["RSA PRIVATE KEY: false false true"]
            ),
            (
                "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAMCAQE=\n-----END ENCRYPTED PRIVATE KEY-----",
                ["ENCRYPTED PRIVATE KEY: true false false"]
            ),
        ])
    func blocks(text: String, expected: [String]) {
        #expect(blocks(text) == expected)
    }
}
