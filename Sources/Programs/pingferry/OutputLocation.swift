import Console
import Files

/// A check of the location of an output.
enum OutputLocation {
    /// Prints a warning if `output` is inside a capture in `inputs`, because the next run would read the output.
    static func warnIfInsideCapture(_ output: String, inputs: [String], isQuiet: Bool) {
        guard !isQuiet, output != "-", let folder = RealPath.of(Path.folder(of: output)) else { return }
        for input in inputs where input != "-" {
            guard let capture = RealPath.of(input), "\(folder)/".hasPrefix("\(capture)/") else { continue }
            StandardError.write("pingferry: \(output): the output is inside the capture \(input), and changes it")
            StandardError.write("hint: write the output to another folder")
            return
        }
    }
}
