import CLibrary
import Files
import TestSupport
import Testing

@Suite struct InstalledProgramTests {
    private func run(_ name: String, _ arguments: [String] = [], environment: [String: String] = [:]) throws
        -> ProgramResult
    {
        try InstalledProgram(name, searching: searchPath).run(arguments, environment: environment)
    }

    @Test func inputOutputAndErrorsArePassed() throws {
        let program = try InstalledProgram("sh", searching: searchPath)
        let result = try program.run(["-c", "cat; echo bad >&2; exit 7"], environment: ["PATH": searchPath]) {
            write in
            for part in ["one ", "two"] {
                let isRead = try write(Array(part.utf8).span)
                #expect(isRead)
            }
        }
        #expect(result == ProgramResult(status: 7, output: Array("one two".utf8), errors: Array("bad\n".utf8)))
    }

    @Test func environmentIsNotInherited() throws {
        #expect(try run("env", environment: ["A": "1"]).output == Array("A=1\n".utf8))
        #expect(try run("env").output.isEmpty)
    }

    @Test func argumentsAreNotInterpretedByAShell() throws {
        let words = ["$HOME", "a b", "*", "'\"", "", "`id`"]
        #expect(try run("printf", ["[%s]"] + words).output == Array(words.map { "[\($0)]" }.joined().utf8))
    }

    @Test("a program that no longer reads its input is reported without SIGPIPE")
    func unreadInput() throws {
        let program = try InstalledProgram("true", searching: searchPath)
        var isRead = true
        let result = try program.run([], environment: [:]) { write in
            let block = [UInt8](repeating: 0, count: 1 << 20)
            for _ in 0..<64 where isRead { isRead = try write(block.span) }
        }
        #expect(!isRead)
        #expect(result.status == 0)
    }

    @Test("large input and output do not cause a deadlock")
    func largeOutput() throws {
        let program = try InstalledProgram("cat", searching: searchPath)
        let block = [UInt8](repeating: 0x61, count: 1 << 20)
        let result = try program.run([], environment: [:]) { write in
            for _ in 0..<8 {
                let isRead = try write(block.span)
                #expect(isRead)
            }
        }
        #expect(result == ProgramResult(status: 0, output: Array(block.prefix(64 << 10)), errors: []))
    }

    @Test func terminationBySignalIsReported() throws { #expect(try run("sh", ["-c", "kill -9 $$"]).status == 137) }

    @Test func signalHandlersAreReset() throws {
        // If SIGPIPE were ignored when the shell starts, the shell could not reset it.
        #expect(try run("sh", ["-c", "kill -PIPE $$"]).status == 141)
    }

    @Test func programIsTerminatedIfItsInputFails() throws {
        struct NoInputError: Error {}
        let program = try InstalledProgram("sleep", searching: searchPath)
        #expect(throws: NoInputError.self) {
            try program.run(["1000"], environment: [:]) { _ in throw NoInputError() }
        }
    }

    @Test func missingPrograms() throws {
        #expect(throws: ProgramError.missing("pingferry-none")) {
            try InstalledProgram("pingferry-none", searching: searchPath)
        }
        let folder = try TemporaryFolder()
        try folder.putProgram("#!/bin/sh\n", "tool")
        // The current folder is not searched, even if PATH has an empty part.
        for folders in ["", ":", ".", "\(folder.path)/none"] {
            #expect(throws: ProgramError.missing("tool")) { try InstalledProgram("tool", searching: folders) }
        }
        #expect(try InstalledProgram("tool", searching: ":/none:\(folder.path)").path == folder("tool"))
        try folder.putProgram("no program", "text")
        #expect(throws: ProgramError.notStarted(folder("text"), code: 8)) {
            try InstalledProgram("text", searching: folder.path).run([], environment: [:])
        }
    }

    @Test func programThatIsOpenForWritingIsNotStarted() throws {
        let folder = try TemporaryFolder()
        let path = try folder.putProgram("#!/bin/sh\n", "tool")
        let writer = try RunningProgram(["sh", "-c", #"exec 3>> "$1"; echo open; exec sleep 1000"#, "sh", path])
        defer {
            writer.send(SIGKILL)
            writer.wait()
        }
        #expect(try writer.firstLine() == "open")
        #expect(throws: ProgramError.notStarted(path, code: ETXTBSY)) {
            try InstalledProgram("tool", searching: folder.path).run([], environment: [:])
        }
    }
}
