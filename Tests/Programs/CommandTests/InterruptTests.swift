import Foundation
import TestSupport
import Testing

/// Tests that interrupt the program while it works.
///
/// The highest compression level makes the program slow enough.
@Suite struct InterruptTests {
    private let folder: TemporaryFolder
    private let load: String

    init() throws {
        folder = try TemporaryFolder()
        load = try SharedCaptures.load(pings: 3000)
    }

    /// Runs the program and sends it a signal as soon as the temporary file is not empty.
    private func interrupt(_ number: Int32) throws -> FinishedProgram {
        try interruptedRun(
            ["bundle", "--level", "19", "--jobs", "1", load], writing: folder("out.tar.zst"), by: number,
            whenFileAt: folder(".out.tar.zst.partial"), has: 1)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func signalRemovesPartialOutput(number: Int32) throws {
        let before = try snapshot(load)
        let finished = try interrupt(number)
        #expect(finished.status == 128 + number)
        #expect(finished.errors == "pingferry: interrupted; nothing was written to \(folder("out.tar.zst"))\n")
        #expect(folder.names == [])
        #expect(try snapshot(load) == before)
    }

    @Test func runAfterKilledRunSucceeds() throws {
        let finished = try interrupt(SIGKILL)
        #expect(finished.status == 128 + SIGKILL)
        #expect(finished.errors == "")
        #expect(folder.names == [".out.tar.zst.partial"])
        for name in ["out.tar.zst", "other.tar.zst"] {
            #expect(try pingferry("bundle", "-o", folder(name), load).status == 0)
        }
        #expect(folder.names == ["other.tar.zst", "out.tar.zst"])
        #expect(try folder.data("out.tar.zst") == folder.data("other.tar.zst"))
    }

    @Test func interruptionWithoutOutput() throws {
        // The program blocks on its standard output, a full pipe without a reader.
        let script = #"""
            import os, signal, subprocess, sys
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            process = subprocess.Popen([sys.argv[1], "convert", "-o", "-", sys.argv[2]], stdout=subprocess.PIPE)
            os.read(process.stdout.fileno(), 1)
            process.send_signal(signal.SIGTERM)
            process.wait()
            print(process.returncode)
            """#
        let finished = try shell(#"python3 -c "$1" "$0" "$2""#, [script, load])
        #expect(finished.text == "-15\n")
        #expect(finished.errors == "pingferry: interrupted\n")
    }

    @Test func concurrentRunWithSameOutputIsRejected() throws {
        let script = #"""
            import fcntl, subprocess, sys
            with open(sys.argv[2] + "/.out.tar.zst.partial", "w") as partial:
                fcntl.flock(partial, fcntl.LOCK_EX)
                sys.exit(subprocess.run([sys.argv[1], "bundle", "-o", sys.argv[2] + "/out.tar.zst", sys.argv[3]]).returncode)
            """#
        let finished = try shell(#"python3 -c "$1" "$0" "$2" "$3""#, [script, folder.path, sample("webxr")])
        #expect(finished.status == 73)
        #expect(
            finished.errors == "pingferry: cannot lock \(folder(".out.tar.zst.partial")): another run is writing it\n")
    }
}
