import Foundation
import TestSupport
import Testing

/// Tests of unprintable characters and control sequences, which are escaped on a terminal.
///
/// Records in files and pipes keep their bytes.
@Suite struct TerminalTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A string of invisible characters: escape sequences, C1 controls, DEL, direction marks, joiners, separators and tags.
    private static let unseen =
        "\u{1B}[31m\u{7}\u{7F}\u{85}\u{9B}\u{AD}\u{61C}\u{180E}\u{200B}\u{200D}\u{200F}\u{2028}\u{2029}\u{202A}\u{202E}\u{2060}"
        + "\u{2064}\u{2066}\u{2069}\u{206A}\u{206F}\u{FEFF}\u{FFF9}\u{FFFB}\u{E0001}\u{E007F}"

    /// Returns the characters of a text that should have been escaped.
    private func hidden(in text: String) -> [Unicode.Scalar] {
        text.unicodeScalars.filter {
            let category = $0.properties.generalCategory
            return [.control, .format, .lineSeparator, .paragraphSeparator].contains(category) && $0 != "\n"
        }
    }

    /// A capture with unprintable characters in pings and file names.
    ///
    /// Several names are used, because one would be too long.
    private func capture() throws -> String {
        let capture = try folder.copySample("focus")
        let pings = "focus/Documents/MozTelemetry-Default-core"
        try folder.put("[", "\(pings)/\(Self.unseen)\n.json")
        let path = "\(capture)/Documents/MozTelemetry-Default-core/-t-1583154291.7114122.json"
        let ping = try String(contentsOfFile: path, encoding: .utf8)
        let escaped = Self.unseen.unicodeScalars.flatMap { String($0).utf16 }.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        let changed = ping.replacingOccurrences(of: "en-US", with: escaped.joined())
        try #require(changed != ping)
        try changed.write(toFile: path, atomically: false, encoding: .utf8)
        return capture
    }

    @Test func namesAndLabelsAreEscaped() throws {
        let capture = try capture()
        for arguments in [
            ["scan", capture, "--label", Self.unseen], ["scan", "--json", capture, "--label", Self.unseen],
            ["bundle", "--json", "--force", "-o", folder("a.tar.zst"), capture, "--label", Self.unseen],
            ["bundle", "--force", "-o", folder("\(Self.unseen).tar.zst"), capture],
            ["list", folder("\(Self.unseen).tar.zst")], ["list", "--json", folder("\(Self.unseen).tar.zst")],
            ["verify", folder("\(Self.unseen).tar.zst")], ["verify", "--json", folder("\(Self.unseen).tar.zst")],
            ["convert", "--force", "-o", folder("\(Self.unseen).ndjson"), capture],
        ] {
            let finished = try shell(#""$0" "$@""#, arguments)
            #expect([0, 1].contains(finished.status), "\(finished.errors)")
            let text = finished.text + finished.errors
            #expect(text.lowercased().contains(arguments.contains("--json") ? #"\u202e"# : #"\u{202e}"#), "\(text)")
            #expect(hidden(in: text).isEmpty, "\(arguments): \(hidden(in: text))")
        }
        let missing = try pingferry("scan", folder("no\(Self.unseen)\nsuch"))
        #expect(missing.status == 66)
        #expect(missing.errorLines.count == 1)
        #expect(missing.errors.contains(#"no\u{1B}[31m\u{7}\u{7F}"#))
        #expect(hidden(in: missing.errors).isEmpty)
    }

    @Test func jsonIsEscapedWithoutChangingItsValue() throws {
        let finished = try pingferry("scan", "--json", "--label", Self.unseen, try folder.copySample("webxr"))
        let stores = try #require(finished.json()["stores"] as? [[String: Any]])
        #expect((stores.first?["capture"] as? String).map { Array($0.utf8) } == Array(Self.unseen.utf8))
    }

    @Test(arguments: ["pingferry", "pingferry-upload"])
    func usageErrorsEscapeArguments(program: String) throws {
        let (command, number) = program == "pingferry" ? ("scan", "--jobs") : ("send", "--connections")
        for words in [
            ["--\(Self.unseen)"], ["--quiet\n\(Self.unseen)"], ["-\u{202E}"], ["\(number)=\(Self.unseen)\n"],
        ] {
            let finished = try RunningProgram([builtProgram(program), command] + words + ["x"]).finish()
            #expect(finished.status == 64, "\(finished.errors)")
            #expect(finished.output.isEmpty)
            #expect(finished.errors.contains(#"\u{"#), "\(finished.errors)")
            #expect(hidden(in: finished.errors).isEmpty)
        }
        let unknown = try RunningProgram([builtProgram(program), command, "--\u{1B}[31m\nx", "x"]).finish()
        #expect(unknown.errorLines.first == "\(program): " + #"Unknown option '--\u{1B}[31m\u{A}x'"#)
        for words in [["--help"], [command, "--help"]] {
            let help = try RunningProgram([builtProgram(program)] + words).finish()
            #expect(help.status == 0 && help.errors.isEmpty)
            let usage = ([program] + words.dropLast()).joined(separator: " ")
            #expect(help.lines.contains { $0.hasPrefix("USAGE: \(usage) ") })
            #expect(hidden(in: help.text).isEmpty)
        }
        let version = try RunningProgram([builtProgram(program), "--version"]).finish()
        #expect(version.status == 0)
        #expect(version.text.wholeMatch(of: #/([-a-z]+) [.0-9]+( \(commit [-0-9a-z]+\))?\n/#)?.1 == Substring(program))
        let full = try RunningProgram(["bash", "-c", #""$0" --help > /dev/full"#, builtProgram(program)]).finish()
        #expect(full.status == 74)
    }

    /// The command `script` runs a program on a separate terminal and records the output.
    @Test(.enabled(if: canOpenTerminal, "no terminal can be opened"))
    func recordsAreEscapedOnlyOnTerminal() throws {
        let capture = try capture()
        let piped = try pingferry("convert", "-o", "-", capture)
        #expect(piped.text.contains("\u{202E}"))
        _ = try pingferry("convert", "-o", folder("records.ndjson"), capture)
        #expect(try Data(contentsOf: URL(filePath: folder("records.ndjson"))) == piped.output)
        for output in ["-", "/dev/tty", "/dev/stdout"] {
            let command = #"script -qec '"$P" convert -q --force -o "$O" "$C"' /dev/null < /dev/null"#
            let shown = try RunningProgram(
                ["env", "P=\(pingferryPath)", "O=\(output)", "C=\(capture)", "SHELL=/bin/bash", "bash", "-c", command]
            ).finish()
            let text = shown.text.replacingOccurrences(of: "\r\n", with: "\n")
            #expect(hidden(in: text).isEmpty, "\(output): \(hidden(in: text))")
            let lines = text.split(separator: "\n").filter { $0.hasPrefix("{") }
            #expect(lines.count == piped.lines.count)
            #expect(lines.contains { $0.contains(#"\u202e"#) })
            for (line, record) in zip(lines, piped.lines) {
                let value = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary
                #expect(value == (try JSONSerialization.jsonObject(with: Data(record.utf8)) as? NSDictionary))
            }
        }
    }

    @Test func propertyListsAreEscaped() throws {
        let text = String(Self.unseen.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0xFEFF })
        let path = try folder.put("<plist><string>\(text)</string></plist>", "a.plist")
        let finished = try pingferry("inspect", path)
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(hidden(in: finished.text).isEmpty)
        let value = try JSONSerialization.jsonObject(with: finished.output, options: .fragmentsAllowed) as? String
        #expect(value.map { Array($0.utf8) } == Array(text.utf8))
    }
}
