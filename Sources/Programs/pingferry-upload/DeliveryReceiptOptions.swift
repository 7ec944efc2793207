import ArgumentParser
import Bundle
import Console
import Delivery
import Files
import JSONText

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
