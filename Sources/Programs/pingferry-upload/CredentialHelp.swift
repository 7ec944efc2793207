import Systems
import Telemetry

/// What help says of credentials, as the systems tell it.
enum CredentialHelp {
    private static var formats: [CredentialFormat] { Systems.table.all.compactMap(\.uploads.credentials) }

    /// The variables of the environment.
    static var variables: String { formats.map(\.variablesHelp).joined(separator: ", ") }

    /// The credentials file, indented as an example.
    static var file: String { "  {" + formats.map(\.entryHelp).joined(separator: ",\n   ") + "}" }
}
