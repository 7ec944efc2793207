import Foundation
import Testing

/// A program that has ended.
struct Finished {
    /// The exit status; of a signal, its number and 128, as a shell has it.
    let status: Int32
    let output: Data
    let errors: String

    var text: String { String(decoding: output, as: UTF8.self) }
    var lines: [String] { text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init) }
    var errorLines: [String] { errors.split(separator: "\n").map(String.init) }

    /// The output as an object of JSON, as another implementation reads it.
    func json() throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: output) as? [String: Any])
    }
}

/// The program under test, which the package builds beside the tests.
let pingferryPath: String = {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let folders = [own, CommandLine.arguments[0]].map { ($0 as NSString).deletingLastPathComponent }
    let paths = folders.map { $0 + "/pingferry" }
    return paths.first(where: FileManager.default.isExecutableFile) ?? "pingferry"
}()

/// The repository.
let repository = URL(fileURLWithPath: #filePath + "/../../../..").standardized.path

func sample(_ name: String) -> String { "\(repository)/samples/\(name)" }

/// The captures of the samples.
let samples = ["damaged", "firefox", "focus", "webxr"]

/// Runs the program under test to its end.
@discardableResult
func pingferry(_ arguments: String...) throws -> Finished {
    try finish(pingferryPath, arguments)
}

/// Runs a shell command in which `"$0"` is the program under test and `"$1"` and so on are the arguments.
func shell(_ script: String, _ arguments: [String]) throws -> Finished {
    try finish("/bin/bash", ["-c", script, pingferryPath] + arguments)
}

/// Runs a tool that has to succeed; its output.
@discardableResult
func tool(_ arguments: String...) throws -> String {
    let finished = try finish("/usr/bin/env", arguments)
    try #require(finished.status == 0, "\(arguments): \(finished.errors)")
    return finished.text
}

private func finish(_ program: String, _ arguments: [String]) throws -> Finished {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    // Not a second pipe: a program that fills the one that is not being read would wait forever.
    let folder = try TemporaryFolder()
    let errors = try folder.put("", "errors")
    let pipe = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = pipe
    process.standardError = FileHandle(forWritingAtPath: errors)
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let signal: Int32 = process.terminationReason == .uncaughtSignal ? 128 : 0
    return Finished(
        status: signal + process.terminationStatus, output: output,
        errors: try String(contentsOfFile: errors, encoding: .utf8))
}

/// A program for Python that runs its arguments with no signal blocked or ignored.
///
/// Tests start programs from dispatch threads, where all signals are blocked, and programs inherit that; Python itself
/// ignores SIGPIPE.
let unblocking = """
    import os, signal, sys
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
    """
