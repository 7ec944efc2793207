import ArgumentParser
import Bundle
import Console
import Delivery
import Essentials
import Files
import JSONText
import Telemetry

/// The command `receipt`, which makes a delivery receipt from the ledger.
struct ReceiptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receipt",
        abstract: "Write a receipt of the outcome of each record in bundles.",
        discussion: """
            Writes an in-toto Statement v1 about the files of the bundles: their hashes and digests, and the number of records \
            with each outcome, as the ledger has them now. --receipt-records lists each record. A summary is printed on \
            standard error. Nothing is sent, the ledger is not changed, and a job can run at the same time. send --receipt \
            writes the same at the end of a job.
              pingferry-upload receipt -o monday.json monday.tar.zst
              ssh-keygen -Y sign -n pingferry-delivered -f KEY monday.json

            A receipt contains no credentials and no texts of servers. The exit status is 0 if the receipt was written, \
            whatever the outcomes are. Use status to check whether bundles are done.
            """)

    @Argument(help: ArgumentHelp("The bundles that the receipt describes.", valueName: "bundle"), completion: .file())
    var bundles: [String]

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The receipt to write, or - for standard output.", valueName: "file.json"),
        completion: .file())
    var output = "-"

    @OptionGroup var contents: DeliveryReceiptOptions
    @OptionGroup(title: "Signatures") var signing: SignerOptions
    @OptionGroup(title: "Ledger") var ledger: LedgerOptions

    @Flag(name: .shortAndLong, help: "Do not print the summary.")
    var quiet = false

    func validate() throws { try CommonOptions.rejectStandardInput(in: bundles) }

    mutating func run() async throws {
        bundles = try await reportingErrors { try bundles.flatMap(BundleFile.paths) }
        try await reportingErrors {
            let environment = ProcessInfo.processInfo.environment
            var files = CommandFiles()
            files.read(bundles.flatMap(BundleFile.allPaths) + signing.paths(environment: environment))
            try ledger.add(to: &files)
            files.write("--output", AtomicOutput.replacedPaths(of: output))
            try files.check()
            let signers = try signing.signers(environment: environment)
            let view = try LedgerView(path: try ledger.path())
            try DeliveryReceiptOptions.removeFileOnInterrupt()
            let file = try ReceiptOutput(path: output, replacing: contents.force)
            let verified = try await CommonOptions.verifyBundles(
                at: bundles, signedBy: signers, isQuiet: quiet, isReleased: try view.releaseCheck())
            let source = try ReceiptSource(verified)
            let outcomes = try view.recordOutcomes(of: source.pool, today: ledger.today)
            let receipt = source.receipt(outcomes, run: .query, origin: .current())
            try file.write(after: "the bundles were verified") {
                contents.statement(of: receipt, outcomes, from: source)
            }
            if !quiet { StandardError.write("\(PingferryUpload.name): \(receipt.summary)") }
        }
    }
}

/// The options for the contents of a delivery receipt.
///
/// Source: "Receipts", "Delivery receipts".
struct DeliveryReceiptOptions: ParsableArguments {
    @Flag(help: "List each record in the receipt, with its id, outcome, HTTP status and time.")
    var receiptRecords = false

    @Flag(help: "Replace an existing receipt.")
    var force = false

    /// Installs signal handlers that remove the unfinished file of a receipt before a signal ends the program.
    static func removeFileOnInterrupt() throws(FileError) {
        try PartialFiles.removeOnInterrupt(message: "\(PingferryUpload.name): interrupted")
    }

    /// Returns the statement of `receipt`, which lists each of `outcomes` if `--receipt-records` is given.
    func statement(of receipt: DeliveryReceipt, _ outcomes: [RecordOutcome], from source: ReceiptSource) -> Statement {
        guard receiptRecords else { return receipt.statement() }
        return receipt.statement { add in
            do {
                try source.forEachRecord(outcomes, add)
            } catch let error as UnusableBundleError {
                // Exit statuses for invalid input are not used, because they would imply that nothing was sent.
                throw CommandError(status: .inputOutput, message: CommandError(error).message)
            }
        }
    }
}
