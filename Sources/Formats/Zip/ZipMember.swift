extension ZipEntry {
    /// The size of the local header before the name, in bytes.
    private static let headerSize = 30
    /// The maximum size of a local header with its name and extra fields, in bytes.
    public static let maximumHeaderSize = headerSize + 2 * 0xFFFF

    /// Returns the range of the compressed contents, relative to the local header.
    ///
    /// Source: "APPNOTE.TXT - .ZIP File Format Specification", "Local file header".
    ///
    /// - Parameters:
    ///   - member: The bytes of the archive from the local header on. The contents may be missing.
    ///   - count: The number of bytes up to the next member.
    /// - Returns: The range, or `nil` if the local header differs from the directory or the contents exceed `count`
    ///   bytes.
    public func contentsRange(in member: Span<UInt8>, memberSize count: Int) -> Range<Int>? {
        guard member.count >= Self.headerSize, member.zipNumber32(at: 0) == 0x0403_4B50,
            member.zipNumber16(at: 6) == flags, member.zipNumber16(at: 8) == method
        else { return nil }
        let nameEnd = Self.headerSize + member.zipNumber16(at: 26)
        let start = nameEnd + member.zipNumber16(at: 28)
        guard start <= member.count, compressedSize <= count - start, nameEnd - Self.headerSize == name.count,
            name.indices.allSatisfy({ member[Self.headerSize + $0] == name[$0] })
        else { return nil }
        guard var extra = ZipExtraFields(member.extracting(nameEnd..<start)), !extra.overridesEntry,
            sizesMatch(member, &extra)
        else { return nil }
        return start..<start + compressedSize
    }

    /// Returns whether the checksum and sizes of a local header match the directory.
    ///
    /// If the checksum and sizes follow the contents, each of them may be 0 in the header.
    private func sizesMatch(_ member: Span<UInt8>, _ extra: inout ZipExtraFields) -> Bool {
        guard let size = extra.nextNumber(replacing: member.zipNumber32(at: 22)),
            let compressedSize = extra.nextNumber(replacing: member.zipNumber32(at: 18))
        else { return false }
        let alternative = flags & Flag.dataDescriptor != 0 ? 0 : nil
        return [Int(checksum), alternative].contains(member.zipNumber32(at: 14))
            && [self.compressedSize, alternative].contains(compressedSize)
            && [self.size, alternative].contains(size)
    }
}
