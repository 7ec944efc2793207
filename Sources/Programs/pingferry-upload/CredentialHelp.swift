import Systems
import Telemetry

/// The texts about credentials in `--help`, as the systems give them.
enum CredentialHelp {
    private static var formats: [CredentialFormat] { Systems.table.all.compactMap(\.uploads.credentials) }

    /// The variables of the environment.
    static var variables: String { formats.map(\.variablesHelp).joined(separator: ", ") }

    /// The credentials file, indented as an example.
    static var file: String { "  {" + formats.map(\.entryHelp).joined(separator: ",\n   ") + "}" }
}
