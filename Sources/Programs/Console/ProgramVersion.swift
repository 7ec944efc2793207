import CVersion

/// The version of the programs.
public enum ProgramVersion {
    /// The version number, which is also written into bundles, receipts and requests.
    public static let number = "0.1.0"

    /// The commit from which the programs were built, or `nil` if it is unknown.
    private static var commit: String? { cversion_commit().map { String(cString: $0) } }

    /// Returns the line that `--version` prints: `pingferry 0.1.0 (commit 0123456789ab)`.
    public static func description(of program: String) -> String {
        "\(program) \(number)\(commit.map { " (commit \($0))" } ?? "")"
    }
}
