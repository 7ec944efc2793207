import Tar
import Testing

@Suite struct PlainTarTests {
    /// What is in an archive, a line each; nil if it is not plain. It comes in chunks of some blocks.
    private func read(_ bytes: [UInt8], blocks: Int = 1) -> [String]? {
        var tar = PlainTar()
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

    @Test("members of every kind that is read, however the bytes are cut", arguments: 1...12)
    func members(blocks: Int) {
        let large = String(repeating: "0123456789", count: 100)
        let bytes =
            header("d/", "5") + header("d/a", size: 1000) + filled(large) + header("d/empty")
            + header("l", "2", target: "d/a")
            + header("././@LongLink", "L", size: Self.long.utf8.count + 1) + filled(Self.long + "\u{0}")
            + header("cut", size: 3) + filled("abc") + endMark + [UInt8](repeating: 0xFF, count: 512)
        #expect(
            read(bytes, blocks: blocks) == [
                "0 folder d/ 0", "", "512 file d/a 1000", large, "2048 file d/empty 0", "", "2560 link l to d/a 0", "",
                "4096 file \(Self.long) 3", "abc",
            ])
    }

    @Test("what an extended header tells", arguments: [1, 3, 8])
    func extended(blocks: Int) {
        let records =
            record("path", Self.long) + record("size", "5") + record("mtime", "1.5")
            + record("SCHILY.xattr.user.a", "=\n1")
        let link = record("linkpath", "\u{fc}ber")
        let bytes =
            header("x", "x", size: records.utf8.count) + filled(records) + header("cut", size: 0) + filled("hello")
            + header("x", "x", size: link.utf8.count) + filled(link) + header("l", "2", target: "cut") + endMark
        #expect(
            read(bytes, blocks: blocks) == ["1024 file \(Self.long) 5", "hello", "3072 link l to \u{fc}ber 0", ""])
    }

    @Test(
        "what is left to a reader that knows every tar",
        arguments: [
            ("a hard link", header("a", "1", target: "b")), ("a pipe", header("a", "6")),
            ("a sparse file", header("a", "S")),
            ("a header for all members", header("a", "g")), ("a folder by its slash alone", header("a/")),
            ("a folder with contents", header("a", "5", size: 1) + filled("x")), ("no name", header("")),
            ("a link with contents", header("a", "2", size: 1, target: "b") + filled("x")),
            ("a file that leads somewhere", header("a", target: "b")),
            ("a header before POSIX", header("a", magic: "")),
            ("no header", filled("text")), ("a mode that is not a number", changed(header("a"), at: 100)),
            ("a time that is not a number", changed(header("a"), at: 136)),
            ("a key that is not known", header("x", "x", size: 20) + filled("20 GNU.sparse.map=1\n") + header("a")),
            ("a key for a sparse file", header("x", "x", size: 22) + filled("22 SCHILY.realsize=10\n") + header("a")),
            ("a size that is none", header("x", "x", size: 9) + filled("9 size=x\n") + header("a")),
            ("no records", header("x", "x", size: 4) + filled("text") + header("a")),
            ("a path with a NUL", header("x", "x", size: 10) + filled("10 path=\u{0}\n") + header("a")),
            ("a path that is composed", header("x", "x", size: 12) + filled("12 path=e\u{301}\n") + header("a")),
            (
                "a path told twice",
                header("L", "L", size: 2) + filled("b") + header("L", "L", size: 2) + filled("c") + header("a")
            ),
            (
                "two extended headers",
                header("x", "x", size: 10) + filled("10 mtime=1\n") + header("x", "x", size: 10)
                    + filled("10 uname=a\n") + header("a")
            ),
            ("a name that is empty in the header itself", header("L", "L", size: 2) + filled("b") + header("")),
            ("a name that is empty", header("L", "L", size: 1) + filled("\u{0}") + header("a")),
            ("a path that is empty", header("x", "x", size: 8) + filled("8 path=\n") + header("a")),
            ("a target that is empty", header("x", "x", size: 12) + filled("12 linkpath=\n") + header("a", "2")),
            ("a name without a member", header("L", "L", size: 2) + filled("b")),
            ("more of a name than anybody has", header("L", "L", size: 1 << 20 + 1)),
        ] as [(String, [UInt8])])
    func notPlain(what: String, bytes: [UInt8]) {
        #expect(read(bytes + endMark) == nil, "\(what)")
        #expect(read(header("before") + bytes + endMark, blocks: 100) == nil, "\(what)")
    }

    @Test("an archive that is cut has no end", arguments: [512, 1024, 1536, 2048])
    func cut(count: Int) {
        let bytes = header("a", size: 600) + filled(String(repeating: "x", count: 600)) + header("b") + endMark
        #expect(read(Array(bytes.prefix(count)))?.last == "no end")
    }

    @Test("contents that nobody wants are passed over")
    func skipping() throws {
        var tar = PlainTar()
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
