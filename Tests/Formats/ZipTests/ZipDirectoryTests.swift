import Testing
import Zip

@Suite struct ZipDirectoryTests {
    private func found(_ archive: [UInt8]) -> ZipDirectoryEnd? {
        let tail = Array(archive.suffix(ZipDirectoryEnd.size))
        return ZipDirectoryEnd(tail: tail.span, ofArchiveOf: archive.count)
    }

    private static let members = [UInt8](repeating: 1, count: 100)
    private static let directory = entry("a")

    @Test("the directory is in front of the end")
    func small() {
        let archive = Self.members + Self.directory + end(count: 1, size: Self.directory.count, start: 100)
        #expect(found(archive)?.entryCount == 1)
        #expect(found(archive)?.directory == 100..<100 + Self.directory.count)
        #expect(found(end(count: 0, size: 0, start: 0))?.directory == 0..<0)
    }

    @Test("numbers that have no room stand in a record of their own")
    func large() {
        let size = Self.directory.count
        let archive =
            Self.members + Self.directory + largeEnd(count: 70_000, size: size, start: 100, at: 100 + size)
            + end(count: 0xFFFF, size: 0xFFFF_FFFF, start: 0xFFFF_FFFF)
        #expect(found(archive)?.entryCount == 70_000)
        #expect(found(archive)?.directory == 100..<100 + size)
    }

    @Test(
        "an end that is doubtful",
        arguments: [
            ("nothing", []), ("a comment", end(count: 1, size: 47, start: 100, comment: "c")),
            ("another disk", end(disk: 1, count: 1, size: 47, start: 100)),
            ("entries on other disks", end(count: 1, all: 2, size: 47, start: 100)),
            ("something behind the directory", end(count: 1, size: 46, start: 100)),
            ("a directory behind the end", end(count: 1, size: 47, start: 200)),
            ("a program in front", end(count: 1, size: 47, start: 90)),
            ("part of an end", Array(end(count: 1, size: 47, start: 100).dropLast())),
            (
                "a record elsewhere",
                largeEnd(count: 1, size: 47, start: 100, at: 0) + end(count: 1, size: 47, start: 100)
            ),
            (
                "a record of several disks",
                largeEnd(count: 1, size: 47, start: 100, at: 147, disks: 2) + end(count: 1, size: 47, start: 100)
            ),
            (
                "a record of entries elsewhere",
                largeEnd(count: 1, all: 2, size: 47, start: 100, at: 147) + end(count: 1, size: 47, start: 100)
            ),
            (
                "a record of more than there is",
                largeEnd(count: 1, size: 1 << 62, start: 100, at: 147) + end(count: 1, size: 47, start: 100)
            ),
            (
                "a locator without its record",
                largeEnd(count: 1, size: 47, start: 100, at: 147).suffix(20)
                    + end(count: 1, size: 47, start: 100)
            ),
        ] as [(String, [UInt8])])
    func doubtful(what: String, tail: [UInt8]) {
        #expect(Self.directory.count == 47)
        #expect(found(Self.members + Self.directory + tail) == nil, "\(what)")
    }

    @Test("the fields of an entry")
    func fields() throws {
        let bytes =
            [0, 0] + entry("d/\u{e4}", flags: 0x808, extra: field(0x5455, [1, 2]), comment: "c", offset: 77) + [9]
        var place = 2
        let found = try #require(ZipEntry(bytes.span, at: &place))
        #expect(place == bytes.count - 1)
        #expect(found.name == Array("d/\u{e4}".utf8))
        #expect((found.flags, found.method, found.checksum) == (0x808, 8, 7))
        #expect((found.compressedSize, found.size, found.offset) == (5, 9, 77))
        #expect((found.system, found.attributes) == (3, 0o100644 << 16))
        #expect(!found.isChangedByExtra)
        #expect(ZipEntry(bytes.span, at: &place) == nil)
        #expect(place == bytes.count - 1)
    }

    @Test("numbers of 64 bits, in the order of those that they stand for")
    func largeNumbers() throws {
        let all = entry(
            "a", compressed: 0xFFFF_FFFF, size: 0xFFFF_FFFF,
            extra: field(1, little(1 << 33, 8) + little(1 << 34, 8) + little(3, 8)),
            offset: 0xFFFF_FFFF)
        var place = 0
        let found = try #require(ZipEntry(all.span, at: &place))
        #expect((found.size, found.compressedSize, found.offset) == (1 << 33, 1 << 34, 3))
        let one = entry("a", extra: field(1, little(1 << 35, 8)), offset: 0xFFFF_FFFF)
        place = 0
        let other = try #require(ZipEntry(one.span, at: &place))
        #expect((other.size, other.compressedSize, other.offset) == (9, 5, 1 << 35))
    }

