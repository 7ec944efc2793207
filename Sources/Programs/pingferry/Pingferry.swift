import ArgumentParser
import CArchive
import CLibrary
import Console
import Files
import Systems

/// The offline program, which links no network code.
@main
struct Pingferry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pingferry",
        abstract: "Carry queued telemetry of phones across an air gap.",
        discussion: """
            Reads captured app data (stores and request logs of these systems: \(Systems.table.nameList)), converts it \
            to the documented wire formats, and packs it in one .tar.zst bundle that can be verified at any time. \
            Captures are never changed.

            To scan a capture, pack it and verify the bundle:
              pingferry scan phone/
              pingferry bundle -o phone.tar.zst phone/
              pingferry verify phone.tar.zst

            Exit status: 0 success; 1 finished, but some input was quarantined or could not be read; 64 usage error; \
            65 an input is damaged, or is neither a capture nor a bundle; 66 an input does not exist; 69 a required \
            program is not installed: ssh-keygen for signatures, par2 for repair blocks, or pingferry-upload for upload, which ends with the \
            exit status of that program; 73 the output cannot be created; 74 input/output error, or too few threads or \
            too little memory; 77 no permission; 78 the password of a backup is missing or wrong.

            \(EnvironmentVariable.help(environment, files: files))
            """,
        version: ProgramVersion.description(of: "pingferry"),
        subcommands: [
            ScanCommand.self, InspectCommand.self, ConvertCommand.self, ReportCommand.self, BundleCommand.self,
            VerifyCommand.self, ReceiveCommand.self, ListCommand.self, QuarantineCommand.self, GapsCommand.self,
            PseudonymKeyCommand.self,
            UploadCommand.self, CompletionsCommand<Pingferry>.self, JSONSchemaCommand.self,
        ])

    private static let environment = [
        EnvironmentVariable(PasswordOptions.passwordVariable, "the password of an encrypted backup")
    ]

    private static let files = [
        (
            name: "$XDG_STATE_HOME/pingferry/accepted",
            meaning: "the digests that receive has accepted; the default folder is ~/.local/state/pingferry"
        )
    ]

    /// The number of files that a command has open in addition to the three standard streams.
    private static let openFiles = 13

    static func main() async {
        StandardDescriptors.reserve()
        JSONResult.request(by: CommandArguments.all)
        // libarchive requests the local time of each member of a zip archive. If the variable `TZ` were not set, the C
        // library would check each time whether the file of the time zone has changed.
        setenv("TZ", ":/etc/localtime", 0)
        SystemResources.require(for: "pingferry", openFiles: openFiles, threadsPerProcessor: 1)
        CommandArguments.requireUTF8(of: "pingferry")
        ProgressLine.handleRequests()
        ProgramVersion.printJSONIfRequested(
            of: "pingferry", library: "libarchive", description: String(cString: archive_version_details()))
        do {
            try PartialFiles.removeOnInterrupt(message: "pingferry: interrupted")
        } catch {
            StandardError.write("pingferry: \(error)")
        }
        await runAndExit(as: "pingferry")
    }
}
