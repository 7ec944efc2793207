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

    /// Removes the unfinished file of a receipt if a signal ends the program.
    static func removeFileOnInterrupt() throws(FileError) {
        try PartialFiles.removeOnInterrupt(message: "\(PingferryUpload.name): interrupted")
    }

    /// Returns the statement of a receipt for records with the given outcomes.
    func statement(of receipt: DeliveryReceipt, _ outcomes: [RecordOutcome], from source: ReceiptSource) -> Statement {
        guard receiptRecords else { return receipt.statement() }
        return receipt.statement { add in
            do {
                try source.forEachRecord(outcomes, add)
            } catch let error as UnusableBundleError {
                // The bundle was intact before. The exit statuses for invalid input would imply that nothing was sent.
                throw CommandError(status: .inputOutput, message: CommandError(error).message)
            }
        }
    }
}
