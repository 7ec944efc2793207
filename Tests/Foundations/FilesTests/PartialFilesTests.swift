import Foundation
import TestSupport
import Testing

@testable import Files

/// Tests that send signals to the program `interrupted`, which keeps an output open.
@Suite struct PartialFilesTests {
    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGPIPE])
    func signalRemovesTheTemporaryFileAndEndsTheProcess(number: Int32) throws {
        let folder = try TemporaryFolder()
        let path = folder("out.tar.zst")
        let program = try RunningProgram([builtProgram("interrupted"), path])
        #expect(try program.firstLine() == "ready")
        #expect(folder.names == [".out.tar.zst.partial"])
        program.send(number)
        let finished = try program.finish()
        #expect(finished.status == 128 + number)
        #expect(folder.names == [])
        let expected = "pingferry: interrupted; nothing was written to \(path)\n"
        #expect(finished.errors == (number == SIGPIPE ? "" : expected))
    }

    /// The signals arrive at random times during the creation, renaming or removal of an output.
    @Test func signalAtAnyTimeLeavesNoTemporaryFile() throws {
        for _ in 0..<40 {
            let folder = try TemporaryFolder()
            let program = try RunningProgram([builtProgram("interrupted"), folder("out"), "again"])
            #expect(try program.firstLine() == "ready")
            program.send(SIGINT)
            #expect(try program.finish().status == 128 + SIGINT)
            #expect(folder.names.filter { $0 != "out" } == [])
        }
    }

    @Test func ignoredSignalStaysIgnored() throws {
        let folder = try TemporaryFolder()
        let script = #"trap '' HUP; exec "$0" "$1""#
        let program = try RunningProgram(["sh", "-c", script, builtProgram("interrupted"), folder("out")])
        #expect(try program.firstLine() == "ready")
        program.send(SIGHUP)
        // Pending signals are delivered in the order of their numbers, so SIGHUP arrives before SIGTERM.
        program.send(SIGTERM)
        #expect(program.wait() == 128 + SIGTERM)
        #expect(folder.names == [])
    }
}
