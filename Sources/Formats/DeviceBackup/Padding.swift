/// The padding behind an encrypted file (PKCS #7): as many bytes of the value n as make whole blocks, 1 to 16.
///
/// Source: RFC 5652, section 6.3; "iOS backups", section 5.4.
public enum Padding {
    /// How many bytes of the last block are padding; nil if it does not end as it has to.
    public static func count(inLast block: [UInt8]) -> Int? {
        guard let count = block.last.map(Int.init), (1...16).contains(count), count <= block.count,
            block.suffix(count).allSatisfy({ $0 == UInt8(count) })
        else { return nil }
        return count
    }
}
