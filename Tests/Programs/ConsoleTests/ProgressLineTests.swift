import TestSupport
import Testing

@testable import Console

/// Tests of the text of the progress line, and its removal by signals.
@Suite struct ProgressLineTests {
    @Test("The text has bytes, records, speed and, if the total is known, a percentage")
    func text() {
        let cases: [(bytes: Int, total: Int?, records: Int, seconds: Double, text: String)] = [
            (0, nil, 0, 0, "reading: 0 MB, 0 MB/s"), (120_000_000, nil, 7, 2, "reading: 120 MB, 7 records, 60 MB/s"),
            (120_000_000, 480_000_000, 0, 2, "reading: 25%, 120 MB, 60 MB/s, 0:06 left"),
            (1_000_000, 480_000_000, 0, 2, "reading: 0%, 1 MB, 0 MB/s, 15:58 left"),
            (1, .max, 0, 1e9, "reading: 0%, 0 MB, 0 MB/s, 5999:59 left"),
            (479_999_999, 480_000_000, 0, 1, "reading: 99%, 479 MB, 479 MB/s"),
            (480_000_000, 480_000_000, 1, 1, "reading: 100%, 480 MB, 1 record, 480 MB/s"),
            // A file that grew has at most 100 %, and an empty file has no percentage.
            (500_000_000, 480_000_000, 0, 1, "reading: 100%, 500 MB, 500 MB/s"), (0, 0, 0, 1, "reading: 0 MB, 0 MB/s"),
        ]
        for (bytes, total, records, seconds, text) in cases {
            let found = ProgressLine.text("reading", bytes: bytes, of: total, records: records, seconds: seconds)
            #expect(found == text)
        }
    }

    /// The program opens the pipe with the password after its start, and before it reads the capture.
    @Test("SIGUSR1 requests a line about the progress", arguments: ["", "-q"])
    func request(option: String) throws {
        let folder = try TemporaryFolder()
        let script = #"""
            mkfifo "$1/password"
            "$0" scan $3 --password-file "$1/password" "$2" & program=$!
            exec 3> "$1/password"
            kill -USR1 "$program"
            echo x >&3
            exec 3>&-
            wait "$program"
            """#
        let words = ["bash", "-c", script, builtProgram("pingferry"), folder.path, sample("webxr"), option]
        let finished = try RunningProgram(words).finish()
        #expect(finished.status == 0)
        #expect(finished.errors.hasPrefix("progress: reading: "), "\(finished.errors)")
    }

    /// A Python script that runs a program on a separate terminal, waits until it shows a text, and sends it a signal.
    ///
    /// The script prints the output after the text as a literal of type `bytes`.
    private static let onATerminal = #"""
        import os, pty, signal, sys
        shown, number, *command = sys.argv[1:]
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        child, terminal = pty.fork()
        if child == 0:
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            os.execv(command[0], command)
        output = b""
        while shown.encode() not in output:
            output += os.read(terminal, 4096)
        os.kill(child, int(number))
        try:
            while piece := os.read(terminal, 4096):
                output += piece
        except OSError:
            pass
        os.waitpid(child, 0)
        print(output.split(shown.encode(), 1)[1])
        """#

    @Test(
        "A signal removes the line before anything else is printed",
        .enabled(if: canOpenTerminal, "no terminal can be opened"), arguments: [2, 13])
    func interrupted(number: Int) throws {
        let folder = try TemporaryFolder()
        let command = [builtProgram("interrupted"), folder("out"), "progress"]
        let shown = try tool(["python3", "-c", Self.onATerminal, "working", "\(number)"] + command)
        let words = number == 2 ? "pingferry: interrupted; nothing was written to \(folder("out"))\\r\\n" : ""
        #expect(String(decoding: shown, as: UTF8.self) == "b'\\r\\x1b[K\(words)'\n")
        #expect(folder.names == [])
    }

    @Test("A signal at a prompt starts a new line", .enabled(if: canOpenTerminal, "no terminal can be opened"))
    func interruptedQuestion() throws {
        let command = [builtProgram("pingferry"), "scan", sample("backup")]
        let shown = try tool(["python3", "-c", Self.onATerminal, "password of the backup", "2"] + command)
        #expect(String(decoding: shown, as: UTF8.self).hasSuffix(": \\r\\npingferry: interrupted\\r\\n'\n"))
    }
}
