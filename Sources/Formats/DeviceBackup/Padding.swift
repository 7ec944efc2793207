/// The PKCS #7 padding of encrypted files.
///
/// An encrypted file is padded to whole blocks with 1 to 16 bytes. Each of these bytes is the number of padding bytes.
///
/// Source: RFC 5652, section 6.3; "iOS backups", section 5.4.
public enum Padding {
    /// Returns the number of padding bytes in the last block of a file, or `nil` if the padding is invalid.
    public static func count(inLastBlock block: [UInt8]) -> Int? {
        guard let count = block.last.map(Int.init), (1...16).contains(count), count <= block.count,
            block.suffix(count).allSatisfy({ $0 == UInt8(count) })
        else { return nil }
        return count
    }
}
