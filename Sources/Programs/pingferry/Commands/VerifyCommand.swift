import ArgumentParser
import Bundle
import Capture
import Console
import FoundationEssentials
import JSONText
import Systems
import Telemetry

/// `verify`: reads all of a bundle and checks everything.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Prove that bundles are whole and well formed.",
        discussion: """
            Reads everything and checks every checksum, hash and count, the form of each record and each target. The digest \
            that it prints does not depend on compression: equal digests mean equal contents.
              pingferry verify monday.tar.zst
              ssh site cat monday.tar.zst | pingferry verify -

            Of a bundle in volumes, give the first: night.tar.zst.001. Each volume is compared with night.tar.zst.sha256, if that \
            lies beside it, and each that is missing, of the wrong length, swapped, doubled or damaged is named.

            That shows that a bundle is whole, not who packed it: whoever changes a bundle can make it whole again. \
            --digest compares with a digest that came another way than the bundle, such as by telephone: then these are the \
            contents that were meant by whoever told it. --signers asks ssh-keygen who signed it, which needs no other way:
              ssh-keygen -Y sign -n \(Signers.namespace) -f KEY monday.tar.zst
              pingferry verify --signers signers monday.tar.zst

            The signature lies beside the bundle, as monday.tar.zst.sig. A line of the list of signers has a name, and the \
            public key: ines@example.org ssh-ed25519 AAAA...

            --against compares the bundles with the receipt that bundle or verify wrote about them, by their names: the digest, \
            and the SHA-256 of each file. Volumes may all be given; those behind the first are log with it.
              pingferry verify --against night.json night.tar.zst.00*

            --receipt writes down who log what, when and with which result; also of bundles that are not good, with the \
            reason, but not of those that cannot be read at all.
            """)

    @Argument(help: ArgumentHelp("Bundles; - is standard input.", valueName: "bundle"), completion: .file())
    var bundles: [String]

    @OptionGroup(title: "Who packed it") var signing: SignerOptions

    @Option(
        help: ArgumentHelp(
            "The signature, where it does not lie beside the bundle under its name with .sig.", valueName: "file"),
        completion: .file())
    var signature: String?

    @OptionGroup(title: "Digests") var digests: DigestOptions

    @Option(
        help: ArgumentHelp(
            "The receipt that has to name each bundle, with its digest and the SHA-256 of its files.",
            valueName: "file.json"), completion: .file())
    var against: String?

    @Flag(help: "Replace a receipt that exists.")
    var force = false

    @OptionGroup var receipts: ReceiptOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws {
        try InputOptions.checkStandardInput(in: bundles)
        guard signature == nil || paths.count == 1 else {
            throw ValidationError("--signature is for one bundle")
        }
    }

    func run() async throws {
        try await reporting {
            let signers = try signing.signers(environment: ProcessInfo.processInfo.environment)
            if signature != nil, signers == nil {
                throw ValidationError("--signature is log against a list of signers: give --signers too")
            }
            if signers != nil, signature == nil, paths.contains("-") {
                throw ValidationError("give the signature of the standard input with --signature")
            }
            let expected = try digests.expected(of: paths)
            let given = try against.map { try ReceiptComparison(path: $0) }
            try receipts.requireSeparateFile(
                from: paths.flatMap(Self.files)
                    + [signature, digests.digestFile, signing.signers, signing.revoked, against]
                    .compactMap(\.self))
            try await verifyAll(signers, expected, given, writing: try receipts.output(replacing: force))
        }
    }

    /// The bundles, each once: of volumes, those that are log with the first one are left out.
    private var paths: [String] { BundleFile.firstVolumes(of: bundles) }

    /// What lies on the disk of a bundle.
    private static func files(of bundle: String) -> [String] {
        var faults: [VolumeFault] = []
        // A bundle that cannot be opened is reported when it is verified.
        let file = try? BundleFile(path: bundle, noting: &faults)
        return (file?.volumes?.paths ?? [bundle]) + [Signers.signaturePath(of: file?.name ?? bundle)]
    }

    /// - Parameters:
    ///   - expected: the digest that each bundle has to have; nil where none was given.
    ///   - given: the receipt that has to name each bundle; nil where none was given.
    private func verifyAll(
        _ signers: Signers?, _ expected: [String]?, _ given: ReceiptComparison?,
        writing receipt: consuming ReceiptOutput
    ) async throws {
        let paths = paths
        var log = receipts.receipt.map { _ in VerificationLog(paths, limit: common.limit) }
        var firstFailure: ExitCode?
        var results: [[UInt8]] = []
        for (number, path) in paths.enumerated() {
            do {
                results.append(try await verify(path, signers, expected: expected?[number], given, &log))
            } catch {
                guard let failure = CommandError(error) else { throw error }
                failure.report(as: "pingferry")
                firstFailure = firstFailure ?? ExitCode(failure.status.rawValue)
                await log?.recordFailure(path, failure)
                results.append(Self.json(of: failure, path, faults: VolumeReport.faults(in: error)))
            }
        }
        if common.json {
            var object = CanonicalObject()
            object.set("bundles", elements: results)
            try Terminal.print(object)
        }
        do {
            try receipt.write(after: "the bundles are verified") {
                Receipt(
                    command: "verify", arguments: Receipt.givenArguments, maker: .current(),
                    entries: log?.entries ?? [], inputs: nil)
            }
        } catch {
            guard let firstFailure else { throw error }
            error.report(as: "pingferry")
            throw firstFailure
        }
        if let firstFailure { throw firstFailure }
    }

    private func verify(
        _ path: String, _ signers: Signers?, expected: String?, _ given: ReceiptComparison?,
        _ log: inout VerificationLog?
    ) async throws -> [UInt8] {
        let reader = try InputOpening.bundle(
            path, systems: Systems.table, copyFolder: CommonOptions.temporaryFolder, signedBy: signers,
            signature: signature)
        log?.start(reader)
        if let expected, reader.manifest.digest != expected {
            throw CommandError(
                status: .badData,
                message: "\(InputOpening.name(of: path)): its digest is \(reader.manifest.digest), not \(expected)",
                remedy: "it is another bundle than the one that was meant: do not use it")
        }
        var generator = SystemRandomNumberGenerator()
        let verifier = BundleVerifier(reader, limit: common.limit, secret: RunSecret(using: &generator))
        let hashed = reader.volumes?.hashedCount ?? 0
        let progress = ProgressLine("verifying", total: hashed + verifier.byteCount, isQuiet: common.quiet)
        defer { progress.clear() }
        do {
            try reader.volumes?.check { progress.add(bytes: $0) }
            try await verifier.verify { progress.add(bytes: $0) }
        } catch let error as BundleError {
            throw InputError.bundle(error, InputOpening.name(of: path))
        }
        try given?.check(reader, path)
        try await log?.recordSuccess(InputOpening.name(of: path))
        progress.clear()
        let manifest = reader.manifest
        if !common.json, !common.quiet {
            let count = Summary.count(manifest.totals.records, "record")
            try Terminal.print("\(InputOpening.name(of: path)): good, \(count)\(Summary.details(of: manifest.totals))")
            if let volumes = reader.volumes { try Terminal.print(VolumeReport.sentence(on: volumes)) }
            try Terminal.print("digest \(manifest.digest)\(expected == nil ? "" : ", as given")")
            if expected != nil, reader.signer == nil {
                try Terminal.print("these are the contents that were meant; it does not show who packed them")
            }
            if let given { try Terminal.print("as the receipt \(given.path) states it") }
            if let signer = reader.signer { try Terminal.print("signed by \(signer.principal) with \(signer.key)") }
            if let key = manifest.pseudonymized { try Terminal.print("pseudonymized with the key \(key)") }
        }
        var object = CanonicalObject()
        if let given { object.set("against", string: given.path) }
        object.set("digest", string: manifest.digest)
        object.set("good", boolean: true)
        object.set("path", string: path)
        object.set("pseudonymized", string: manifest.pseudonymized)
        if let signer = reader.signer { object.set("signer", object: signer.json) }
        object.set("totals", object: manifest.totals.json)
        if let volumes = reader.volumes { object.set("volumes", elements: VolumeReport.json(of: volumes)) }
        return object.bytes
    }

    /// What is said of a bundle that is not good: the exit status that it means, and why.
    private static func json(of failure: CommandError, _ path: String, faults: [[UInt8]]?) -> [UInt8] {
        var object = CanonicalObject()
        object.set("good", boolean: false)
        object.set("path", string: path)
        object.set("status", integer: Int(failure.status.rawValue))
        object.set("text", string: failure.message)
        if let faults { object.set("volumes", elements: faults) }
        return object.bytes
    }
}
