import Tar
import Testing

@Suite struct TarEntryTests {
    private func read(_ block: [UInt8]) -> TarEntry? { TarEntry(block.span) }

    @Test("the fields of a header are parsed")
    func fields() throws {
        let entry = try #require(read(header("a/b", "2", size: 0o1234, target: "../c", prefix: "p/q")))
        #expect(entry.name == Array("p/q/a/b".utf8))
        #expect(entry.target == Array("../c".utf8))
        #expect(entry.size == 0o1234)
        #expect(entry.kind == TarEntry.Kind.symbolicLink)
        #expect(entry.dialect == .posix)
    }

    @Test(
        "the magic identifies the format, and only POSIX has a prefix",
        arguments: [
            ("ustar\u{0}00", TarEntry.Dialect.posix, "p/n"), ("ustar\u{0}  ", .posix, "p/n"),
            ("ustar  \u{0}", .gnu, "n"), ("", .old, "n"), ("ustar  ", .gnu, "n"),
        ])
    func dialects(magic: String, dialect: TarEntry.Dialect, name: String) throws {
        let entry = try #require(read(header("n", prefix: "p", magic: magic)))
        #expect(entry.dialect == dialect)
        #expect(entry.name == Array(name.utf8))
    }

    @Test("a name that fills its field needs no NUL")
    func longNames() throws {
        let (name, prefix) = (String(repeating: "n", count: 100), String(repeating: "p", count: 154) + "/")
        #expect(try #require(read(header(name, prefix: prefix))).name == Array((prefix + name).utf8))
    }

    @Test(
        "sizes are octal or binary",
        arguments: [
            (Array("00000000012\u{0}".utf8), 10), (Array("  12        ".utf8), 10),
            (Array("777777777777".utf8), 1 << 36 - 1),
            ([UInt8](repeating: 0, count: 12), 0), ([0x80] + [UInt8](repeating: 0, count: 9) + [1, 2], 258),
            ([0x80] + [UInt8](repeating: 0xFF, count: 11), nil), (Array("00000000019\u{0}".utf8), nil),
            (Array("0000000001a\u{0}".utf8), nil), (Array("-0000000001\u{0}".utf8), nil),
        ] as [([UInt8], Int?)])
    func sizes(field: [UInt8], size: Int?) {
        var block = header("n")
        block.replaceSubrange(124..<136, with: field)
        #expect(read(withChecksum(block))?.size == size)
    }

    @Test("sums of unsigned and signed bytes are accepted, and no others")
    func checksums() {
        var block = withChecksum(header("\u{e4}"))
        #expect(read(block)?.name == Array("\u{e4}".utf8))
        // As signed bytes, the two bytes of the name each count 0x100 less.
        let sum = block.enumerated().reduce(0) { $0 + ((148..<156).contains($1.0) ? 32 : Int($1.1)) } - 0x200
        let text = String(sum, radix: 8)
        block.replaceSubrange(148..<156, with: (String(repeating: "0", count: 6 - text.count) + text + "\u{0} ").utf8)
        #expect(read(block) != nil)
        block[153] ^= 1
        #expect(read(block) == nil)
        #expect(read(Array(block.dropLast())) == nil)
    }

    @Test("a type flag of NUL is that of a file")
    func withoutKind() {
        var block = header("n")
        block[156] = 0
        #expect(read(withChecksum(block))?.kind == TarEntry.Kind.file)
    }

    @Test(arguments: [(0, 0), (1, 511), (511, 1), (512, 0), (513, 511)])
    func padding(size: Int, padding: Int) { #expect(TarEntry.padding(of: size) == padding) }
}

@Suite struct PaxRecordsTests {
    @Test(
        arguments: [
            ("", [], true), ("9 path=a\n", ["path=a"], true), ("12 path=a\nb\n", ["path=a\nb"], true),
            ("9 path=a\n8 uid=0\n", ["path=a", "uid=0"], true), ("9 path=\u{e4}", [], false), ("8 path=a\n", [], false),
            ("9 path=a\n7", ["path=a"], false), ("99 path=a\n", [], false), ("9path=a\n", [], false),
            ("8 nosign\n", [], false), ("0 a=b\n", [], false), ("-9 path=a\n", [], false),
            ("00000000009 path=a\n", [], false),
        ] as [(String, [String], Bool)])
    func records(text: String, expected: [String], isWellFormed: Bool) {
        let found = PaxRecords(Array(text.utf8))
        #expect(found.records.map { String(decoding: $0.key + [0x3D] + $0.value, as: UTF8.self) } == expected)
        #expect(found.isWellFormed == isWellFormed)
    }

    @Test(
        arguments: [("0", 0), ("0123", 123), ("", nil), ("1a", nil), ("99999999999999999999", nil)] as [(String, Int?)])
    func numbers(digits: String, number: Int?) { #expect(PaxRecords.number(Array(digits.utf8)[...]) == number) }
}
