import ArgumentParser
import Console
import Files
import Glibc
import Systems

/// The offline program: it reads captures, converts them, packs and checks bundles. It links no network code.
@main
struct Pingferry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pingferry",
        abstract: "Carry telemetry that phones left behind across an air gap.",
        discussion: """
            Reads captured app data (stores and request logs of these systems: \(Systems.table.nameList)), turns it into the \
            documented wire formats and packs it in one .tar.zst bundle that can be checked at any time. Captures are only \
            ever read.

            A first look, a bundle, and its check:
              pingferry scan phone/
              pingferry bundle -o phone.tar.zst phone/
              pingferry verify phone.tar.zst

            Exit status: 0 all good; 1 finished, but some input was quarantined or could not be read; 64 usage; 65 a \
            given bundle or capture is damaged or not one; 66 no such input; 69 a program is missing: ssh-keygen for signatures, or \
            pingferry-upload for upload, which ends as that program does; 73 cannot create the output; 74 \
            input/output error, or too few threads or too little memory; 77 no permission; 78 the password of a backup is \
            missing or wrong.
            """,
        version: ProgramVersion.description(of: "pingferry"),
        subcommands: [
            ScanCommand.self, InspectCommand.self, ConvertCommand.self, ReportCommand.self, BundleCommand.self,
            VerifyCommand.self, ListCommand.self, PseudonymKeyCommand.self, UploadCommand.self,
        ])

    /// The number of files that a command has open in addition to the three standard ones.
    private static let openFiles = 13

    static func main() async {
        StandardDescriptors.reserve()
        // Libraries ask for the local time of each member of a zip archive. Without the variable, the C library would look each
        // time whether the file of the time zone has changed.
        setenv("TZ", ":/etc/localtime", 0)
        SystemResources.require(for: "pingferry", openFiles: openFiles, threadsPerProcessor: 1)
        CommandArguments.requireUTF8(of: "pingferry")
        do {
            try PartialFiles.removeOnInterrupt(message: "pingferry: interrupted")
        } catch {
            StandardError.write("pingferry: \(error)")
        }
        await runAndExit(as: "pingferry")
    }
}
