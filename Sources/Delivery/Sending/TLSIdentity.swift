import Bytes
import HTTP

/// The certificate files for encrypted connections, in PEM format.
public struct TLSIdentity: Sendable {
    /// The path of a file with trusted certificate authorities, or `nil` to use the authorities of the system.
    public var certificateAuthoritiesPath: String?
    /// The path of a file with the client certificate and its intermediate certificates, or `nil` to send none.
    public var certificate: String?
    /// The path of a file with the private key of the client, or `nil` if the certificate file contains the key.
    public var key: String?

    /// Creates an identity that uses the system's certificate authorities and no client certificate.
    public init() {}

    /// Reads the certificate and key files, and checks that they can be used.
    func read() throws(CredentialError) -> HTTPIdentity {
        var identity = HTTPIdentity()
        if let certificateAuthoritiesPath {
            identity.authorities = try Self.certificates(certificateAuthoritiesPath)
        }
        if let certificate {
            identity.certificate = (try Self.certificates(certificate), try Self.privateKey(key ?? certificate))
        }
        do throws(HTTPIdentity.CheckError) {
            try identity.check()
        } catch {
            switch error {
            case .authorities: throw .malformed(certificateAuthoritiesPath ?? "", Self.noCertificates)
            case .certificate: throw .malformed(key ?? certificate ?? "", "this is not the key of \(certificate ?? "")")
            }
        }
        return identity
    }

    private static let noCertificates = "the file contains no PEM certificates"

    private static func certificates(_ path: String) throws(CredentialError) -> [UInt8] {
        let bytes = try OperatorFile.contents(of: path, isSecret: false)
        let blocks = PEMBlock.blocks(of: bytes).filter(\.isCertificate)
        guard !blocks.isEmpty, blocks.allSatisfy(\.isDERSequence) else { throw .malformed(path, noCertificates) }
        return bytes
    }

    private static func privateKey(_ path: String) throws(CredentialError) -> [UInt8] {
        let bytes = try OperatorFile.contents(of: path, isSecret: true)
        guard PEMBlock.blocks(of: bytes).contains(where: { $0.isUnencryptedKey && $0.isDERSequence }) else {
            throw .malformed(path, "the file contains no PEM private key without a passphrase")
        }
        return bytes
    }
}

/// A block of a PEM file.
///
/// Source: RFC 7468, section 2.
struct PEMBlock {
    /// The label in the first line of the block, such as `CERTIFICATE`.
    let label: String
    /// Whether the content is a DER sequence, as in certificates and unencrypted keys.
    let isDERSequence: Bool

    var isCertificate: Bool { ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"].contains(label) }
    var isUnencryptedKey: Bool { ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"].contains(label) }

    /// Returns the PEM blocks in `text`, ignoring all other text.
    static func blocks(of text: [UInt8]) -> [PEMBlock] {
        var blocks: [PEMBlock] = []
        var openBlock: (label: String, content: [UInt8])?
        for line in text.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            if let label = label(of: line, after: "-----BEGIN ") {
                openBlock = (label, [])
            } else if let (label, content) = openBlock, self.label(of: line, after: "-----END ") == label {
                blocks.append(PEMBlock(label: label, isDERSequence: isDERSequence(content)))
                openBlock = nil
            } else {
                openBlock?.content += line
            }
        }
        return blocks
    }

    private static func label(of line: ArraySlice<UInt8>, after prefix: String) -> String? {
        guard line.starts(with: prefix.utf8) else { return nil }
        let text = String(decoding: line.dropFirst(prefix.utf8.count), as: UTF8.self)
        guard let end = text.firstRange(of: "-----") else { return nil }
        return String(text[..<end.lowerBound])
    }

    private static func isDERSequence(_ base64: [UInt8]) -> Bool {
        guard let content = Base64.decoded(base64.span), content.count > 2 else { return false }
        return content[0] == 0x30
    }
}
