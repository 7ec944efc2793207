import Bundle
import Files

/// A receipt to be written at the end of a run, if one is requested.
///
/// Its file is created before the work begins, so that an unusable path is reported at once.
public struct ReceiptOutput: ~Copyable {
    private let file: AtomicOutput?
    private let isStandardOutput: Bool
    /// The files that must not be read as input, which are the file being written and the file that it replaces.
    public let identities: Set<FileIdentity>

    /// Creates an output for a run without a receipt.
    init() {
        file = nil
        isStandardOutput = false
        identities = []
    }

    /// Creates the file for a receipt, or an output that writes to standard output if `path` is `-`.
    ///
    /// `replacing` states whether an existing file may be replaced.
    public init(path: String, replacing: Bool) throws {
        isStandardOutput = path == "-"
        guard !isStandardOutput else {
            file = nil
            identities = []
            return
        }
        let file = try AtomicOutput(path: path, replacing: replacing)
        identities = file.identities
        self.file = consume file
    }

    /// Writes the receipt, if one is requested.
    ///
    /// `completedAction` describes the completed work in the remedy of an error.
    public consuming func write(
        after completedAction: String, _ statement: () throws -> Statement
    ) throws(CommandError) {
        guard let file else {
            guard isStandardOutput else { return }
            do {
                return try Self.print(try Self.requiringSubject(statement()))
            } catch {
                throw Self.failure(error, "standard output", completedAction)
            }
        }
        let path = file.path
        do {
            try Self.requiringSubject(statement()).write { try file.write($0) }
            try file.commit()
        } catch {
            throw Self.failure(error, path, completedAction)
        }
    }

    /// An error that reports that a statement would describe no file.
    private struct NoSubjectError: Error {}

    /// Returns `statement` after checking that it has a subject, which an in-toto Statement must have.
    private static func requiringSubject(_ statement: Statement) throws(NoSubjectError) -> Statement {
        guard statement.hasSubject else { throw NoSubjectError() }
        return statement
    }

    private static func failure(_ error: any Error, _ path: String, _ completedAction: String) -> CommandError {
        let cause: CommandError
        switch error {
        case is NoSubjectError:
            return CommandError(
                status: .cannotCreate, message: "\(path): no receipt was written, because it would describe no file")
        case let error as CommandError: cause = error
        case let error as FileError: cause = CommandError(error)
        default: cause = CommandError(status: .inputOutput, message: "\(error)")
        }
        return CommandError(
            status: cause.status, message: "no receipt was written: \(cause.message)",
            remedy: "\(completedAction); only the receipt is missing")
    }

    /// Prints a statement, with unprintable characters escaped if standard output is a terminal.
    private static func print(_ statement: Statement) throws {
        var rewriter = StandardOutput.isTerminal ? PrintableJSON() : nil
        try statement.write { piece in
            var shown: [UInt8] = []
            guard rewriter?.rewrite(piece, to: &shown) != nil else { return try StandardOutput.write(piece) }
            try StandardOutput.write(shown.span)
        }
    }
}
