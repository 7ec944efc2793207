import ArgumentParser
import Bundle
import Capture
import Console
import Files
import FoundationEssentials
import Glibc
import Telemetry

/// The option for a receipt.
///
/// Source: "Receipts".
struct ReceiptOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Write a receipt, which states the user, the time, the host, the version and the options of this run and \
            the hashes of its inputs and outputs. It is an in-toto Statement v1, which ssh-keygen -Y sign -n \
            pingferry-receipt can sign.
            """, valueName: "file.json"), completion: .file())
    var receipt: String?

    func validate() throws {
        guard receipt != "-" else { throw ValidationError("a receipt must be a file: --receipt NAME.json") }
    }

    /// Checks that the receipt would not replace a bundle or a file that is used to verify one.
    func requireSeparateFile(from paths: @autoclosure () -> [String]) throws {
        guard let receipt, let identity = FileIdentity(path: receipt) else { return }
        if paths().contains(where: { FileIdentity(path: $0) == identity }) {
            throw InputError.wouldReplaceInput(receipt)
        }
    }

    /// Creates the file for the receipt, which appears under its name only after it has been written.
    func output(replacing: Bool) throws -> ReceiptOutput {
        guard let receipt else { return ReceiptOutput() }
        return ReceiptOutput(file: try AtomicOutput(path: receipt, replacing: replacing))
    }
}

/// A receipt to be written at the end of a run, if one is requested.
///
/// Its file is created before the work begins, so that an unusable path is reported at once.
struct ReceiptOutput: ~Copyable {
    private let file: AtomicOutput?
    /// The files that must not be read as input.
    let identities: Set<FileIdentity>

    fileprivate init(file: consuming AtomicOutput) {
        identities = file.identities
        self.file = consume file
    }

    fileprivate init() {
        identities = []
        file = nil
    }

    /// Writes the receipt, or throws an error that uses `done` as a description of the completed work.
    consuming func write(after completedAction: String, _ receipt: () -> Receipt) throws(CommandError) {
        guard let file else { return }
        let receipt = receipt()
        // An in-toto Statement must have at least one subject.
        guard receipt.hasSubject else {
            throw CommandError(
                status: .cannotCreate,
                message: "\(file.path): no receipt was written, because it would describe no file")
        }
        do throws(FileError) {
            try file.write(receipt.bytes.span)
            try file.commit()
        } catch {
            let failure = CommandError(error)
            throw CommandError(
                status: failure.status, message: "no receipt was written: \(failure.message)",
                remedy: "\(completedAction); only the receipt is missing")
        }
    }
}

extension Receipt.Origin {
    static func current() -> Receipt.Origin {
        let userID = getuid()
        // `getpwuid` is not used, because it may contact a service over a socket and this program opens no sockets.
        // Without the file, the receipt contains only the number of the user.
        let users = try? InputFile(path: "/etc/passwd").contents(limit: 16 << 20)
        let milliseconds = Int64((Date.now.timeIntervalSince1970 * 1000).rounded(.down))
        return Receipt.Origin(
            user: users.flatMap { PasswdFile(bytes: $0).name(of: userID) }, userID: Int(userID), host: host,
            toolVersion: ProgramVersion.number, time: Timestamp(clamping: milliseconds))
    }

    private static var host: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension Receipt {
    /// The arguments after the name of the command, none of which is a secret because no option accepts one.
    static var givenArguments: [String] { Array(CommandLine.arguments.dropFirst(2)) }
}