    @Test(
        "what is no entry",
        arguments: [
            ("cut", Array(entry("abc").dropLast())), ("another signature", local("abc") + entry("abc")),
            ("on another disk", entry("a", disk: 1)), ("a number that is missing", entry("a", size: 0xFFFF_FFFF)),
            ("a field that is cut", entry("a", extra: [1, 0, 9, 0, 0])), ("half a field", entry("a", extra: [1, 0])),
            ("times without flags", entry("a", extra: field(0x5455, []))),
            ("a number beyond all archives", entry("a", extra: field(1, little(-1, 8)), offset: 0xFFFF_FFFF)),
        ] as [(String, [UInt8])])
    func noEntry(what: String, bytes: [UInt8]) {
        var place = 0
        #expect(ZipEntry(bytes.span, at: &place) == nil, "\(what)")
        #expect(place == 0)
    }

    @Test("fields that change a member", arguments: [(0x7075, true), (0x6C78, true), (0x9901, true), (0x5455, false)])
    func changing(code: Int, isChanged: Bool) throws {
        let bytes = entry("a", extra: field(0x5455, [1]) + field(code, [1, 2]))
        var place = 0
        #expect(try #require(ZipEntry(bytes.span, at: &place)).isChangedByExtra == isChanged)
    }
}

@Suite struct ZipMemberTests {
    private func contents(_ listed: [UInt8], _ member: [UInt8], of count: Int? = nil) throws -> Range<Int>? {
        var place = 0
        return try #require(ZipEntry(listed.span, at: &place)).contents(in: member.span, of: count ?? member.count)
    }

    private static let five: [UInt8] = [1, 2, 3, 4, 5]

    @Test("contents stand behind name and fields")
    func whole() throws {
        #expect(try contents(entry("ab"), local("ab") + Self.five) == 32..<37)
        #expect(try contents(entry("ab"), local("ab", extra: field(0x5455, [1])) + Self.five) == 37..<42)
        #expect(try contents(entry("ab"), local("ab"), of: 37) == 32..<37)
        // What is told behind the contents is not told in front.
        #expect(
            try contents(entry("ab", flags: 8), local("ab", flags: 8, checksum: 0, compressed: 0, size: 0) + Self.five)
                == 32..<37)
        let inPart = local("ab", flags: 8, checksum: 0, compressed: 0, size: 9)
        #expect(try contents(entry("ab", flags: 8), inPart + Self.five) == 32..<37)
        let large = local(
            "ab", compressed: 0xFFFF_FFFF, size: 0xFFFF_FFFF, extra: field(1, little(9, 8) + little(5, 8)))
        #expect(try contents(entry("ab"), large + Self.five) == 52..<57)
    }

    @Test(
        "a header that does not say what the directory says",
        arguments: [
            ("another name", local("ac")), ("a longer name", local("abc")), ("other flags", local("ab", flags: 2)),
            ("another method", local("ab", method: 0)), ("another checksum", local("ab", checksum: 8)),
            ("another size", local("ab", size: 8)), ("another size when packed", local("ab", compressed: 6)),
            ("a name in Unicode", local("ab", extra: field(0x7075, [1]))), ("half a field", local("ab", extra: [1])),
            ("a size that is missing", local("ab", size: 0xFFFF_FFFF)),
            ("another size of 64 bits", local("ab", size: 0xFFFF_FFFF, extra: field(1, little(8, 8)))),
            ("an entry", entry("ab")), ("nothing", []),
        ] as [(String, [UInt8])])
    func other(what: String, member: [UInt8]) throws {
        #expect(try contents(entry("ab"), member + Self.five) == nil, "\(what)")
    }

    @Test(
        "what is told behind the contents is either not told in front or the same",
        arguments: [(8, 5, 9), (7, 6, 9), (7, 5, 1)])
    func measuredBehind(checksum: Int, compressed: Int, size: Int) throws {
        let member = local("ab", flags: 8, checksum: checksum, compressed: compressed, size: size)
        #expect(try contents(entry("ab", flags: 8), member + Self.five) == nil)
    }

    @Test("contents that have no room")
    func cut() throws {
        let member = local("ab") + Self.five
        for count in 0..<member.count { #expect(try contents(entry("ab"), Array(member.prefix(count))) == nil) }
    }
}
