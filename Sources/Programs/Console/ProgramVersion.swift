import CVersion
import Glibc
import JSONText

/// The version of the programs.
public enum ProgramVersion {
    /// The version number, which is also written into bundles, receipts and requests.
    public static var number: String { String(cString: cversion_number()) }

    /// The commit from which the programs were built, or `nil` if it is unknown.
    private static var commit: String? { cversion_commit().map { String(cString: $0) } }

    /// Returns the line that `--version` prints: `pingferry 0.1.0 (commit 0123456789ab)`.
    public static func description(of program: String) -> String {
        "\(program) \(number)\(commit.map { " (commit \($0))" } ?? "")"
    }

    /// Prints the version as JSON and ends the program, if the arguments are `--version --json`.
    ///
    /// `libraries` contains the versions of the loaded libraries, keyed by name.
    public static func printJSONIfRequested(of program: String, libraries: [String: String]) {
        guard Set(CommandLine.arguments.dropFirst()) == ["--version", "--json"] else { return }
        var object = CanonicalObject()
        object.set("program", string: program)
        object.set("version", string: number)
        object.set("commit", string: commit)
        object.set("swift", string: cversion_swift().map { String(cString: $0) })
        var versions = CanonicalObject()
        for (library, version) in libraries { versions.set(JSONKey(library), string: version) }
        versions.set("glibc", string: String(cString: cversion_libc()))
        object.set("libraries", object: versions)
        do {
            try Terminal.print(object)
        } catch {
            StandardError.write("\(program): \(error)")
            exit(ExitStatus.inputOutput.rawValue)
        }
        exit(EXIT_SUCCESS)
    }
}
