import ArgumentParser
import Files

/// The option for a receipt.
///
/// Source: "Receipts".
public struct ReceiptOptions: ParsableArguments {
    /// The path of the receipt, or `nil` if no receipt is requested.
    @Option(
        help: ArgumentHelp(
            """
            Write a receipt, which states the user, the time, the host, the version and the result of this run and the \
            hashes of its files. It is an in-toto Statement v1, which ssh-keygen -Y sign can sign: with -n \
            pingferry-receipt for bundle, pingferry-received for verify, and pingferry-delivered for uploads.
            """, valueName: "file.json"), completion: .file())
    public var receipt: String?

    /// Creates options that request no receipt.
    public init() {}

    /// Throws an error if the receipt would be written to standard output.
    public func validate() throws {
        guard receipt != "-" else { throw ValidationError("a receipt must be a file: --receipt NAME.json") }
    }

    /// Creates the file for the receipt, or an output that writes nothing if no receipt is requested.
    ///
    /// `replacing` states whether an existing file may be replaced.
    public func output(replacing: Bool) throws -> ReceiptOutput {
        guard let receipt else { return ReceiptOutput() }
        return try ReceiptOutput(path: receipt, replacing: replacing)
    }

    /// The paths of the files that the receipt creates or replaces.
    public var replacedPaths: [String] { receipt.map(AtomicOutput.replacedPaths) ?? [] }
}
