import Testing
import Zip

@Suite struct ZipDirectoryTests {
    private func found(_ archive: [UInt8]) -> ZipDirectoryEnd? {
        let tail = Array(archive.suffix(ZipDirectoryEnd.maximumSize))
        return ZipDirectoryEnd(tail: tail.span, ofArchiveOf: archive.count)
    }

    private static let members = [UInt8](repeating: 1, count: 100)
    private static let directory = entry("a")

    @Test("the directory precedes the end record")
    func directoryLocation() {
        let archive = Self.members + Self.directory + end(count: 1, size: Self.directory.count, start: 100)
        #expect(found(archive)?.entryCount == 1)
        #expect(found(archive)?.directory == 100..<100 + Self.directory.count)
        #expect(found(end(count: 0, size: 0, start: 0))?.directory == 0..<0)
    }

    @Test("large numbers are stored in a Zip64 record")
    func zip64Location() {
        let size = Self.directory.count
        let archive =
            Self.members + Self.directory + zip64End(count: 70_000, size: size, start: 100, at: 100 + size)
            + end(count: 0xFFFF, size: 0xFFFF_FFFF, start: 0xFFFF_FFFF)
        #expect(found(archive)?.entryCount == 70_000)
        #expect(found(archive)?.directory == 100..<100 + size)
    }

    @Test(
        "inconsistent and unsupported end records are rejected",
        arguments: [
            ("no end record", []), ("a comment", end(count: 1, size: 47, start: 100, comment: "c")),
            ("another disk", end(disk: 1, count: 1, size: 47, start: 100)),
            ("entries on other disks", end(count: 1, all: 2, size: 47, start: 100)),
            ("bytes after the directory", end(count: 1, size: 46, start: 100)),
            ("a directory after the end record", end(count: 1, size: 47, start: 200)),
            ("a program before the archive", end(count: 1, size: 47, start: 90)),
            ("a truncated end record", Array(end(count: 1, size: 47, start: 100).dropLast())),
            (
                "a Zip64 record at another offset",
                zip64End(count: 1, size: 47, start: 100, at: 0) + end(count: 1, size: 47, start: 100)
            ),
            (
                "a Zip64 record of several disks",
                zip64End(count: 1, size: 47, start: 100, at: 147, disks: 2) + end(count: 1, size: 47, start: 100)
            ),
            (
                "a Zip64 record of entries on other disks",
                zip64End(count: 1, all: 2, size: 47, start: 100, at: 147) + end(count: 1, size: 47, start: 100)
            ),
            (
                "a Zip64 record with a size beyond the archive",
                zip64End(count: 1, size: 1 << 62, start: 100, at: 147) + end(count: 1, size: 47, start: 100)
            ),
            (
                "a locator without its record",
                zip64End(count: 1, size: 47, start: 100, at: 147).suffix(20)
                    + end(count: 1, size: 47, start: 100)
            ),
        ] as [(String, [UInt8])])
    func rejectedEnd(description: String, tail: [UInt8]) {
        #expect(Self.directory.count == 47)
        #expect(found(Self.members + Self.directory + tail) == nil, "\(description)")
    }

    @Test("the fields of an entry are parsed")
    func fields() throws {
        let bytes =
            [0, 0] + entry("d/\u{e4}", flags: 0x808, extra: field(0x5455, [1, 2]), comment: "c", offset: 77) + [9]
        var position = 2
        let found = try #require(ZipEntry(bytes.span, at: &position))
        #expect(position == bytes.count - 1)
        #expect(found.name == Array("d/\u{e4}".utf8))
        #expect((found.flags, found.method, found.checksum) == (0x808, 8, 7))
        #expect((found.compressedSize, found.size, found.offset) == (5, 9, 77))
        #expect((found.system, found.attributes) == (3, 0o100644 << 16))
        #expect(!found.hasOverridingField)
        #expect(ZipEntry(bytes.span, at: &position) == nil)
        #expect(position == bytes.count - 1)
    }

    @Test("64-bit numbers replace 32-bit numbers in order")
    func largeNumbers() throws {
        let all = entry(
            "a", compressed: 0xFFFF_FFFF, size: 0xFFFF_FFFF,
            extra: field(1, littleEndian(1 << 33, 8) + littleEndian(1 << 34, 8) + littleEndian(3, 8)),
            offset: 0xFFFF_FFFF)
        var position = 0
        let found = try #require(ZipEntry(all.span, at: &position))
        #expect((found.size, found.compressedSize, found.offset) == (1 << 33, 1 << 34, 3))
        let one = entry("a", extra: field(1, littleEndian(1 << 35, 8)), offset: 0xFFFF_FFFF)
        position = 0
        let other = try #require(ZipEntry(one.span, at: &position))
        #expect((other.size, other.compressedSize, other.offset) == (9, 5, 1 << 35))
    }

