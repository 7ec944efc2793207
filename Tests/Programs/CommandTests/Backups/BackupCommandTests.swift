import Foundation
import TestSupport
import Testing

/// Tests the commands with every backup: listings, exit statuses, and values that must not be printed.
@Suite struct BackupCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let variable = "PINGFERRY_BACKUP_PASSWORD"

    /// Runs a command with the input and the password of a case.
    private func run(_ command: [String], on fixture: BackupCase) throws -> FinishedProgram {
        var environment = ProcessInfo.processInfo.environment
        environment[Self.variable] = fixture.password
        var arguments = [pingferryPath] + command
        if let file = fixture.passwordFile { arguments += ["--password-file", file] }
        let input = try fixture.standardInput.map { Array(try Data(contentsOf: URL(fileURLWithPath: $0))) } ?? []
        return try RunningProgram(arguments + [fixture.input], environment: environment, input: input).finish()
    }

    private func oracle(_ fixture: BackupCase) throws -> [String: Any] {
        let data = try Data(contentsOf: URL(fileURLWithPath: fixture.oraclePath))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test("A scan has the expected status, stores and backups", arguments: try BackupCase.all)
    func scan(fixture: BackupCase) throws {
        let finished = try run(["scan", "--json"], on: fixture)
        #expect(Int(finished.status) == fixture.status, "\(finished.errors)")
        for canary in fixture.canaries {
            #expect(!finished.text.contains(canary) && !finished.errors.contains(canary), "\(canary)")
        }
        if let error = fixture.error {
            #expect(finished.errors.contains(": \(error) "), "\(finished.errors)")
            let result = try finished.json()["error"] as? [String: Any]
            return #expect(result?["status"] as? Int == fixture.status)
        }
        let oracle = try oracle(fixture)
        let found = try finished.json()
        for key in ["stores", "backups"] {
            let keys =
                key == "stores"
                ? ["path", "kind", "container", "containerID", "records"]
                : [
                    "path", "format", "isEncrypted", "productType", "productVersion", "lastBackup", "snapshotState",
                    "absent",
                ]
            #expect(Self.lines(found[key], keys) == Self.lines(oracle[key], keys), "\(key)")
        }
    }

    /// Returns some members of each object in a list as strings.
    private static func lines(_ list: Any?, _ keys: [String]) -> [String] {
        let objects = list as? [[String: Any]] ?? []
        return objects.map { object in keys.map { "\($0) \(object[$0] ?? "null")" }.joined(separator: ", ") }.sorted()
    }

    @Test(
        "Outputs of other commands have the status of a scan, and contain no secret of the phone",
        arguments: [
            "plain", "encrypted", "mobilesync", "backup-in-tar-stdin", "plain-nothing", "plain-partial",
            "encrypted-without-password", "encrypted-password-file", "encrypted-password-spaces", "keybag-rounds",
        ])
    func otherCommands(name: String) throws {
        let fixture = try BackupCase.named(name)
        for command in [["convert", "-o", folder("records.ndjson")], ["bundle", "-o", folder("bundle.tar.zst")]] {
            let finished = try run(command, on: fixture)
            #expect(Int(finished.status) == fixture.status, "\(finished.errors)")
            var texts = [finished.text, finished.errors]
            if fixture.error == nil {
                if command[0] == "convert" {
                    texts.append(try String(contentsOfFile: folder("records.ndjson"), encoding: .utf8))
                }
            }
            for canary in fixture.canaries { #expect(!texts.contains { $0.contains(canary) }, "\(canary)") }
        }
    }

    @Test("Without a password, the message describes the backup and how to pass a password")
    func withoutPassword() throws {
        let finished = try run(["scan"], on: try BackupCase.named("encrypted-without-password"))
        #expect(finished.status == 78)
        let expected = [
            "iPhone11,2", "iOS 13.3.1", "2020-04-20T10:05:00Z", "--password-file", Self.variable, "terminal",
        ]
        for text in expected { #expect(finished.errors.contains(text), "\(text)") }
    }

    @Test("A command prints the password, and its failure is reported")
    func passwordCommand() throws {
        let encrypted = sample(sampleBackup.name)
        let command = "printf '%s\\n' \(sampleBackup.password); echo ignored"
        let opened = try pingferry("scan", "--json", "--password-command", command, encrypted)
        #expect(opened.status == 0, "\(opened.errors)")
        for (command, reason) in [
            ("echo no key >&2; exit 3", "the command ended with status 3: no key"),
            ("true", "no password in its first line"),
            ("head -c 70000 /dev/zero", "the command printed 65536 bytes or more"),
        ] {
            let failed = try pingferry("scan", "--password-command", command, encrypted)
            #expect(failed.status == 78)
            #expect(failed.errorLines.first == "pingferry: --password-command: \(reason)")
        }
    }

    @Test("The listing states which data backups do not contain")
    func absentPings() throws {
        let finished = try run(["scan"], on: try BackupCase.named("plain-nothing"))
        #expect(finished.status == 0)
        #expect(finished.text.contains("backup, iPhone11,2, iOS 13.3.1, made 2020-04-20T10:05:00Z"))
        for app in ["org.mozilla.ios.Firefox", "org.mozilla.ios.XRViewer"] {
            #expect(finished.text.contains("\(app): its pings are in Library/Caches, which backups do not contain"))
        }
        #expect(finished.text.contains("queues of Sift are not in backups"))
        #expect(finished.text.contains("queues of Adjust are in no backup"))
    }

    // MARK: Passwords

    private func password(_ text: String, mode: Int = 0o600) throws -> String {
        let path = folder("password-\(mode)-\(abs(text.hashValue))")
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    private func scan(_ name: String, _ files: [String]) throws -> FinishedProgram {
        let input = try BackupCase.named(name).input
        return try RunningProgram(
            [pingferryPath, "scan", "--json", input] + files.flatMap { ["--password-file", $0] }
        ).finish()
    }

    @Test("Several password files are tried in order")
    func severalPasswordFiles() throws {
        let right = try password("  two spaces, at both ends  \nmore\n")
        #expect(try scan("encrypted-password-spaces", [password("wrong\n"), right]).status == 0)
        #expect(try scan("encrypted-password-spaces", [password("two spaces, at both ends")]).status == 78)
    }

    @Test("A password file that other users can read, or without a password, is rejected")
    func invalidPasswordFiles() throws {
        for path in [try password("x", mode: 0o640), try password("\nx"), try password("\r\n"), try password("")] {
            let finished = try scan("plain", [path])
            #expect(finished.status == 78)
            #expect(finished.errors.contains(path))
        }
        #expect(try scan("plain", [password(String(repeating: "x", count: 4097))]).status == 78)
        #expect(try scan("plain", [folder("no-such-file")]).status == 66)
    }

    @Test("A password can be read from a pipe")
    func pipe() throws {
        let input = try BackupCase.named("encrypted-password-spaces").input
        let script = #""$0" scan --json --password-file <(printf '  two spaces, at both ends  ') "$1""#
        #expect(try shell(script, [input]).status == 0)
    }

    @Test("An empty variable is not used as a password")
    func emptyVariable() throws {
        let input = try BackupCase.named("encrypted-without-password").input
        let finished = try shell(#"PINGFERRY_BACKUP_PASSWORD= "$0" scan "$1""#, [input])
        #expect(finished.status == 78)
        #expect(finished.errors.contains("B19"))
    }

    @Test(
        "The password is requested on the terminal up to three times, without an echo",
        .enabled(if: canOpenTerminal, "no terminal can be opened"))
    func prompt() throws {
        let input = try BackupCase.named("encrypted-password-spaces").input
        let answers = ["wrong", "  two spaces, at both ends  "]
        let finished = try terminal(input, answers: answers)
        #expect(finished.status == 0, "\(finished.text)")
        #expect(finished.text.contains("password of the backup \(input):"))
        #expect(finished.text.contains("wrong password"))
        #expect(!finished.text.contains("two spaces"))
        let refused = try terminal(input, answers: ["a1", "a2", "a3"])
        #expect(refused.status == 78)
        #expect(refused.text.components(separatedBy: "password of the backup").count == 4)
        #expect(refused.text.contains("B20"))
    }

    /// Runs a scan on a separate terminal, and types the answers to its prompts.
    private func terminal(_ input: String, answers: [String]) throws -> FinishedProgram {
        let script = """
            import os, pty, sys
            answers = [a.encode() + b"\\n" for a in sys.argv[3:]]
            number, master = pty.fork()
            if number == 0:
                os.execv(sys.argv[1], [sys.argv[1], "scan", sys.argv[2]])
            seen, asked = b"", 0
            while True:
                try:
                    part = os.read(master, 4096)
                except OSError:
                    break
                if not part:
                    break
                seen += part
                while asked < len(answers) and seen.count(b"password of the backup") > asked and seen.endswith(b": "):
                    os.write(master, answers[asked])
                    asked += 1
                    break
            sys.stdout.buffer.write(seen)
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]))
            """
        return try RunningProgram(["python3", "-c", script, pingferryPath, input] + answers).finish()
    }

    @Test(
        "A signal at the prompt ends the program and turns the echo on again",
        .enabled(if: canOpenTerminal, "no terminal can be opened"), arguments: [2, 15])
    func interruptedPrompt(signal: Int) throws {
        let script = """
            import os, pty, sys, termios
            go, start = os.pipe()
            number, master = pty.fork()
            if number == 0:
                # The program must not turn the echo off before it was looked at.
                os.read(go, 1)
                os.execv(sys.argv[1], [sys.argv[1], "scan", sys.argv[2]])
            def echoes():
                return bool(termios.tcgetattr(master)[3] & termios.ECHO)
            before, seen = echoes(), b""
            os.write(start, b".")
            while not seen.endswith(b": "):
                seen += os.read(master, 4096)
            asked = echoes()
            os.kill(number, int(sys.argv[3]))
            while True:
                try:
                    seen += os.read(master, 4096)
                except OSError:
                    break
            status = os.waitpid(number, 0)[1]
            print(before, asked, echoes(), os.WTERMSIG(status))
            """
        let input = try BackupCase.named("encrypted-password-spaces").input
        let finished = try RunningProgram(
            ["python3", "-c", script, pingferryPath, input, "\(signal)"]
        ).finish()
        #expect(finished.lines == ["True False True \(signal)"], "\(finished.errors)")
    }
}
