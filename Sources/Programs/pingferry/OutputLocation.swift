import Console
import Files

/// The place of an output among the inputs of a command.
enum OutputLocation {
    /// Warns on standard error if an output is written into the folder of a capture. The next run would find it there, and what
    /// was captured is no longer as it was.
    static func warnIfInsideCapture(_ output: String, inputs: [String], isQuiet: Bool) {
        guard !isQuiet, output != "-", let folder = RealPath.of(Path.folder(of: output)) else { return }
        for input in inputs where input != "-" {
            guard let capture = RealPath.of(input), "\(folder)/".hasPrefix("\(capture)/") else { continue }
            StandardError.write("pingferry: \(output) is written into the capture \(input), which changes it")
            StandardError.write("pingferry: write it to another folder, so that the capture stays as it was taken")
            return
        }
    }
}
