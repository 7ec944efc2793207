import Tar
import Testing

@Suite struct TarParserTests {
    /// Parses an archive in chunks and returns one line for each header and contents, or `nil` if it is not supported.
    private func read(_ bytes: [UInt8], blocks: Int = 1) -> [String]? {
        var tar = TarParser()
        var lines: [String] = []
        var contents: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 512 * blocks) {
            let chunk = Array(bytes[start..<min(start + 512 * blocks, bytes.count)])
            do throws(UnsupportedTar) {
                while let step = try tar.next(in: chunk.span) {
                    switch step {
                    case .member(let member):
                        let target =
                            member.target.isEmpty ? "" : " to \(String(decoding: member.target, as: UTF8.self))"
                        let name = String(decoding: member.name, as: UTF8.self)
                        lines.append("\(member.offset) \(member.kind) \(name)\(target) \(member.size)")
                    case .contents(let range): contents += chunk[range]
                    case .endOfMember:
                        lines.append(String(decoding: contents, as: UTF8.self))
                        contents = []
                    case .end: return lines
                    }
                }
            } catch {
                return nil
            }
        }
        return lines + ["no end"]
    }

    private static let long = String(repeating: "long/", count: 40) + "name"

    @Test("supported members are parsed in chunks of any size", arguments: 1...12)
    func members(blocks: Int) {
        let large = String(repeating: "0123456789", count: 100)
        let bytes =
            header("d/", "5") + header("d/a", size: 1000) + padded(large) + header("d/empty")
            + header("l", "2", target: "d/a")
            + header("././@LongLink", "L", size: Self.long.utf8.count + 1) + padded(Self.long + "\u{0}")
            + header("cut", size: 3) + padded("abc") + endMark + [UInt8](repeating: 0xFF, count: 512)
        #expect(
            read(bytes, blocks: blocks) == [
                "0 folder d/ 0", "", "512 file d/a 1000", large, "2048 file d/empty 0", "", "2560 link l to d/a 0", "",
                "4096 file \(Self.long) 3", "abc",
            ])
    }

    @Test("an extended header defines the path, size and link target", arguments: [1, 3, 8])
    func extended(blocks: Int) {
        let records =
            record("path", Self.long) + record("size", "5") + record("mtime", "1.5")
            + record("SCHILY.xattr.user.a", "=\n1")
        let link = record("linkpath", "\u{fc}ber")
        let bytes =
            header("x", "x", size: records.utf8.count) + padded(records) + header("cut", size: 0) + padded("hello")
            + header("x", "x", size: link.utf8.count) + padded(link) + header("l", "2", target: "cut") + endMark
        #expect(
            read(bytes, blocks: blocks) == ["1024 file \(Self.long) 5", "hello", "3072 link l to \u{fc}ber 0", ""])
    }

    @Test(
        "unsupported and malformed archives are rejected",
        arguments: [
            ("a hard link", header("a", "1", target: "b")), ("a pipe", header("a", "6")),
            ("a sparse file", header("a", "S")),
            ("a global header", header("a", "g")), ("a folder that is marked only by a slash", header("a/")),
            ("a folder with contents", header("a", "5", size: 1) + padded("x")), ("no name", header("")),
            ("a link with contents", header("a", "2", size: 1, target: "b") + padded("x")),
            ("a file with a link target", header("a", target: "b")),
            ("a header of the original format", header("a", magic: "")),
            ("no header", padded("text")), ("a mode that is not a number", changed(header("a"), at: 100)),
            ("a time that is not a number", changed(header("a"), at: 136)),
            ("an unknown key", header("x", "x", size: 20) + padded("20 GNU.sparse.map=1\n") + header("a")),
            ("a key for a sparse file", header("x", "x", size: 22) + padded("22 SCHILY.realsize=10\n") + header("a")),
            ("an invalid size", header("x", "x", size: 9) + padded("9 size=x\n") + header("a")),
            ("malformed records", header("x", "x", size: 4) + padded("text") + header("a")),
            ("a path with a NUL", header("x", "x", size: 10) + padded("10 path=\u{0}\n") + header("a")),
            ("a decomposed path", header("x", "x", size: 12) + padded("12 path=e\u{301}\n") + header("a")),
            (
                "a repeated path",
                header("L", "L", size: 2) + padded("b") + header("L", "L", size: 2) + padded("c") + header("a")
            ),
            (
                "two extended headers",
                header("x", "x", size: 10) + padded("10 mtime=1\n") + header("x", "x", size: 10)
                    + padded("10 uname=a\n") + header("a")
            ),
            ("an empty name in the header", header("L", "L", size: 2) + padded("b") + header("")),
            ("an empty name", header("L", "L", size: 1) + padded("\u{0}") + header("a")),
            ("an empty path", header("x", "x", size: 8) + padded("8 path=\n") + header("a")),
            ("an empty target", header("x", "x", size: 12) + padded("12 linkpath=\n") + header("a", "2")),
            ("a name without a member", header("L", "L", size: 2) + padded("b")),
            ("a name that exceeds the limit", header("L", "L", size: 1 << 20 + 1)),
        ] as [(String, [UInt8])])
    func unsupported(description: String, bytes: [UInt8]) {
        #expect(read(bytes + endMark) == nil, "\(description)")
        #expect(read(header("before") + bytes + endMark, blocks: 100) == nil, "\(description)")
    }

    @Test("a truncated archive has no end", arguments: [512, 1024, 1536, 2048])
    func truncated(count: Int) {
        let bytes = header("a", size: 600) + padded(String(repeating: "x", count: 600)) + header("b") + endMark
        #expect(read(Array(bytes.prefix(count)))?.last == "no end")
    }

    @Test("unneeded contents can be skipped")
    func skipping() throws {
        var tar = TarParser()
        let start = header("large", size: 5000)
        while try tar.next(in: start.span) != nil {}
        #expect(tar.bytesToSkip == 5120)
        tar.skip(4096)
        #expect(tar.bytesToSkip == 1024)
        tar.skip(1024)
        let rest = header("next") + endMark
        #expect(try tar.next(in: rest.span) == .endOfMember)
        guard case .member(let member)? = try tar.next(in: rest.span) else {
            Issue.record("no member")
            return
        }
        #expect(member.name == Array("next".utf8))
        #expect(member.offset == 512 + 5120)
    }
}
