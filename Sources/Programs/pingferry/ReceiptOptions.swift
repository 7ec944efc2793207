import ArgumentParser
import Bundle
import Capture
import Console
import Files
import FoundationEssentials
import Glibc
import Telemetry

/// Where a receipt goes.
///
/// Source: "Receipts".
struct ReceiptOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Write a receipt: who did this, when, on which host, with which version and options, and the hashes of what went in \
            and came out, as an in-toto Statement v1 that ssh-keygen -Y sign -n pingferry-receipt can sign.
            """, valueName: "file.json"), completion: .file())
    var receipt: String?

    func validate() throws {
        guard receipt != "-" else { throw ValidationError("a receipt goes to a file: --receipt NAME.json") }
    }

    /// Refuses a receipt that would take the place of what it is about, or of what that is checked by.
    /// - Throws: ``InputError``.
    func requireSeparateFile(from paths: @autoclosure () -> [String]) throws {
        guard let receipt, let identity = FileIdentity(path: receipt) else { return }
        if paths().contains(where: { FileIdentity(path: $0) == identity }) { throw InputError.isOutput(receipt) }
    }

    /// The file for the receipt, which has no name yet.
    func output(replacing: Bool) throws -> ReceiptOutput {
        guard let receipt else { return ReceiptOutput() }
        return ReceiptOutput(file: try AtomicOutput(path: receipt, replacing: replacing))
    }
}

/// A receipt that is still to be written, if one is asked for. Its file is made before the work begins, so that what is in the way is found first.
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

    /// Writes the receipt and gives it its name.
    /// - Parameters:
    ///   - done: what has been done already, and stays done, if the receipt cannot be written.
    ///   - receipt: makes it, where one is asked for.
    /// - Throws: ``CommandError``.
    consuming func write(after done: String, _ receipt: () -> Receipt) throws(CommandError) {
        guard let file else { return }
        let receipt = receipt()
        // A statement has to be about something.
        guard receipt.hasSubject else {
            throw CommandError(
                status: .cannotCreate, message: "no receipt \(file.path): there is nothing that it is about")
        }
        do throws(FileError) {
            try file.write(receipt.bytes.span)
            try file.commit()
        } catch {
            let failure = CommandError(error)
            throw CommandError(
                status: failure.status, message: "no receipt: \(failure.message)",
                remedy: "\(done) all the same; only the receipt is missing")
        }
    }
}

extension Receipt.Maker {
    /// Who runs the program, here and now.
    static func current() -> Receipt.Maker {
        let userID = getuid()
        // Not `getpwuid`, which may ask a service through a socket: this program opens none. Without the file, the receipt states
        // the number of the user alone.
        let users = try? InputFile(path: "/etc/passwd").contents(limit: 16 << 20)
        let milliseconds = Int64((Date.now.timeIntervalSince1970 * 1000).rounded(.down))
        return Receipt.Maker(
            user: users.flatMap { PasswdFile(bytes: $0).name(of: userID) }, userID: Int(userID), host: host,
            version: ProgramVersion.number, time: Timestamp(clamping: milliseconds))
    }

    /// The name of the machine as the kernel has it.
    private static var host: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension Receipt {
    /// The words of the command line behind the name of the command. None of them is a secret: no option takes one.
    static var givenArguments: [String] { Array(CommandLine.arguments.dropFirst(2)) }
}
