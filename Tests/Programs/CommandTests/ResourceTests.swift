import Foundation
import TestSupport
import Testing

/// Tests of limits of threads, memory and open files.
///
/// If they are too low, both programs end at once with a message.
@Suite struct ResourceTests {
    private static let programs = [
        ["pingferry", "scan", "--quiet", sample("focus")], ["pingferry-upload", "status", "--ledger", "/nowhere/l"],
    ]

    private func run(_ command: [String], through wrapper: [String]) throws -> FinishedProgram {
        try RunningProgram(
            wrapper + [builtProgram(command[0])] + command.dropFirst(), environment: ["SWIFT_BACKTRACE": "enable=no"]
        ).finish()
    }

    private func check(_ finished: FinishedProgram, _ command: [String]) {
        guard finished.status != 74 else {
            #expect(finished.errors.contains("\(command[0]): cannot"))
            #expect(finished.errors.contains("ulimit"))
            return
        }
        // Status 127 means that the dynamic loader had too little memory.
        #expect([1, 66, 127].contains(finished.status), "\(finished.status) \(finished.errors)")
    }

    @Test(
        .enabled(
            if: geteuid() == 0, "only root can run the programs as another user, to whom the limit of processes applies"
        ),
        arguments: programs)
    func fewProcesses(command: [String]) throws {
        for number in 1...8 {
            // The other user can read the programs, even if they are in the home folder of root.
            let limits = [
                "setpriv", "--reuid=54321", "--clear-groups", "--inh-caps=+dac_read_search",
                "--ambient-caps=+dac_read_search", "prlimit", "--nproc=\(number)",
            ]
            let finished = try run(command, through: limits)
            if number == 1 { #expect(finished.status == 74) }
            check(finished, command)
        }
    }

    @Test("With few open files, a bundle is written completely or not at all")
    func fewOpenFiles() throws {
        let folder = try TemporaryFolder()
        #expect(try pingferry("bundle", "-q", "-o", folder("whole"), sample("focus")).status == 1)
        for number in [4, 10, 15, 16, 17, 18, 20, 22, 24, 28] {
            let command = ["pingferry", "bundle", "-q", "-o", folder("\(number)"), sample("focus")]
            let finished = try run(command, through: ["prlimit", "--nofile=\(number)"])
            check(finished, command)
            #expect(number >= 16 || finished.status == 74)
            if folder.names.contains("\(number)") { #expect(try folder.data("\(number)") == folder.data("whole")) }
        }
    }

    @Test(arguments: programs)
    func littleAddressSpace(command: [String]) throws {
        for mebibytes in stride(from: 40, through: 400, by: 24) {
            check(try run(command, through: ["prlimit", "--as=\(mebibytes << 20)"]), command)
        }
    }
}
