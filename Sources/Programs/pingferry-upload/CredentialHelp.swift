import Systems
import Telemetry

/// The parts of `--help` that describe the credentials of all systems.
enum CredentialHelp {
    private static var formats: [CredentialFormat] { Systems.table.all.compactMap(\.uploads.credentials) }

    /// The names of the environment variables that provide credentials, separated by commas.
    static var variables: String { formats.map(\.variablesHelp).joined(separator: ", ") }

    /// An example of a credentials file, as an indented JSON object.
    static var file: String { "  {" + formats.map(\.entryHelp).joined(separator: ",\n   ") + "}" }
}
