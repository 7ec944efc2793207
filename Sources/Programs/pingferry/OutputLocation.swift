import Console
import Files

/// The checks of the location of an output.
enum OutputLocation {
    /// The names of the files that list the contents of an iOS backup.
    private static let manifestNames = ["Manifest.db", "Manifest.mbdb"]

    /// Returns the elements of `outputs` that are existing files of a backup in one of the captures `inputs`.
    ///
    /// All files of a backup are inputs, but the search for stores does not visit them by their names. Other files in a
    /// capture are inputs only if they are stores.
    ///
    /// Source: "iOS backups", section 2.3.
    static func filesOfBackups(among outputs: [String], inputs: [String]) -> [String] {
        let captures = inputs.compactMap { $0 == "-" ? nil : RealPath.of($0) }
        return outputs.filter { output in
            guard output != "-", let path = RealPath.of(output) else { return false }
            return captures.contains { isInBackup(path, below: $0) }
        }
    }

    /// Returns whether a folder that contains `path` is a backup, and is the folder `capture` or is inside it.
    private static func isInBackup(_ path: String, below capture: String) -> Bool {
        let prefix = capture == "/" ? capture : capture + "/"
        var folder = Path.folder(of: path)
        while "\(folder)/".hasPrefix(prefix) {
            if manifestNames.contains(where: { FileIdentity(path: "\(folder)/\($0)") != nil }) { return true }
            guard folder != "/" else { return false }
            folder = Path.folder(of: folder)
        }
        return false
    }

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
