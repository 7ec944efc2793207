import Foundation
import TestSupport
import Testing

/// Tests of bundles on standard output, which other programs encrypt or copy.
@Suite struct PipedBundleTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Runs a script in the folder, in which `"$0"` is the program under test and `"$1"` a sample.
    private func run(_ script: String, _ sampleName: String = "webxr") throws -> FinishedProgram {
        try shell(#"set -o pipefail; cd "$2"; "# + script, [sample(sampleName), folder.path])
    }

    @Test("A pipe receives only the bytes of the bundle, regardless of its name")
    func bytes() throws {
        #expect(try pingferry("bundle", "-q", "-o", folder("a.tar.zst"), sample("focus")).status == 1)
        let bundle = try folder.data("a.tar.zst")
        for output in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
            let piped = try shell(#""$0" bundle -o "$1" "$2" | cat; exit ${PIPESTATUS[0]}"#, [output, sample("focus")])
            #expect(piped.output == bundle, "\(output)")
            #expect(piped.status == 1)
            #expect(
                piped.errorLines.prefix(2) == [
                    "pingferry: wrote the bundle to standard output: "
                        + "7 records (6 uploadable; held: pending-events 1), 1 quarantined",
                    "pingferry: digest 86acff599a21b4a7258cb345810b82621fad21adc96e42f24b10e9546a0c2090",
                ])
        }
        let quiet = try run(#""$0" bundle -q -o - "$1" 2>&1 | "$0" verify -q -"#)
        #expect(quiet.status == 0 && quiet.output.isEmpty)
        let named = try run(#"mkfifo pipe; cat pipe > b & "$0" bundle -q -o pipe "$1"; wait"#, "focus")
        #expect(named.status == 0)
        #expect(try folder.data("b") == bundle)
        #expect(folder.names == ["a.tar.zst", "b", "pipe"])
    }

    @Test("A bundle and a JSON summary are not written to the same output")
    func bundleAndSummary() throws {
        for output in ["-", "/dev/stdout"] {
            let json = try pingferry("bundle", "--json", "-o", output, sample("webxr"))
            #expect(json.status == 64)
            #expect((try json.json()["error"] as? [String: Any])?["code"] as? String == "usage")
        }
    }

    @Test("A bundle is not written to a terminal", .enabled(if: canOpenTerminal, "no terminal can be opened"))
    func terminal() throws {
        for output in ["-", "/dev/stdout", "/dev/tty"] {
            let words = "\(pingferryPath) bundle -o \(output) \(sample("webxr"))"
            let finished = try RunningProgram(["script", "-qec", words, "/dev/null"]).finish()
            #expect(finished.status == 64)
            #expect(finished.text.hasPrefix("pingferry: a bundle cannot be written to a terminal"), "\(finished.text)")
        }
    }

    @Test("A closed pipe ends the program silently")
    func closedReader() throws {
        let load = try SharedCaptures.load(pings: 3000)
        let finished = try shell(#""$0" bundle -o - "$1" | head -c 1; echo "${PIPESTATUS[0]}""#, [load])
        #expect(finished.text.hasSuffix("\(128 + SIGPIPE)\n"))
        #expect(finished.errors == "")
    }

    @Test("Incomplete output is not a valid bundle")
    func incompleteBundle() throws {
        let load = try SharedCaptures.load(pings: 3000)
        let finished = try shell(#""$0" bundle -q -o - "$1" | head -c 5000 | "$0" verify -"#, [load])
        #expect(finished.status == 65)
        let full = try shell(#""$0" bundle -q -o /dev/full "$1""#, [sample("webxr")])
        #expect(full.status == 74)
        #expect(full.errorLines.first == "pingferry: cannot write /dev/full: No space left on device")
    }

    @Test("Commands read bundles from a pipe")
    func readingFromPipe() throws {
        let text = try pingferry("convert", "-o", "-", sample("webxr")).text
        let converted = try run(#""$0" bundle -q -o - "$1" | "$0" convert -q -o out -"#)
        #expect(converted.status == 0, "\(converted.errors)")
        #expect(try folder.text("out") == text)
        for words in ["list -", "scan -", "bundle -q -o merged -", "report -q -o page.html -"] {
            let finished = try run(#""$0" bundle -q -o - "$1" | "$0" "# + words)
            #expect(finished.status == 0, "\(words): \(finished.errors)")
        }
    }

    @Test("age encrypts and decrypts a bundle")
    func age() throws {
        let finished = try run(
            #"""
            age-keygen -o key 2> said; age-keygen -y key > recipient
            "$0" bundle -q -o - "$1" | age -R recipient > phone.tar.zst.age
            head -c 3 phone.tar.zst.age; echo
            age -d -i key phone.tar.zst.age | "$0" verify -
            """#)
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(
            finished.lines.prefix(2) == [
                "age", "standard input: good, 6 records (5 uploadable; held: pending-events 1)",
            ])
        let damaged = try run(
            #"printf x | dd of=phone.tar.zst.age bs=1 seek=400 conv=notrunc status=none; "#
                + #"age -d -i key phone.tar.zst.age | "$0" verify -"#)
        #expect(damaged.status != 0)
        #expect(damaged.output.isEmpty)
    }

    @Test("gpg encrypts and decrypts a bundle")
    func gpg() throws {
        let finished = try run(
            #"""
            mkdir -m 700 home; export GNUPGHOME="$2/home"
            gpg="gpg --batch --quiet --pinentry-mode loopback --passphrase-file secret"
            echo ferry > secret
            "$0" bundle -q -o - "$1" | $gpg --symmetric --output phone.tar.zst.gpg
            $gpg --decrypt phone.tar.zst.gpg | "$0" verify -
            status=$?; gpgconf --kill all; exit $status
            """#)
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(finished.lines.first == "standard input: good, 6 records (5 uploadable; held: pending-events 1)")
    }
}
