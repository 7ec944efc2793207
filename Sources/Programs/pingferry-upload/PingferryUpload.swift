import ArgumentParser
import CCurl
import CLibrary
import Console
import Files
import Telemetry

/// The program that uploads bundles.
@main
struct PingferryUpload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pingferry-upload",
        abstract: "Upload bundles within the documented limits, one job at a time.",
        discussion: """
            A job verifies the bundles, sends the records that the limits allow today, stores each outcome in a ledger, and \
            ends. The next job sends what is left, so run the same command every night. Use status with bundles to see which \
            of them are done.
              pingferry-upload --dry-run monday.tar.zst
              pingferry-upload --quiet bundles
              pingferry-upload status
              pingferry-upload status bundles

            Limits apply to each client, over all jobs and bundles: at most \(DocumentedLimits.dailyUploads) uploads a day, and at most \
            \(DocumentedLimits.uploadsOfTypeInJob) of one type in a job. Delivered records are not sent again, even if another bundle contains them.

            Exit status: 0 success; 1 finished, but a record is refused, set aside or held, and this is not resolved yet; 64 invalid \
            usage; 65 a bundle is damaged or not a bundle (without --keep-going, nothing was sent); 66 an input does not exist; \
            69 an outage: uploads were planned, none was delivered, and every attempt failed; 73 the ledger or a receipt cannot be created; 74 input/output error, \
            including a bundle or ledger that fails during the job, or a lack of threads, open files or memory; 75 a backlog \
            within the limits is left for another job, or another job is running; 77 permission denied; 78 invalid configuration \
            or credentials, or a ledger that is older than its last job.

            \(EnvironmentVariable.help(environment, files: files))
            """,
        version: ProgramVersion.description(of: name),
        subcommands: [
            SendCommand.self, StatusCommand.self, ReceiptCommand.self, RetryCommand.self, ReleaseCommand.self,
            ForgetCommand.self, PruneCommand.self, LedgerCommand.self, CompletionsCommand<PingferryUpload>.self,
        ],
        defaultSubcommand: SendCommand.self)

    private static let environment = [
        EnvironmentVariable("PINGFERRY_CREDENTIALS", "the credentials file, for --credentials"),
        EnvironmentVariable(CredentialHelp.variables, "credentials"),
        EnvironmentVariable(MonitoringOptions.variable, "the address of a monitoring service, for --ping-url"),
        EnvironmentVariable("HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY", "the proxy, unless --proxy is given"),
        EnvironmentVariable("TZDIR", "the folder of the time zones"),
    ]

    private static let files = [
        (
            name: "$XDG_STATE_HOME/pingferry/ledger.sqlite",
            meaning: "the ledger; the default folder is ~/.local/state/pingferry"
        )
    ]

    /// The name of the program in messages.
    static let name = "pingferry-upload"

    /// The maximum number of open files of a command, not counting bundles and connections.
    static let openFiles = 32

    static func main() async {
        // A request for the progress must not end the program before or after the job.
        signal(SIGUSR1, SIG_IGN)
        StandardDescriptors.reserve()
        JSONResult.request(by: CommandArguments.all)
        // TLS libraries would write the session keys of connections to the file that this variable names.
        unsetenv("SSLKEYLOGFILE")
        SystemResources.require(for: "pingferry-upload", openFiles: openFiles, threadsPerProcessor: 2)
        // The log format is set before any message can be written, because a JSON log must not contain other lines.
        if CommandLine.arguments.contains("--log-json") { StandardError.setFormat(.json) }
        CommandArguments.requireUTF8(of: "pingferry-upload")
        ProgramVersion.printJSONIfRequested(
            of: name, library: "libcurl", description: String(cString: curl_version()))
        let arguments = CommandError.exiting(name) { () throws(CommandError) in
            try ConfigurationFile.expandingArguments(CommandArguments.all)
        }
        await runAndExit(as: name, arguments)
    }
}
