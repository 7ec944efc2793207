import Foundation
import Testing

@testable import Files

/// Runs the program `interrupted`, which holds an output open, and kills it.
@Suite struct PartialFilesTests {
    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGPIPE])
    func signalRemovesTheTemporaryAndEndsTheProcess(number: Int32) throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/out.tar.zst"
        let process = Process()
        process.executableURL = Bundle.module(of: "interrupted")
        process.arguments = [path]
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        #expect(output.fileHandleForReading.availableData == Data("ready\n".utf8))
        #expect(folder.names == [".out.tar.zst.partial"])
        kill(process.processIdentifier, number)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal)
        #expect(process.terminationStatus == number)
        #expect(folder.names == [])
        let line = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let expected = "pingferry: interrupted; nothing was written to \(path)\n"
        #expect(line == (number == SIGPIPE ? "" : expected))
    }

    @Test func ignoredSignalStaysIgnored() throws {
        let folder = try TemporaryFolder()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let program = Bundle.module(of: "interrupted").path
        process.arguments = ["-c", "trap '' HUP; exec \(program) \(folder.path)/out"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        #expect(output.fileHandleForReading.availableData == Data("ready\n".utf8))
        kill(process.processIdentifier, SIGHUP)
        usleep(50_000)
        #expect(process.isRunning)
        #expect(folder.names == [".out.partial"])
        kill(process.processIdentifier, SIGTERM)
        process.waitUntilExit()
        #expect(process.terminationStatus == SIGTERM)
        #expect(folder.names == [])
    }
}

extension Bundle {
    /// A program that the package builds beside the tests.
    fileprivate static func module(of program: String) -> URL {
        let executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let folder = URL(fileURLWithPath: executable).deletingLastPathComponent()
        let beside = folder.appendingPathComponent(program)
        if FileManager.default.fileExists(atPath: beside.path) { return beside }
        return URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent(program)
    }
}
