import ArgumentParser
import Console
import Files
import Systems
import Telemetry

/// The key that pseudonyms are made with. It comes from a file, never from an argument, which others can see.
///
/// Source: "Pseudonyms".
struct PseudonymOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Give the data away without the people: ids become pseudonyms made with the key in this file, and only what \
            documents name and what tells of nobody stays. See pseudonym-key.
            """, valueName: "keyfile"), completion: .file())
    var pseudonymize: String?

    /// No key needs more.
    private static let maximumKeySize = 4096

    /// What makes the pseudonyms; nil where none are asked for.
    func pseudonymizer() throws -> RecordPseudonymizer? {
        guard let path = pseudonymize else { return nil }
        let file = try InputFile(path: path)
        guard file.isPrivate else {
            throw CommandError(
                status: .badConfiguration, message: "\(path): others can read or change the key in it",
                remedy: "run chmod 600 \(path), and make another key if others may have seen it")
        }
        guard file.size <= Self.maximumKeySize else {
            throw CommandError(
                status: .badConfiguration, message: "\(path): more than \(Self.maximumKeySize) bytes, which is no key")
        }
        let bytes = try file.contents(limit: Self.maximumKeySize)
        do throws(PseudonymError) {
            return RecordPseudonymizer(try PseudonymKey(bytes), knowing: Systems.table)
        } catch {
            throw CommandError(
                status: .badConfiguration, message: "\(path): \(error)", remedy: error.remedy)
        }
    }
}
