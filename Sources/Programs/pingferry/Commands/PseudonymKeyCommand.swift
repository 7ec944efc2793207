import ArgumentParser
import Console
import Files
import Telemetry

/// The command `pseudonym-key`, which makes a key for pseudonyms.
struct PseudonymKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pseudonym-key",
        abstract: "Make a key for pseudonyms.",
        discussion: """
            Writes 32 random bytes to a file that only you can read. The key makes it possible to identify the people \
            behind pseudonyms. Keep it, and do not share it with recipients of the data. Data made with the same key \
            can be compared; data made with different keys cannot.
              pingferry pseudonym-key -o study.key
              pingferry convert -o study.ndjson --pseudonymize study.key phone/
            """)

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The key file to create. It must not exist.", valueName: "file"),
        completion: .file())
    var output: String

    @Flag(name: .shortAndLong, help: "Do not print the id of the key.")
    var quiet = false

    func validate() throws {
        guard output != "-" else { throw ValidationError("the key must be written to a file: -o FILE") }
    }

    func run() async throws {
        try await reportingErrors {
            var generator = SystemRandomNumberGenerator()
            let bytes = (0..<PseudonymKey.minimumByteCount).map { _ in
                UInt8.random(in: .min ... .max, using: &generator)
            }
            let key = try PseudonymKey(bytes)
            let file = try AtomicOutput(path: output, replacing: false)
            try file.write(bytes.span)
            try file.commit()
            if !quiet { try Terminal.print("wrote \(output): \(key)") }
        }
    }
}
