import ArgumentParser
import Bundle
import CLibrary
import Essentials
import Files
import Telemetry

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
        try ReceiptOutput(path: receipt, replacing: replacing)
    }

    /// The paths of the files that the receipt creates or replaces.
    public var replacedPaths: [String] { receipt.map(AtomicOutput.replacedPaths) ?? [] }
}

/// A receipt to be written at the end of a run, if one is requested.
///
/// Its file is created before the work begins, so that an unusable path is reported at once.
public struct ReceiptOutput: ~Copyable {
    private let file: AtomicOutput?
    private let isStandardOutput: Bool
    /// The files that must not be read as input, which are the file being written and the file that it replaces.
    public let identities: Set<FileIdentity>

    /// Creates the file for a receipt.
    ///
    /// If `path` is `-`, the receipt is written to standard output, and if it is `nil`, to nothing.
    /// `replacing` states whether an existing file may be replaced.
    public init(path: String?, replacing: Bool) throws {
        isStandardOutput = path == "-"
        guard let path, !isStandardOutput else {
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
                status: .cannotCreate, path: path, message: "no receipt was written, because it would describe no file")
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
            guard let shown = rewriter?.output(for: piece) else { return try StandardOutput.write(piece) }
            try StandardOutput.write(shown.span)
        }
    }
}

extension Receipt.Origin {
    /// Returns the origin of a receipt that this process makes now.
    public static func current() -> Receipt.Origin {
        let userID = getuid()
        // `getpwuid` is not used, because it may contact a service over a socket and a program that packs bundles opens
        // no sockets. Without the file, the receipt contains only the number of the user.
        let users = try? InputFile(path: "/etc/passwd").contents(limit: 16 << 20)
        let milliseconds = Int64((Date.now.timeIntervalSince1970 * 1000).rounded(.down))
        return Receipt.Origin(
            user: users.flatMap { PasswdFile(bytes: $0).name(of: userID) }, userID: Int(userID),
            host: ProcessInfo.processInfo.hostName, toolVersion: ProgramVersion.number,
            time: Timestamp(clamping: milliseconds))
    }
}

/// The contents of `/etc/passwd`, the list of the users of a system.
///
/// Source: passwd(5).
struct PasswdFile {
    let bytes: [UInt8]

    /// Returns the name of the first user with the number `userID`, or `nil` if no named user has this number.
    func name(of userID: UInt32) -> String? {
        let number = Array(String(userID).utf8)[...]
        let colon = UInt8(ascii: ":")
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: colon, maxSplits: 3, omittingEmptySubsequences: false)
            guard fields.count == 4, fields[2] == number, let name = fields.first, !name.isEmpty else { continue }
            return String(decoding: name, as: UTF8.self)
        }
        return nil
    }
}
