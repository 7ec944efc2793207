import Bytes

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
