import Bytes

/// The format of a signature file, which is base64 text between a begin marker and an end marker.
///
/// Source: OpenSSH's PROTOCOL.sshsig, "Armored format".
enum SignatureArmor {
    private static let beginMarker = Array("-----BEGIN SSH SIGNATURE-----\n".utf8)
    private static let endMarker = Array("-----END SSH SIGNATURE-----".utf8)

    /// Returns whether `bytes` are exactly one signature, ignoring line breaks at the end.
    static func isSingleSignature(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while let last = rest.last, last == 0x0a || last == 0x0d { rest.removeLast() }
        guard rest.starts(with: beginMarker), rest.count > beginMarker.count + endMarker.count,
            rest.suffix(endMarker.count) == endMarker[...]
        else {
            return false
        }
        return rest.dropFirst(beginMarker.count).dropLast(endMarker.count).allSatisfy(isBase64OrLineBreak)
    }

    private static func isBase64OrLineBreak(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "+/=\n\r".utf8.contains(byte)
    }
}
