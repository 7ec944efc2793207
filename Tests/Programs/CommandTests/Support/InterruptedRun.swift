import Foundation
import TestSupport

/// Runs the program and sends it `signal` as soon as the file at `path` has at least `size` bytes.
///
/// If the program completes `output` before the signal arrives, the output is removed and the program runs again. This
/// happens if a busy machine suspends the test for longer than the program takes.
func interruptedRun(
    _ arguments: [String], writing output: String, by signal: Int32, whenFileAt path: String, has size: Int
) throws -> FinishedProgram {
    while true {
        let program = try RunningProgram([pingferryPath] + arguments + ["-o", output])
        do {
            try program.waitForFile(at: path, size: size)
        } catch let early as RunningProgram.EndedEarly where early.finished.status == 0 {}
        program.send(signal)
        let finished = try program.finish()
        let isWritten = [output, "\(output).001"].contains { FileManager.default.fileExists(atPath: $0) }
        guard finished.status == 0 || isWritten else { return finished }
        // The names of volumes are the name of the output and a number.
        try tool("bash", "-c", #"rm -rf "$1" "$1".*"#, "bash", output)
    }
}
