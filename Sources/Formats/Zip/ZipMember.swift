extension ZipEntry {
    /// How many bytes the header of a member has in front of the name.
    private static let headerSize = 30
    /// The most bytes of the header of a member, with its name and its extra fields.
    public static let mostHeaderBytes = headerSize + 2 * 0xFFFF

    /// Where the contents of a member stand in its bytes.
    ///
    /// Source: "APPNOTE.TXT - .ZIP File Format Specification", "Local file header".
    /// - Parameters:
    ///   - member: the bytes of the archive from the member's header on; those of the contents need not be there.
    ///   - count: how many bytes there are up to the next member.
    /// - Returns: nil if the header does not say what the directory says, or contents have no room.
    public func contents(in member: Span<UInt8>, of count: Int) -> Range<Int>? {
        guard member.count >= Self.headerSize, member.zipNumber32(at: 0) == 0x0403_4B50,
            member.zipNumber16(at: 6) == flags, member.zipNumber16(at: 8) == method
        else { return nil }
        let nameEnd = Self.headerSize + member.zipNumber16(at: 26)
        let start = nameEnd + member.zipNumber16(at: 28)
        guard start <= member.count, compressedSize <= count - start, nameEnd - Self.headerSize == name.count,
            name.indices.allSatisfy({ member[Self.headerSize + $0] == name[$0] })
        else { return nil }
        guard var extra = ZipExtraFields(member.extracting(nameEnd..<start)), !extra.isChanging,
            isMeasured(by: member, &extra)
        else { return nil }
        return start..<start + compressedSize
    }

    /// Whether checksum and sizes in the header of a member are those of the directory. Each may stand behind the contents,
    /// with 0 in its place.
    private func isMeasured(by member: Span<UInt8>, _ extra: inout ZipExtraFields) -> Bool {
        guard let size = extra.nextNumber(replacing: member.zipNumber32(at: 22)),
            let compressedSize = extra.nextNumber(replacing: member.zipNumber32(at: 18))
        else { return false }
        let standsBehind = flags & Flag.isMeasuredBehind != 0 ? 0 : nil
        return [Int(checksum), standsBehind].contains(member.zipNumber32(at: 14))
            && [self.compressedSize, standsBehind].contains(compressedSize)
            && [self.size, standsBehind].contains(size)
    }
}
