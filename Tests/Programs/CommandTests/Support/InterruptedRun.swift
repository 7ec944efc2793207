import Foundation
import TestSupport

/// Runs the program and sends it `signal` as soon as the file at `path` has at least `size` bytes. Returns how the program ended.
///
/// A run that has given `output` its name before the signal arrives is repeated without it, because a busy machine can stop the
/// test for longer than the program needs.
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
        // The volumes of an output have its name and a number.
        try tool("bash", "-c", #"rm -rf "$1" "$1".*"#, "bash", output)
    }
}
