import ArgumentParser
import Console
import Files
import Systems
import Telemetry

/// The options for pseudonymizing records.
///
/// The key is read from a file. It is never an argument, because other users can see the arguments of a process.
///
/// Source: "Pseudonyms".
struct PseudonymOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Make the data safe to share: replace ids by pseudonyms made with the key in this file, and keep only \
            documented fields that do not identify people. See pseudonym-key.
            """, valueName: "keyfile"), completion: .file())
    var pseudonymize: String?

    @Option(
        help: ArgumentHelp(
            """
            Round all times down to this unit, hour or day, because exact times show which records of two recipients \
            are the same. Requires --pseudonymize.
            """, valueName: "unit"))
    var coarsenTimes: TimeUnit?

    func validate() throws {
        if coarsenTimes != nil, pseudonymize == nil {
            throw ValidationError(
                "--coarsen-times requires --pseudonymize, because records with rounded times must not be uploaded")
        }
    }

    /// The maximum size of a key file, in bytes.
    private static let maximumKeySize = 4096

    /// Returns the transform that replaces ids with pseudonyms, or `nil` if the option was not given.
    func pseudonymizer() throws -> RecordPseudonymizer? {
        guard let path = pseudonymize else { return nil }
        let file = try InputFile(path: path)
        guard file.isPrivate else {
            throw CommandError(
                status: .badConfiguration, path: path, message: "other users can read or change the key in this file",
                remedy: "run chmod 600 \(path), and make a new key if others may have read it")
        }
        guard file.size <= Self.maximumKeySize else {
            throw CommandError(
                status: .badConfiguration,
                path: path, message: "more than \(Self.maximumKeySize) bytes, which is too long for a key")
        }
        let bytes = try file.contents(limit: Self.maximumKeySize)
        do throws(PseudonymError) {
            return RecordPseudonymizer(try PseudonymKey(bytes), knowing: Systems.table, timeUnit: coarsenTimes)
        } catch {
            throw CommandError(
                status: .badConfiguration, path: path, message: "\(error)", remedy: error.remedy)
        }
    }
}

extension TimeUnit: ExpressibleByArgument {}
