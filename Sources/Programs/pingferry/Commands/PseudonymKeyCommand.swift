import ArgumentParser
import Console
import Files
import Telemetry

/// `pseudonym-key`: makes a key that pseudonyms are made with.
struct PseudonymKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pseudonym-key",
        abstract: "Make a key for pseudonyms.",
        discussion: """
            Writes 32 random bytes to a file that only you can read. Whoever has the key can find out whom a pseudonym stands \
            for: keep it, and give it to nobody who gets the data. Data made with one key can be compared, data of different \
            keys cannot.
              pingferry pseudonym-key -o study.key
              pingferry convert -o study.ndjson --pseudonymize study.key phone/
            """)

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The key file, which must not exist.", valueName: "file"),
        completion: .file())
    var output: String

    @Flag(name: .shortAndLong, help: "Do not print the id of the key.")
    var quiet = false

    func validate() throws {
        guard output != "-" else { throw ValidationError("a key goes to a file: -o FILE") }
    }

    func run() async throws {
        try await reporting {
            var generator = SystemRandomNumberGenerator()
            let bytes = (0..<PseudonymKey.fewestBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            let key = try PseudonymKey(bytes)
            let file = try AtomicOutput(path: output, replacing: false)
            try file.write(bytes.span)
            try file.commit()
            if !quiet { try Terminal.print("wrote \(output): \(key)") }
        }
    }
}
