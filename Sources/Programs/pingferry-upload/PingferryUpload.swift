import ArgumentParser
import Console
import Files
import Glibc

/// The uploader.
///
/// Each run sends the records that the limits allow today, stores all outcomes, and ends.
@main
struct PingferryUpload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pingferry-upload",
        abstract: "Upload bundles within the documented limits, a job at a time.",
        discussion: """
            A job verifies the bundles, sends what may go today, records each outcome in a ledger, and ends. What is left \
            goes with the next job: run the same command every night. status with bundles says which have done their work.
              pingferry-upload --dry-run monday.tar.zst
              pingferry-upload --quiet bundles/*.tar.zst
              pingferry-upload status
              pingferry-upload status bundles/*.tar.zst

            Limits are kept for each client over all jobs and bundles: at most 100 uploads a day, and at most 40 of one \
            type in a job. What was delivered is not sent again, whatever bundle it comes in.

            Exit status: 0 all good; 1 finished, but some record was refused, now or earlier, or is held, and nobody has \
            settled that; 64 usage; 65 a bundle is damaged or not one: nothing of any was sent; 66 no such input; 69 no server \
            could be reached, and nothing was delivered; 73 cannot create the ledger; 74 input/output error, also where \
            a bundle or the ledger fails while the job runs, or the system has too few threads, open files or too little memory; 75 \
            something is left for another job, or another job is at work; 77 no permission; 78 bad configuration or \
            credentials.
            """,
        version: ProgramVersion.description(of: name),
        subcommands: [
            SendCommand.self, StatusCommand.self, RetryCommand.self, ReleaseCommand.self, ForgetCommand.self,
            PruneCommand.self,
        ],
        defaultSubcommand: SendCommand.self)

    /// The name of the program in messages.
    static let name = "pingferry-upload"

    /// The maximum number of open files of a command, not counting bundles and connections.
    static let openFiles = 32

    static func main() async {
        StandardDescriptors.reserve()
        // TLS libraries would write the session keys of connections to the file that this variable names.
        unsetenv("SSLKEYLOGFILE")
        SystemResources.require(for: "pingferry-upload", openFiles: openFiles, threadsPerProcessor: 2)
        // The log format is set before any message can be written, because a JSON log must not contain other lines.
        if CommandLine.arguments.contains("--log-json") { StandardError.write(in: .json) }
        CommandArguments.requireUTF8(of: "pingferry-upload")
        await runAndExit(as: name)
    }
}
