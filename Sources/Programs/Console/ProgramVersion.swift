import CNettle
import CSQLite
import CVersion
import CZlib
import CZstd
import Files
import Glibc
import JSONText

/// The version of the programs.
public enum ProgramVersion {
    /// The version number, which is also written into bundles, receipts and requests.
    public static var number: String { String(cString: cversion_number()) }

    /// The commit from which the programs were built, or `nil` if it is unknown.
    private static var commit: String? { cversion_commit().map { String(cString: $0) } }

    /// Returns the line that `--version` prints, such as `pingferry 0.1.0 (commit 0123456789ab)`.
    public static func description(of program: String) -> String {
        "\(program) \(number)\(commit.map { " (commit \($0))" } ?? "")"
    }

    /// Prints the version as JSON and ends the program, if the arguments are `--version --json`.
    ///
    /// `library` is the name of the library that only this program links. `description` is the version of this library,
    /// which can include the versions of the libraries that it uses.
    public static func printJSONIfRequested(
        of program: String, library: JSONKey, description: @autoclosure () -> String
    ) {
        guard Set(CommandLine.arguments.dropFirst()) == ["--version", "--json"] else { return }
        var object = CanonicalObject()
        object.set("program", string: program)
        object.set("version", string: number)
        object.set("commit", string: commit)
        object.set("swift", string: cversion_swift().map { String(cString: $0) })
        var versions = CanonicalObject()
        versions.set(library, string: description())
        versions.set("glibc", string: String(cString: cversion_libc()))
        versions.set("libzstd", string: String(cString: ZSTD_versionString()))
        versions.set("nettle", string: "\(nettle_version_major()).\(nettle_version_minor())")
        versions.set("sqlite", string: String(cString: sqlite3_libversion()))
        versions.set("zlib", string: String(cString: zlibVersion()))
        object.set("libraries", object: versions)
        CommandError.exitOnFailure(of: program) { () throws(FileError) in try Terminal.print(object) }
        exit(EXIT_SUCCESS)
    }
}
