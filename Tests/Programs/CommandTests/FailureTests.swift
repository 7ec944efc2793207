import Foundation
import TestSupport
import Testing

/// Tests of the exit status and the message of each kind of failure, after which no files remain.
@Suite struct FailureTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    // MARK: Exit status 64

    @Test(arguments: [
        ["nonsense"], ["scan"], ["list"], ["verify"], ["convert", "x"], ["bundle", "x"], ["scan", "--zzz", "x"],
        ["scan", "-", "x", "-"], ["verify", "-", "-"],
        ["bundle", "-o", "-", "--json", "x"], ["bundle", "-o", "y", "--volume-size", "1", "x"],
        ["bundle", "-o", "y", "--level", "0", "x"],
        ["bundle", "-o", "y", "--level", "20", "x"],
        ["convert", "-o", "-", "--json", "x"], ["scan", "--jobs", "0", "x"], ["scan", "--jobs", "257", "x"],
        ["scan", "--system", "Mozilla", "x"], ["scan", "--since", "yesterday", "x"], ["scan", "--since", "", "x"],
        ["scan", "--until", "2020-02-30", "x"], ["scan", "--since", "2020-03-02T12:00", "x"],
        ["scan", "--since", "2020-03-02T24:00:00Z", "x"], ["scan", "--since", "10000-01-01", "x"],
        ["bundle", "-o", "y", "--quarantine-file", "129", "x"], ["bundle", "-o", "y", "--quarantine-total", "-1", "x"],
    ])
    func usage(arguments: [String]) throws {
        let finished = try shell(#"cd "$1" && "$0" "${@:2}""#, [folder.path] + arguments)
        #expect(finished.status == 64)
        if arguments.contains("--json") {
            #expect((try finished.json()["error"] as? [String: Any])?["code"] as? String == "usage")
        } else {
            #expect(finished.output.isEmpty)
        }
        #expect(finished.errors.hasPrefix("pingferry: "))
        #expect(finished.errors.contains("Usage: pingferry"))
        #expect(folder.names == [])
    }

    @Test("A long option with one hyphen gives a hint")
    func singleHyphen() throws {
        let finished = try pingferry("scan", "-json", sample("webxr"))
        #expect(finished.status == 64)
        #expect(finished.errors.hasPrefix("pingferry: The value 'son' is invalid for '-j <n>'\n"))
        #expect(
            finished.errorLines.last == "hint: did you mean --json? options of several letters begin with two hyphens")
    }

    @Test(
        "The first line of an error names the mistake, and a hint its remedy",
        arguments: [
            // The misspelled option is reported rather than the argument that it was meant to be.
            (["bundle", "--outptu", "x", "a"], 64, "Unknown option '--outptu'. Did you mean '--output'?", nil),
            (["scan", "-x"], 64, "Unknown option '-x'", nil),
            (["bundle", "--forse"], 64, "Unknown option '--forse'. Did you mean '--force'?", nil),
            (["scan"], 64, "Missing expected argument '<path> ...'", nil),
            (["version"], 64, "version is not a command. Did you mean --version?", nil),
            (["bundel"], 64, "bundel is not a command. Did you mean bundle?", nil),
            (["scan", ""], 66, "cannot open '': No such file or directory", nil),
            (
                ["bundle", "-o", ".", sample("webxr")], 73, "cannot create .: Is a directory",
                "name a file in that folder"
            ),
        ] as [([String], Int32, String, String?)])
    func firstLine(words: [String], status: Int32, line: String, hint: String?) throws {
        let finished = try shell(#"cd "$1" && "$0" "${@:2}""#, [folder.path] + words)
        #expect(finished.status == status)
        #expect(finished.errorLines.first == "pingferry: \(line)")
        if let hint { #expect(finished.errorLines.last == "hint: \(hint)") }
    }

    @Test("The short help of each command has only ASCII characters, and its options fit in 80 columns")
    func shortHelp() throws {
        for command in ["scan", "bundle", "convert", "verify", "quarantine"] {
            let lines = try pingferry(command, "-h").lines
            #expect(lines.allSatisfy { $0.allSatisfy(\.isASCII) }, "\(command)")
            #expect(lines.filter { $0.hasPrefix(" ") }.allSatisfy { $0.utf8.count <= 80 }, "\(command)")
        }
    }

    /// Commands that fail, and the error that they print with `--json`.
    private static let failures: [(words: [String], code: String, path: String?, status: Int32)] = [
        (["scan", "none"], "no-input", "none", 66), (["scan", "empty"], "bad-data", "empty", 65),
        (["list", "none"], "no-input", "none", 66), (["gaps", "none"], "no-input", "none", 66),
        (["convert", "-o", "x.ndjson", "none"], "no-input", "none", 66),
        (["report", "-o", "x.html", "none"], "no-input", "none", 66),
        (["bundle", "-o", "/proc/x.tar.zst", "none"], "cannot-create", "/proc/.x.tar.zst.partial", 73),
        (["list", "empty"], "bad-data", "empty", 65), (["receive", "-o", "x", "none"], "usage", nil, 64),
        (["frobnicate"], "usage", nil, 64), (["scan", "--jobs", "x", "none"], "usage", nil, 64),
    ]

    @Test("With --json, a command that fails prints its error as the result", arguments: failures)
    func jsonError(failure: (words: [String], code: String, path: String?, status: Int32)) throws {
        try folder.put("", "empty")
        let finished = try shell(#"cd "$1" && "$0" "${@:2}""#, [folder.path] + failure.words + ["--json"])
        #expect(finished.status == failure.status)
        let error = try #require(try finished.json()["error"] as? [String: Any])
        #expect(error["code"] as? String == failure.code)
        #expect(error["path"] as? String == failure.path)
        #expect(error["status"] as? Int == Int(failure.status))
        let message = try #require(error["message"] as? String)
        #expect(finished.errors.hasPrefix("pingferry: \(message)\n"), "\(finished.errors)")
    }

    @Test("A path that is not UTF-8 is rejected, because it could be read as another path")
    func invalidUTF8Argument() throws {
        let finished = try shell(
            #"touch "$1/"$'o\xE9'; "$0" bundle --force -o "$1/"$'o\xE9' "$2""#, [folder.path, sample("webxr")])
        #expect(finished.status == 64)
        #expect(finished.errors.contains("argument 4 is not UTF-8"), "\(finished.errors)")
        #expect(folder.names.count == 1)
    }

    // MARK: Exit statuses 65 and 66

    @Test func folderIsNotBundle() throws {
        for command in ["verify", "list"] {
            let finished = try pingferry(command, folder.path)
            #expect(finished.status == 65)
            #expect(finished.errors == "pingferry: cannot read \(folder.path): Is a directory\n")
        }
    }

    @Test func deviceIsNotCapture() throws {
        #expect(mkfifo(folder("pipe"), 0o600) == 0)
        for path in ["/dev/null", "/dev/zero", folder("pipe")] {
            let finished = try pingferry("scan", path)
            #expect(finished.status == 65)
            #expect(finished.errors == "pingferry: cannot read \(path): it is not a regular file\n")
        }
    }

    /// The files are sparse and one byte larger than the maximum size of a property list.
    @Test func oversizedFilesAreReported() throws {
        try folder.makeFolder("capture/sift-v0_0_1/queues")
        for name in ["queue", "capture/sift-v0_0_1/queues/sift-default"] {
            try folder.put("", name)
            #expect(truncate(folder(name), (512 << 20) + 1) == 0)
        }
        let alone = try pingferry("scan", folder("queue"))
        #expect(alone.status == 65)
        #expect(
            alone.errorLines.first
                == "pingferry: \(folder("queue")): too-large: more than 512 MiB, and its name is not that of a store")
        let inspected = try pingferry("inspect", folder("queue"))
        #expect(inspected.status == 65)
        #expect(inspected.errorLines.first == "pingferry: \(folder("queue")): too-large: more than 512 MiB")
        let captured = try pingferry("convert", "-o", "-", folder("capture"))
        #expect(captured.status == 1)
        #expect(captured.output.isEmpty)
        #expect(
            captured.errors == "pingferry: capture: sift-v0_0_1/queues/sift-default: "
                + "too-large: more than 512 MiB; only files of 64 MiB are kept\n")
    }

    @Test(arguments: ["scan", "verify", "list"]) func missingInput(command: String) throws {
        let finished = try pingferry(command, folder("none"))
        #expect(finished.status == 66)
        #expect(finished.errors == "pingferry: cannot open \(folder("none")): No such file or directory\n")
    }

    @Test(arguments: ["convert", "bundle"]) func missingInputCreatesNoOutput(command: String) throws {
        #expect(try pingferry(command, "-o", folder("out"), sample("webxr"), folder("none")).status == 66)
        #expect(folder.names == [])
    }

    // MARK: Exit status 73

    @Test(arguments: ["convert", "bundle"]) func existingOutputIsKept(command: String) throws {
        let output = try folder.put("mine", "out")
        let finished = try pingferry(command, "-o", output, sample("webxr"))
        #expect(finished.status == 73)
        #expect(
            finished.errorLines == [
                "pingferry: cannot create \(output): File exists",
                "hint: pass --force to replace it, or choose another name",
            ])
        #expect(try folder.data("out") == Data("mine".utf8))
        #expect(try pingferry(command, "--force", "-o", output, sample("webxr")).status == 0)
        #expect(try folder.data("out") != Data("mine".utf8))
        #expect(folder.names == ["out"])
    }

    @Test func missingOutputFolderIsReported() throws {
        let finished = try pingferry("bundle", "-o", folder("none/out"), sample("webxr"))
        #expect(finished.status == 73)
        #expect(finished.errorLines.last == "hint: create the folder first")
    }

    @Test func onlyRegularFilesAreReplaced() throws {
        for options in [[], ["--force"]] {
            let finished = try shell(#""$0" bundle "$@""#, options + ["-o", folder.path, sample("webxr")])
            #expect(finished.status == 73)
            #expect(finished.errors == "pingferry: cannot replace \(folder.path): Is a directory\n")
        }
        #expect(try pingferry("convert", "--force", "-o", folder.path, sample("webxr")).status == 73)
    }

    @Test func inputIsNeverReplaced() throws {
        let capture = try folder.copySample("focus")
        let bundle = folder("a.tar.zst")
        #expect(try pingferry("bundle", "-q", "-o", bundle, capture).status == 1)
        let store = "\(capture)/Documents/eventArray-MozTelemetry-Default-focus-event.json"
        let stranger = try folder.put("not a store", "focus/Documents/notes.txt")
        let before = try files()
        for (output, input) in [(bundle, bundle), (store, capture), (store, store), (stranger, capture)] {
            for command in ["convert", "bundle"] {
                let finished = try pingferry(command, "--force", "-o", output, input)
                #expect(finished.status == 73)
                // The error can follow a warning that the output is inside the capture.
                #expect(
                    finished.errorLines.suffix(2) == [
                        "pingferry: cannot replace \(output): it is part of the input",
                        "hint: give the output another name",
                    ])
            }
        }
        #expect(try files() == before)
    }

    /// Returns all files but no folders, because removing a temporary file changes the date of its folder.
    private func files() throws -> [String: [String]] {
        try snapshot(folder.path).filter { $0.value[0] != "folder" }
    }

    /// The output is inside the capture, also among the pings, and already exists in the second run.
    @Test(arguments: ["out.tar.zst", "Documents/out.tar.zst", "Documents/MozTelemetry-Default-core/out.tar.zst"])
    func outputIsNeverReadAsInput(name: String) throws {
        let capture = try folder.copySample("webxr")
        try folder.makeFolder("webxr/Documents/MozTelemetry-Default-core")
        let first = try pingferry("bundle", "--json", "-o", "\(capture)/\(name)", capture)
        #expect(first.status == 0)
        let again = try pingferry("bundle", "--json", "--force", "-o", "\(capture)/\(name)", capture)
        #expect(again.status == 0)
        #expect(again.output == first.output)
        #expect(try pingferry("verify", "\(capture)/\(name)").status == 0)
    }

    // MARK: Exit status 74

    @Test(arguments: [
        "scan", "scan --json", "convert -o -", "verify --json", "verify", "list", "list --json",
    ])
    func failedStandardOutputIsReported(command: String) throws {
        #expect(try pingferry("bundle", "-q", "-o", folder("a.tar.zst"), sample("webxr")).status == 0)
        let full = try shell(#""$0" \#(command) "$1" > /dev/full"#, [folder("a.tar.zst")])
        #expect(full.status == 74)
        #expect(full.errorLines.first == "pingferry: cannot write standard output: No space left on device")
        #expect(full.errorLines.count == 2)
        let device = try pingferry("convert", "-o", "/dev/full", folder("a.tar.zst"))
        #expect(device.status == 74)
        #expect(device.errorLines.first == "pingferry: cannot write /dev/full: No space left on device")
        let closed = try shell(#""$0" \#(command) "$1" >&-"#, [folder("a.tar.zst")])
        #expect(closed.status == 74)
        #expect(closed.errors == "pingferry: cannot write standard output: Bad file descriptor\n")
    }

    @Test func closedDescriptorsDoNotCorruptOutput() throws {
        let finished = try shell(
            #""$0" bundle -q -o "$1/a.tar.zst" "$2" <&- >&- 2>&-; echo $?"#, [folder.path, sample("damaged")])
        #expect(finished.text == "1\n")
        #expect(try pingferry("verify", folder("a.tar.zst")).status == 0)
        #expect(try pingferry("bundle", "-q", "-o", folder("b.tar.zst"), sample("damaged")).status == 1)
        #expect(try folder.data("a.tar.zst") == folder.data("b.tar.zst"))
    }

    /// A limit of file sizes has the effect of a full disk, but requires no mount.
    @Test(arguments: ["convert", "bundle"]) func failedOutputIsRemoved(command: String) throws {
        let load = try SharedCaptures.load(pings: 400)
        let script = #"ulimit -f 1; "$0" "$1" -o "$2/out" "$3"; status=$?; ls -A "$2"; exit $status"#
        let finished = try shell("trap '' XFSZ; " + script, [command, try folder.makeFolder("small"), load])
        #expect(finished.status == 74)
        #expect(finished.text == "")
        #expect(finished.errors == "pingferry: cannot write \(folder("small/out")): File too large\n")
    }

    // MARK: Exit statuses 1 and 77

    @Test func unreadableFilesAreReported() throws {
        let capture = try folder.copySample("webxr")
        let pings = try FileManager.default.subpathsOfDirectory(atPath: capture).filter { $0.contains("-core/-t-") }
        let ping = try #require(pings.min())
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: "\(capture)/\(ping)")
        let finished = try withoutPrivileges(#""$0" bundle -q -o "$1/out" "$1/webxr""#)
        #expect(finished.status == 1)
        #expect(finished.errors == "pingferry: webxr: \(ping): cannot open \(capture)/\(ping): Permission denied\n")
        let converted = try withoutPrivileges(#""$0" convert -q -o - "$1/out""#)
        #expect(converted.lines.count == 5)
    }

    @Test func missingPermission() throws {
        let capture = try folder.copySample("webxr")
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: capture)
        let read = try withoutPrivileges(#""$0" scan "$1/webxr""#)
        #expect(read.status == 77)
        #expect(read.errors == "pingferry: cannot open \(capture): Permission denied\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: capture)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: try folder.makeFolder("locked"))
        let written = try withoutPrivileges(#""$0" convert -o "$1/locked/out" "$1/webxr""#)
        #expect(written.status == 73)
        #expect(written.errors.contains("Permission denied"))
    }

    /// Runs a script as an ordinary user.
    ///
    /// If the tests run as root, another user runs a copy of the program.
    private func withoutPrivileges(_ script: String) throws -> FinishedProgram {
        guard geteuid() == 0 else { return try shell(script, [folder.path]) }
        let program = folder("program")
        if !FileManager.default.fileExists(atPath: program) {
            // Another process copies the program, because a program that another test starts could inherit the open
            // descriptor.
            try tool("cp", pingferryPath, program)
            chmod(program, 0o755)
            chmod(folder.path, 0o777)
        }
        return try shell(
            #"setpriv --reuid=65534 --regid=65534 --clear-groups bash -c "$2" "$3" "$1""#,
            [folder.path, script, program])
    }
}
