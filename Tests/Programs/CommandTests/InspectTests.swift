import Foundation
import TestSupport
import Testing

/// Tests of the output, messages and exit statuses of `inspect`.
@Suite struct InspectTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let shop =
        "<plist version=\"1.0\"><dict><key>b</key><date>2020-03-02T13:02:11Z</date><key>a</key><data>AQID</data></dict></plist>"

    /// Writes the value of a Python expression with the `plistlib` module, and returns the path of the file.
    private func make(_ expression: String, _ name: String) throws -> String {
        let program = """
            import plistlib, sys
            U = plistlib.UID
            def archive(*objects): return {'$version': 100000, '$archiver': 'NSKeyedArchiver', '$top': {'root': U(1)},
                                           '$objects': ['$null', *objects]}
            open(sys.argv[1], 'wb').write(plistlib.dumps(\(expression), fmt=plistlib.FMT_BINARY, sort_keys=False))
            """
        try tool("python3", "-c", program, folder(name))
        return folder(name)
    }

    @Test func keysKeepOrderOfFile() throws {
        let finished = try pingferry("inspect", try folder.put(Self.shop, "a.plist"))
        #expect(finished.text == "{\n  \"b\": \"2020-03-02T13:02:11Z\",\n  \"a\": {\"$data\": \"AQID\"}\n}\n")
        #expect(finished.errors == "")
        #expect(finished.status == 0)
        let sorted = try pingferry("inspect", "--compact", "--sort-keys", folder("a.plist"))
        #expect(sorted.text == "{\"a\":{\"$data\":\"AQID\"},\"b\":\"2020-03-02T13:02:11Z\"}\n")
    }

    @Test func standardInputIsRead() throws {
        let path = try folder.put(Self.shop, "a.plist")
        let finished = try shell(#""$0" inspect --compact - < "$1""#, [path])
        #expect(finished.text == "{\"b\":\"2020-03-02T13:02:11Z\",\"a\":{\"$data\":\"AQID\"}}\n")
        let empty = try shell(#""$0" inspect - < /dev/null"#, [])
        #expect(empty.status == 65)
        #expect(empty.errorLines.first == "pingferry: standard input: empty: file without any bytes")
    }

    @Test(
        "An invalid value is shown as an error beside the other values",
        arguments: [
            ("<date>2020-01-01T00:00:00.5Z</date>", "date"), ("<date>2020-01-01T00:00:00+01:00</date>", "date"),
            ("<integer>99999999999999999999</integer>", "integer"), ("<real>1,5</real>", "real"),
            ("<data>AQ*D</data>", "base64 text"),
        ])
    func invalidValue(value: String, name: String) throws {
        let text = "<plist><dict><key>a</key>\(value)<key>b</key><array><true/></array></dict></plist>"
        let finished = try pingferry("inspect", "--compact", try folder.put(text, "a.plist"))
        #expect(finished.text == "{\"a\":{\"$error\":\"xml-syntax: a malformed \(name) at byte 25\"},\"b\":[true]}\n")
        #expect(finished.errorLines.count == 1 && finished.errors.hasSuffix("a malformed \(name) at byte 25\n"))
        #expect(finished.status == 1)
    }

    @Test("A string with an unknown reference or malformed UTF-8 is shown as an error, and not as a key")
    func invalidString() throws {
        let unknown = "a reference that is not predefined"
        for (value, message) in [
            ("a &amp; &b; &c;", "\(unknown) at byte 41"), ("\u{E9}", "malformed UTF-8 at byte 25"),
        ] {
            let text = "<plist><dict><key>a</key><string>\(value)</string><key>b</key><true/></dict></plist>"
            let path = folder("a.plist")
            try #require(text.data(using: .isoLatin1)).write(to: URL(fileURLWithPath: path))
            let finished = try pingferry("inspect", "--compact", path)
            #expect(finished.text == "{\"a\":{\"$error\":\"xml-syntax: \(message)\"},\"b\":true}\n")
            #expect(finished.status == 1)
        }
        let key = try pingferry(
            "inspect", try folder.put("<plist><dict><key>&b;</key><true/></dict></plist>", "b.plist"))
        #expect(key.status == 65 && key.errors.contains(unknown))
    }

    @Test func textBehindThePropertyListIsReported() throws {
        let text = "<plist><string>x</string></plist>\nmore"
        let finished = try pingferry("inspect", try folder.put(text, "a.plist"))
        #expect(finished.text == "\"x\"\n")
        #expect(finished.errors.contains("something after the end of the property list at byte 34"))
        #expect(finished.status == 1)
    }

    @Test func latin1IsDecoded() throws {
        let path = folder("a.plist")
        let text =
            "<?xml version='1.0' encoding='ISO-8859-1'?><plist><dict><key>k\u{E4}</key><string><![CDATA[\u{FC}]]>\u{E9}</string></dict></plist>"
        try #require(text.data(using: .isoLatin1)).write(to: URL(fileURLWithPath: path))
        let finished = try pingferry("inspect", "--compact", path)
        #expect(finished.text == "{\"k\u{E4}\":\"\u{FC}\u{E9}\"}\n")
        #expect(finished.status == 0)
    }

    @Test func archiveIsShownAsValuesOrRaw() throws {
        let path = try make(
            "archive({'$class': U(2), 'total': 3}, {'$classname': 'Cart', '$classes': ['Cart']})", "cart")
        #expect(try pingferry("inspect", "--compact", path).text == "{\"$class\":\"Cart\",\"total\":3}\n")
        let raw = try pingferry("inspect", "--compact", "--raw", path).text
        #expect(raw.contains(#""$objects":["$null",{"$class":{"CF$UID":2},"total":3},{"$classname":"Cart""#))
    }

    @Test func cyclesAreShown() throws {
        let path = try make("archive({'$class': U(2), 'me': U(1)}, {'$classname': 'A'})", "cycle")
        let finished = try pingferry("inspect", "--compact", path)
        #expect(finished.text == "{\"$class\":\"A\",\"me\":{\"$ref\":1}}\n")
        #expect(finished.status == 0)
        #expect(finished.errorLines.count == 1 && finished.errors.contains("\(path): graph-cycle: "))
        #expect(try pingferry("inspect", "-q", path).errors == "")
    }

    @Test func invalidValuesAreReported() throws {
        let path = try make(
            "archive({'$class': U(2), 'a': U(77), 'b': 1}, {'$classname': 'A'})", "broken")
        let finished = try pingferry("inspect", "--compact", "-q", path)
        #expect(finished.status == 1)
        #expect(finished.text.hasSuffix("\"},\"b\":1}\n"))
        #expect(finished.errors.contains("\(path): uid-out-of-range: UID 77 of 3 objects at byte "))
    }

    @Test(arguments: [
        ("", "empty: file without any bytes"), ("{\"a\":1}", "not-plist: neither a binary nor an XML property list"),
        ("bplist00", "truncated: 8 bytes cannot hold a binary property list at byte 8"),
        ("<plist><evil/></plist>", "xml-syntax: an unknown element at byte 7"),
    ])
    func errorsHaveFileCodeAndOffset(contents: String, words: String) throws {
        let path = try folder.put(contents, "bad")
        let finished = try pingferry("inspect", path)
        #expect(finished.status == 65)
        #expect(finished.output.isEmpty)
        #expect(finished.errorLines.first == "pingferry: \(path): \(words)")
    }

    @Test(arguments: [
        "{ key = value; }", "// old\n{ \"a key\" = (1, 2); }", "/* Title */\n\"OK\" = \"Gut\";\n", "( a, b )",
    ])
    func oldTextFormatIsRecognized(contents: String) throws {
        let path = try folder.put(contents, "Localizable.strings")
        for finished in [try pingferry("inspect", path), try pingferry("inspect", try wide(contents, "wide.strings"))] {
            #expect(finished.status == 65)
            #expect(
                finished.errorLines.first?.hasSuffix(
                    ": not-plist: text in the old style of OpenStep or a .strings file, which is not read") == true)
            #expect(finished.errorLines.last?.contains("plutil -convert xml1") == true)
        }
    }

    @Test(arguments: ["{}", "{\"a\": 1}", "[1]", "hello", "a", "{", "(", "\"", "//", "/*", "#!/bin/sh\n"])
    func otherTextIsNotTakenForOldFormat(contents: String) throws {
        let finished = try pingferry("inspect", try folder.put(contents, "x"))
        #expect(finished.status == 65)
        #expect(finished.errors.contains("neither a binary nor an XML property list"))
    }

    /// Writes text in UTF-16 with a byte order mark, and returns the path of the file.
    private func wide(_ text: String, _ name: String) throws -> String {
        try (text.data(using: .utf16) ?? Data()).write(to: URL(fileURLWithPath: folder(name)))
        return folder(name)
    }

    @Test func utf16IsRead() throws {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\n<plist><string>Größe 😀</string></plist>\n"
        let finished = try pingferry("inspect", try wide(text, "a.plist"))
        #expect(finished.text == "\"Größe 😀\"\n")
        #expect(finished.errors == "")
    }

    @Test func severalFilesHaveNames() throws {
        let paths = [try folder.put(Self.shop, "a.plist"), try folder.put("<plist><true/></plist>", "b.plist")]
        let shown = try pingferry("inspect", paths[1], paths[0])
        #expect(shown.lines.prefix(5) == ["==> \(paths[1]) <==", "true", "", "==> \(paths[0]) <==", "{"])
        let compact = try pingferry("inspect", "--compact", paths[1], folder("none"), paths[0])
        #expect(compact.status == 66)
        #expect(compact.errorLines.count == 1)
        let objects = try compact.lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
        #expect(objects.map { $0?["$file"] as? String } == [paths[1], paths[0]])
        #expect(objects.first??["$value"] as? Bool == true)
        #expect((objects.last??["$value"] as? [String: Any])?.keys.sorted() == ["a", "b"])
        #expect(try pingferry("inspect", "-", "-").status == 64)
    }

    @Test func invalidArchiveSuggestsRaw() throws {
        let path = try make("{'$archiver': 'NSKeyedArchiver', '$version': 5}", "old")
        let finished = try pingferry("inspect", path)
        #expect(finished.status == 65)
        #expect(finished.errorLines.last == "hint: --raw shows the file as it is")
        #expect(try pingferry("inspect", "--raw", path).status == 0)
    }

    @Test func fileSizeIsLimited() throws {
        let path = try folder.put("<plist>" + String(repeating: " ", count: 1 << 20) + "<true/></plist>", "large")
        let finished = try pingferry("inspect", "--max-size", "1", path)
        #expect(finished.status == 65)
        #expect(
            finished.errorLines == [
                "pingferry: \(path): too-large: more than 1 MiB", "hint: increase --max-size",
            ])
        #expect(try pingferry("inspect", "--max-size", "2", path).text == "true\n")
        #expect(try pingferry("inspect", "--max-size", "0", path).status == 64)
        #expect(try pingferry("inspect", folder("none")).status == 66)
        #expect(try pingferry("inspect", folder.path).status == 65)
    }

    @Test func closedOutputEndsProgram() throws {
        let path = try make("[list(range(50)) for number in range(20000)]", "long")
        let finished = try shell(#""$0" inspect "$1" | head -n 3"#, [path])
        #expect(finished.text == "[\n  [\n    0,\n")
        #expect(finished.errors == "")
        let full = try shell(#""$0" inspect "$1" > /dev/full"#, [path])
        #expect(full.status == 74)
    }

    /// The program reads every hostile file within the memory limit, and writes at most 64 MiB for 16 files.
    @Test func hostileFilesAreReadWithinLimits() throws {
        let fixtures = try SharedCaptures.unpacked("sift")
        let script = #"""
            ulimit -v 1000000; ulimit -f 65536
            export program=$0 output=$2
            inspect='"$program" inspect --compact --nested "$@" > "$output" 2> /dev/null
                case $? in 0|1|65) ;; *) echo "$@" ;; esac'
            printf '%s\0' "$1"/hostile/files/* | xargs -0 -n 16 bash -c "$inspect" bash
            """#
        let finished = try shell(script, [fixtures, folder("output")])
        #expect(finished.text == "")
    }
}