    @Test(
        "malformed entries are rejected",
        arguments: [
            ("a truncated entry", Array(entry("abc").dropLast())), ("another signature", local("abc") + entry("abc")),
            ("an entry on another disk", entry("a", disk: 1)),
            ("a missing 64-bit number", entry("a", size: 0xFFFF_FFFF)),
            ("a truncated field", entry("a", extra: [1, 0, 9, 0, 0])),
            ("a field without a size", entry("a", extra: [1, 0])),
            ("a timestamp field without flags", entry("a", extra: field(0x5455, []))),
            ("a number beyond the limit", entry("a", extra: field(1, littleEndian(-1, 8)), offset: 0xFFFF_FFFF)),
        ] as [(String, [UInt8])])
    func malformedEntry(description: String, bytes: [UInt8]) {
        var position = 0
        #expect(ZipEntry(bytes.span, at: &position) == nil, "\(description)")
        #expect(position == 0)
    }

    @Test(
        "fields that override an entry are detected",
        arguments: [(0x7075, true), (0x6C78, true), (0x9901, true), (0x5455, false)])
    func overridingFields(code: Int, isOverridden: Bool) throws {
        let bytes = entry("a", extra: field(0x5455, [1]) + field(code, [1, 2]))
        var position = 0
        #expect(try #require(ZipEntry(bytes.span, at: &position)).hasOverridingField == isOverridden)
    }
}

@Suite struct ZipMemberTests {
    private func contents(_ listed: [UInt8], _ member: [UInt8], of count: Int? = nil) throws -> Range<Int>? {
        var position = 0
        return try #require(ZipEntry(listed.span, at: &position)).contentsRange(
            in: member.span, memberSize: count ?? member.count)
    }

    private static let five: [UInt8] = [1, 2, 3, 4, 5]

    @Test("contents follow the name and extra fields")
    func contentRange() throws {
        #expect(try contents(entry("ab"), local("ab") + Self.five) == 32..<37)
        #expect(try contents(entry("ab"), local("ab", extra: field(0x5455, [1])) + Self.five) == 37..<42)
        #expect(try contents(entry("ab"), local("ab"), of: 37) == 32..<37)
        // If the checksum and sizes follow the contents, they are 0 in the local header.
        #expect(
            try contents(entry("ab", flags: 8), local("ab", flags: 8, checksum: 0, compressed: 0, size: 0) + Self.five)
                == 32..<37)
        let onlySize = local("ab", flags: 8, checksum: 0, compressed: 0, size: 9)
        #expect(try contents(entry("ab", flags: 8), onlySize + Self.five) == 32..<37)
        let large = local(
            "ab", compressed: 0xFFFF_FFFF, size: 0xFFFF_FFFF, extra: field(1, littleEndian(9, 8) + littleEndian(5, 8)))
        #expect(try contents(entry("ab"), large + Self.five) == 52..<57)
    }

    @Test(
        "a local header that differs from the directory is rejected",
        arguments: [
            ("another name", local("ac")), ("a longer name", local("abc")), ("other flags", local("ab", flags: 2)),
            ("another method", local("ab", method: 0)), ("another checksum", local("ab", checksum: 8)),
            ("another size", local("ab", size: 8)), ("another compressed size", local("ab", compressed: 6)),
            ("a Unicode name field", local("ab", extra: field(0x7075, [1]))),
            ("a field without a size", local("ab", extra: [1])),
            ("a missing size", local("ab", size: 0xFFFF_FFFF)),
            ("another 64-bit size", local("ab", size: 0xFFFF_FFFF, extra: field(1, littleEndian(8, 8)))),
            ("an entry", entry("ab")), ("no end record", []),
        ] as [(String, [UInt8])])
    func differingHeader(description: String, member: [UInt8]) throws {
        #expect(try contents(entry("ab"), member + Self.five) == nil, "\(description)")
    }

    @Test(
        "sizes that follow the contents must be 0 or equal in the local header",
        arguments: [(8, 5, 9), (7, 6, 9), (7, 5, 1)])
    func trailingSizes(checksum: Int, compressed: Int, size: Int) throws {
        let member = local("ab", flags: 8, checksum: checksum, compressed: compressed, size: size)
        #expect(try contents(entry("ab", flags: 8), member + Self.five) == nil)
    }

    @Test("truncated contents are rejected")
    func truncatedContents() throws {
        let member = local("ab") + Self.five
        for count in 0..<member.count { #expect(try contents(entry("ab"), Array(member.prefix(count))) == nil) }
    }
}
