import ArgumentParser
import Bundle
import Bytes
import Console
import Essentials
import Files
import JSONText
import Systems

/// The command `receive`, which copies bundles from a medium that is not trusted.
struct ReceiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Copy bundles from a medium that nobody has to trust.",
        discussion: """
            Copies the bundles and volumes in a folder of a medium, such as a USB stick, with their lists, signatures, \
            receipts and time stamps. Each file is read once. Only regular files are opened, and no symbolic link is \
            followed, so that nothing on the medium can lead to other files of this machine:
              pingferry receive /media/stick -o received --signers signers

            A bundle appears in the output folder only after its signature, the list of its volumes and every byte of the \
            copy were verified. A copy that was interrupted is continued. Bundles that the folder contains already are \
            compared with those on the medium. Files that are missing, and everything that is not part of a bundle, are \
            named.

            The digests of all accepted bundles are remembered in a file. A bundle with a digest that was accepted \
            under another name is rejected, because it could be an older bundle under the name of a newer one. If \
            nothing was new on that night, --again accepts it. A bundle that continues others is accepted even if those \
            are missing; they are named, and the exit status is 1.

            --repair repairs damaged copies with the repair blocks of par2 on the medium, which bundle --repair makes. \
            Blocks of the medium that cannot be read are repaired, too. The medium is not changed. Without --repair, \
            the number of damaged blocks is printed:
              pingferry receive --repair /media/stick -o received --signers signers

            The exit status is 65 if a bundle is rejected, and 66 if there is none. The others are received.
            """)

    @Argument(help: ArgumentHelp("The folder of the medium.", valueName: "folder"), completion: .directory)
    var folder: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The folder for the bundles. It must be empty, or contain only bundles. It is created if it does not exist.",
            valueName: "folder"), completion: .directory)
    var output: String

    @OptionGroup(title: "Who packed it") var signing: SignerOptions

    @Option(
        help: ArgumentHelp(
            """
            The file with the digests of accepted bundles. (default: pingferry/accepted in $XDG_STATE_HOME or \
            ~/.local/state)
            """, valueName: "file"), completion: .file())
    var accepted: String?

    @Flag(help: "Accept bundles whose digests were accepted under another name.")
    var again = false

    @Flag(help: "Repair damaged copies with the repair blocks on the medium. Requires par2.")
    var repair = false

    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws {
        guard folder != "-", output != "-" else { throw ValidationError("receive requires folders") }
    }

    func run() async throws {
        try await reportingErrors {
            let environment = ProcessInfo.processInfo.environment
            guard let signers = try signing.signers(environment: environment) else {
                throw ValidationError("--signers is required, because nothing else proves who packed a bundle")
            }
            let acceptedPath =
                try accepted ?? CommandFiles.statePath(of: "accepted", "--accepted", environment: environment)
            let medium = try openMedium()
            try requireOutsideOfMedium([output, acceptedPath] + signing.paths(environment: environment))
            try PrivateFolder.create(Path.folder(of: acceptedPath))
            let lock = try LockedFile(acceptedPath + ".lock", .wholeFile)
            var receiver = try BundleReceiver(
                from: medium, into: try StagedFolder(path: output, for: BundleReceiver.stageName), signedBy: signers,
                knowing: Systems.table, limit: common.jobLimit, accepted: try Self.acceptedBundles(at: acceptedPath))
            receiver.acceptsOtherNames = again
            receiver.repair = try repairMode(environment)
            let foreign = try receiver.foreignNames()
            guard foreign.isEmpty else {
                throw CommandError(
                    status: .cannotCreate,
                    path: output, message: "contains other files than bundles, such as \(foreign[0])",
                    remedy: "choose an empty folder")
            }
            try await receiveAll(&receiver, acceptedPath)
            _ = consume lock
        }
    }

    private func openMedium() throws -> Folder {
        do throws(FileError) {
            return try Folder(pathWithoutLinks: folder)
        } catch {
            let failure = CommandError(error)
            guard !error.isNotAFolder else {
                throw CommandError(
                    status: .badData, message: failure.message, remedy: "pass the folder with the bundles")
            }
            let remedy = error.isLink ? "pass the path that realpath prints, if you trust the link" : failure.remedy
            throw CommandError(status: failure.status, message: failure.message, remedy: remedy)
        }
    }

    /// Throws an error if a file that decides what is accepted, or the output, is on the medium.
    private func requireOutsideOfMedium(_ paths: [String]) throws {
        let medium = try RealPath.resolved(folder)
        for path in paths {
            // Of a path that does not exist, the folder is compared in which it would be created.
            var existing = Path.withoutTrailingSlashes(path)
            while RealPath.of(existing) == nil, Path.folder(of: existing) != existing {
                existing = Path.folder(of: existing)
            }
            let place = RealPath.of(existing) ?? ""
            guard place.utf8.elementsEqual(medium.utf8) || place.utf8.starts(with: "\(medium)/".utf8) else { continue }
            throw CommandError(
                status: .cannotCreate, path: path, message: "it is in the folder of the medium, which is not trusted",
                remedy: "keep it on this machine")
        }
    }

    private func repairMode(_ environment: [String: String]) throws -> BundleReceiver.Repair {
        do throws(ParityError) {
            let program = try ParityProgram(environment: environment)
            return repair ? .repair(program) : .check(program)
        } catch {
            guard repair else { return .none }
            throw CommandError(error)
        }
    }

    private static func acceptedBundles(at path: String) throws -> AcceptedBundles {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try InputFile(path: path).contents(limit: AcceptedBundles.maxSize)
        } catch {
            guard error.isNotFound else { throw error }
            return AcceptedBundles()
        }
        do throws(DigestListError) {
            return try AcceptedBundles(bytes)
        } catch {
            throw CommandError(
                status: .badConfiguration, path: path, message: "\(error)",
                remedy: "restore the file; without it, older bundles under other names are not recognized")
        }
    }

    // MARK: Receiving

    /// Receives all bundles, and prints the results.
    private func receiveAll(_ receiver: inout BundleReceiver, _ acceptedPath: String) async throws {
        var firstFailure: ExitCode?
        var results: [CanonicalObject] = []
        var hasMissingParents = false
        for bundle in receiver.offer.bundles {
            let progress = ProgressLine("receiving \(bundle.name)", isQuiet: common.quiet)
            defer { progress.clear() }
            do {
                let received = try await receiver.receive(bundle) { progress.add(bytes: $0) }
                try Self.store(receiver.accepted, at: acceptedPath)
                progress.clear()
                try report(received, bundle.name)
                hasMissingParents = hasMissingParents || !received.missingParents.isEmpty
                results.append(Self.json(of: received, bundle.name))
            } catch {
                guard let failure = Self.failure(error, bundle.name, in: output, medium: folder) else { throw error }
                progress.clear()
                let status = failure.report()
                firstFailure = firstFailure ?? status
                results.append(CanonicalObject(rejectedBundle: bundle.name, "name", failure))
            }
        }
        let others = receiver.offer.otherNames
        if !others.isEmpty, !common.quiet {
            let more = others.count > 5 ? ", and \(others.count - 5) more" : ""
            StandardError.write(
                "pingferry: not part of a bundle: \(others.prefix(5).joined(separator: ", "))\(more)")
        }
        if results.isEmpty {
            throw CommandError(
                status: .noInput, path: folder, message: "contains no bundle",
                remedy: "bundles are files named NAME.tar.zst, or volumes such as NAME.tar.zst.001")
        }
        if common.json { try JSONResult.print(["bundles": results, "others": others], as: .receive) }
        if let firstFailure { throw firstFailure }
        if hasMissingParents { throw ExitCode(ExitStatus.incomplete.rawValue) }
    }

    private static func store(_ accepted: AcceptedBundles, at path: String) throws {
        let file = try AtomicOutput(path: path, replacing: true)
        try file.write(accepted.bytes.span)
        try file.commit()
    }

    private func report(_ received: BundleReceiver.ReceivedBundle, _ name: String) throws {
        for parent in received.missingParents {
            StandardError.write("pingferry: \(name): the bundle that it continues is missing: digest \(parent)")
        }
        guard !common.json, !common.quiet else { return }
        let manifest = received.manifest
        let verb = received.wasPresent ? "already received" : "received"
        try Terminal.print("\(name): \(verb), \(Summary.records(in: manifest.totals))")
        if let blocks = received.repairedBlockCount {
            try Terminal.print("repaired \(blocks.counted("block")) in the copy")
        }
        for line in manifest.lines(signer: received.signer) { try Terminal.print(line) }
    }

    /// Returns the error to report for a bundle that was not received, or `nil` for an error of the program.
    private static func failure(
        _ error: any Error, _ name: String, in output: String, medium: String
    ) -> CommandError? {
        let failure: CommandError? =
            switch error {
            case let error as ReceivingError: CommandError(error, in: name)
            case let error as BundleError: CommandError(error, in: name)
            default: CommandError(error)
            }
        // The copies have the names of the files on the medium, which are more useful.
        let stage = StagedFolder.stagePath(in: output, for: BundleReceiver.stageName)
        return failure.map { failure in
            CommandError(
                status: failure.status, message: failure.message.replacing("\(stage)/", with: "\(medium)/"),
                remedy: failure.remedy)
        }
    }

    private static func json(of received: BundleReceiver.ReceivedBundle, _ name: String) -> CanonicalObject {
        var object = CanonicalObject(validBundle: name, "name", received.manifest, received.signer)
        object.set("files", received.files)
        object.set("missingParents", received.missingParents)
        object.set("present", received.wasPresent)
        object.set("repairedBlocks", received.repairedBlockCount ?? 0)
        return object
    }
}

extension CommandError {
    /// Creates an error for a bundle on a medium that is not accepted.
    fileprivate init(_ error: ReceivingError, in name: String) {
        let status: ExitStatus =
            switch error {
            case .missing: .noInput
            case .otherContents: .cannotCreate
            case .irregular, .ambiguous, .acceptedAs, .damaged, .notRepaired: .badData
            }
        self.init(status: status, message: "\(name): \(error)", remedy: error.remedy)
    }
}
