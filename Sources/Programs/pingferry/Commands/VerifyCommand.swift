import ArgumentParser
import Bundle
import Bytes
import Capture
import Console
import Essentials
import Files
import Hashing
import JSONText
import Systems
import Telemetry

/// The command `verify`, which reads bundles completely and checks them.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check that bundles are complete and valid.",
        discussion: """
            Reads each bundle completely and checks every checksum, hash and count, the form of each record, and each \
            target. The printed digest does not depend on compression: equal digests mean equal contents.
              pingferry verify monday.tar.zst
              ssh site cat monday.tar.zst | pingferry verify -

            For a bundle in volumes, pass the first volume, such as night.tar.zst.001. Each volume is compared with \
            night.tar.zst.sha256 if this list is in the same folder. Volumes that are missing, swapped, duplicated, \
            damaged or of the wrong length are named.

            These checks show that a bundle is intact, but not who packed it, because anyone who changes a bundle can \
            also update its checksums. --digest compares the bundle with a digest that you received over another \
            channel, such as by telephone. --signers verifies a signature with ssh-keygen, which requires no other \
            channel:
              ssh-keygen -Y sign -n \(AllowedSigners.namespace) -f KEY monday.tar.zst
              pingferry verify --signers signers monday.tar.zst

            The signature is stored beside the bundle as monday.tar.zst.sig. Each line of the list of signers has a \
            name and a public key: ines@example.org ssh-ed25519 AAAA...

            --against compares the digest of each bundle and the SHA-256 of its files with a receipt that bundle or \
            verify wrote. Bundles are found in it by their names. All volumes of a bundle can be passed; they are \
            checked together.
              pingferry verify --against night.json night.tar.zst.00*

            --chain also checks that the bundles are complete together: each bundle that an increment continues must \
            precede it, once. With --chain, --digest is the digest of the last bundle, which covers all bundles that it \
            continues; a bundle that it does not continue is an error. Without --digest, the number of chains is printed \
            if it is not 1: compare the digests at their ends with those that you expect.
              pingferry verify --chain monday.tar.zst tuesday.tar.zst wednesday.tar.zst

            --index also checks that an index belongs to exactly these bundles, in any order. An index from another \
            source should be checked before it is used with --since-index, because it could contain keys of records that \
            no bundle contains, which the next increment would then omit:
              pingferry verify --index phones.index monday.tar.zst tuesday.tar.zst

            --receipt writes a file that states who checked which bundles, when and with which result. It includes \
            damaged bundles with the reason, but not bundles that cannot be read at all.
            """)

    @Argument(help: ArgumentHelp("Bundles; - is standard input.", valueName: "bundle"), completion: .file())
    var bundles: [String]

    @Flag(help: "Check that each bundle is preceded by all bundles that it continues.")
    var chain = false

    @OptionGroup(title: "Who packed it") var signing: SignerOptions

    @Option(
        help: ArgumentHelp(
            "The signature file, unless it is beside the bundle with the extension .sig.", valueName: "file"),
        completion: .file())
    var signature: String?

    @OptionGroup(title: "Digests") var digests: DigestOptions

    @Option(
        help: ArgumentHelp(
            "A receipt that must contain each bundle with its digest and the SHA-256 of its files.",
            valueName: "file.json"), completion: .file())
    var against: String?

    @Option(
        help: ArgumentHelp(
            """
            An index that must belong to exactly these bundles: its digests are theirs, and its keys are those of their \
            records, quarantined items and problems.
            """, valueName: "index"), completion: .file())
    var index: String?

    @Flag(help: "Replace an existing receipt.")
    var force = false

    @OptionGroup var receipts: ReceiptOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws {
        try InputOptions.checkStandardInput(in: bundles)
        guard signature == nil || paths.count == 1 else {
            throw ValidationError("--signature accepts only one bundle")
        }
    }

    func run() async throws {
        try await reportingErrors {
            let environment = ProcessInfo.processInfo.environment
            var files = CommandFiles()
            files.read(
                paths.filter { $0 != "-" }.flatMap(BundleFile.allPaths) + signing.paths(environment: environment))
            files.read([signature, digests.digestFile, against, index].compactMap(\.self))
            files.write("--receipt", receipts.replacedPaths)
            try files.check()
            let signers = try signing.signers(environment: environment)
            if signature != nil, signers == nil {
                throw ValidationError("--signature requires --signers, the list of accepted signers")
            }
            if signers != nil, signature == nil, paths.contains("-") {
                throw ValidationError("a bundle from standard input requires --signature")
            }
            let expected = try digests.expectedDigests(of: paths, inChain: chain)
            let comparison = try against.map { try ReceiptComparison(path: $0) }
            let indexComparison = try index.map { try IndexComparison(path: $0) }
            let receipt = try receipts.output(replacing: force)
            try await verifyAll(signers, expected, comparison, indexComparison, writing: receipt)
        }
    }

    /// The paths of the bundles, without later volumes of bundles whose first volume is also given.
    private var paths: [String] { BundleFile.removingLaterVolumes(from: bundles) }

    /// Verifies all bundles, and prints and records the results.
    private func verifyAll(
        _ signers: AllowedSigners?, _ expected: [String?]?, _ comparison: ReceiptComparison?,
        _ indexComparison: IndexComparison?, writing receipt: consuming ReceiptOutput
    ) async throws {
        let paths = paths
        var log = receipts.receipt.map { _ in VerificationLog(paths, limit: common.jobLimit) }
        var firstFailure: ExitCode?
        var results: [CanonicalObject] = []
        var verified = BundleChain()
        // The keys of the records are only needed for an index, and to count records of several bundles once.
        var contents = chain || index != nil ? EarlierBundles() : nil
        for (number, path) in paths.enumerated() {
            do {
                results.append(
                    try await verify(
                        path, signers, expected: expected?[number] ?? nil, comparison, &contents, &log, &verified))
            } catch {
                guard let failure = CommandError(error)?.stating(ParityProgram.state(ofBundleAt: path)) else {
                    throw error
                }
                let status = failure.report()
                firstFailure = firstFailure ?? status
                await log?.recordFailure(path, failure)
                var result = CanonicalObject(rejectedBundle: path, "path", failure)
                if let faults = VolumeReport.faultsJSON(in: error) { result.set("volumes", faults) }
                results.append(result)
            }
        }
        let faults = chain ? verified.faults(endingWith: digests.digest?.lowercased()) : []
        for fault in faults {
            let status = CommandError(fault).report()
            firstFailure = firstFailure ?? status
        }
        let isComplete = firstFailure == nil
        if isComplete, let contents, let failure = indexComparison?.failure(comparedWith: contents) {
            firstFailure = failure.report()
        }
        if let indexComparison, firstFailure == nil, !common.json, !common.quiet {
            try Terminal.print(indexComparison.sentence)
        }
        let recordCount = contents?.records.count ?? 0
        if chain, isComplete, !common.json, !common.quiet {
            try Terminal.print(Self.sentence(on: verified, records: recordCount))
        }
        if common.json {
            var object: CanonicalObject = ["bundles": results]
            if chain {
                object.set("chain", Self.json(of: verified, records: recordCount, faults, isComplete: isComplete))
            }
            if let indexComparison { object.set("index", indexComparison.json(isGood: firstFailure == nil)) }
            try JSONResult.print(object, as: .verify)
        }
        do {
            try receipt.write(after: "the bundles were verified") {
                Receipt(
                    command: "verify", arguments: CommandArguments.afterCommand, origin: .current(),
                    entries: log?.entries ?? [], inputs: nil
                ).statement
            }
        } catch {
            guard let firstFailure else { throw error }
            error.report(as: "pingferry")
            throw firstFailure
        }
        if let firstFailure { throw firstFailure }
    }

    private func verify(
        _ path: String, _ signers: AllowedSigners?, expected: String?, _ comparison: ReceiptComparison?,
        _ contents: inout EarlierBundles?, _ log: inout VerificationLog?, _ verified: inout BundleChain
    ) async throws -> CanonicalObject {
        let reader = try InputOpener.openBundle(
            path, systems: Systems.table, copyFolder: CommonOptions.temporaryFolder, signedBy: signers,
            signature: signature)
        log?.start(reader)
        if let expected, reader.manifest.digest != expected {
            throw CommandError(
                status: .badData,
                path: InputOpener.name(of: path), message: "its digest is \(reader.manifest.digest), not \(expected)",
                remedy: "do not use this bundle; it is not the expected one")
        }
        let verifier = BundleVerifier(reader, limit: common.jobLimit)
        let hashed = reader.volumes?.hashedByteCount ?? 0
        let progress = ProgressLine("verifying", total: hashed + verifier.byteCount, isQuiet: common.quiet)
        defer { progress.clear() }
        do {
            try reader.volumes?.verifyHashes { progress.add(bytes: $0) }
            if contents == nil {
                try await verifier.verify { progress.add(bytes: $0) }
            } else {
                try await contents?.add(reader, named: InputOpener.name(of: path), by: verifier) {
                    progress.add(bytes: $0)
                }
            }
        } catch let error as BundleError {
            throw InputError.bundle(error, InputOpener.name(of: path))
        }
        try comparison?.check(reader, path)
        try await log?.recordSuccess(InputOpener.name(of: path))
        progress.clear()
        let manifest = reader.manifest
        verified.append(manifest, named: InputOpener.name(of: path))
        if !common.json, !common.quiet {
            try Terminal.print("\(InputOpener.name(of: path)): good, \(Summary.records(in: manifest.totals))")
            if let volumes = reader.volumes { try Terminal.print(VolumeReport.sentence(on: volumes)) }
            var checks: [String] = []
            if expected != nil, reader.signer == nil {
                checks.append("the contents match the given digest, which does not show who packed them")
            }
            if let comparison { checks.append("matches the receipt \(comparison.path)") }
            let lines = manifest.lines(
                digestRemark: expected == nil ? "" : ", as expected", checks: checks, signer: reader.signer)
            for line in lines { try Terminal.print(line) }
        }
        var object = CanonicalObject(validBundle: path, "path", manifest, reader.signer)
        if let comparison { object.set("against", comparison.path) }
        object.set("parents", manifest.parents)
        object.set("pseudonymized", manifest.pseudonymKeyID)
        if let volumes = reader.volumes { object.set("volumes", VolumeReport.json(of: volumes)) }
        return object
    }

    /// Returns a sentence on complete chains that contain `records` different records.
    private static func sentence(on chains: BundleChain, records: Int) -> String {
        let count = chains.ends.count
        let subject = count == 1 ? "chain" : count.counted("chain")
        let bundles = chains.count.counted("bundle")
        return "\(subject) of \(bundles): complete, \(records.counted("record"))"
    }

    private static func json(
        of chain: BundleChain, records: Int, _ faults: [BundleChain.Fault], isComplete: Bool
    ) -> CanonicalObject {
        let faults = faults.map { fault -> CanonicalObject in
            ["bundle": fault.bundle, "code": fault.code, "digest": fault.digest]
        }
        return [
            "bundles": chain.count, "chains": chain.ends.count, "digest": chain.digest, "ends": chain.ends,
            "faults": faults, "good": isComplete, "records": records,
        ]
    }
}

/// The options that specify the expected digests of bundles.
struct DigestOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The expected digest of the bundle, or of the last one with --chain, received separately from the bundle.",
            valueName: "hex"))
    var digest: String?

    @Option(
        help: ArgumentHelp(
            """
            A file with the expected digests: one line for each bundle with the digest and the name of the bundle. For \
            a single bundle, the digest alone is sufficient.
            """, valueName: "file"), completion: .file())
    var digestFile: String?

    func validate() throws {
        guard digest == nil || digestFile == nil else {
            throw ValidationError("--digest and --digest-file cannot be used together")
        }
        if let digest, ContentHash(hex: digest.lowercased()) == nil {
            throw ValidationError("--digest requires the 64 hexadecimal digits that verify prints")
        }
    }

    /// Returns the expected digest of each bundle, or `nil` if no digests were given.
    ///
    /// In a chain, `--digest` applies to the last bundle, and the elements for the other bundles are `nil`.
    func expectedDigests(of bundles: [String], inChain isChain: Bool) throws -> [String?]? {
        if let digest {
            guard bundles.count == 1 || isChain else {
                throw ValidationError("--digest accepts only one bundle; use --digest-file for several")
            }
            return bundles.dropLast().map { _ in nil } + [digest.lowercased()]
        }
        guard let path = digestFile else { return nil }
        let list = try Self.digestList(at: path)
        return try bundles.map { bundle in
            // For a bundle in volumes, the list of digests contains the name of the bundle.
            let name = VolumeName(path: bundle)?.bundlePath ?? bundle
            guard let digest = list.digest(of: name, isOnlyBundle: bundles.count == 1) else {
                throw CommandError(
                    status: .badData, path: path, message: "contains no digest for \(bundle)",
                    remedy: "add a line with the digest, two spaces, and the name of the bundle")
            }
            return digest
        }
    }

    private static func digestList(at path: String) throws -> DigestList {
        let bytes = try InputFile(path: path).contents(limit: DigestList.maxSize)
        do throws(DigestListError) {
            return try DigestList(bytes)
        } catch {
            throw CommandError(status: .badData, path: path, message: "\(error)")
        }
    }
}

/// The description of the volumes of a bundle in the output of `verify`.
private enum VolumeReport {
    /// Returns the volumes of a valid bundle as JSON objects, with the hashes from the list of volumes.
    static func json(of set: VolumeSet) -> [CanonicalObject] {
        zip(set.names, set.sizes).map { name, size in
            ["bytes": size, "path": name.path, "sha256": set.list?.hashes[name.number - 1].hex]
        }
    }

    static func sentence(on set: VolumeSet) -> String {
        let count = set.names.count.counted("volume")
        let list = VolumeName.listPath(of: set.names.first?.bundlePath ?? "")
        return set.list == nil ? "\(count), with no list to compare them with" : "\(count), as listed in \(list)"
    }

    /// Returns the faults of volumes as JSON objects, or `nil` if `error` is not about faulty volumes.
    static func faultsJSON(in error: any Error) -> [CanonicalObject]? {
        guard let error = bundleError(error), case .volumes(let faults) = error else { return nil }
        return faults.map { ["code": $0.code, "name": $0.name, "text": $0.text] }
    }

    private static func bundleError(_ error: any Error) -> BundleError? {
        if case .bundle(let error, _)? = error as? InputError { return error }
        return error as? BundleError
    }
}

extension ParityProgram {
    /// Returns the state of the bundle at `path` according to the repair blocks beside it, or `nil` if there are none.
    fileprivate static func state(ofBundleAt path: String) -> State? {
        let bundle = VolumeName(path: path)?.bundlePath ?? path
        let parityPath = Self.path(ofBundleAt: bundle)
        guard path != "-", FileIdentity(path: parityPath) != nil else { return nil }
        // Errors are ignored, because the state only adds to the message of another error.
        return try? ParityProgram(environment: ProcessInfo.processInfo.environment).state(of: parityPath)
    }
}

extension CommandError {
    /// Returns the error of a bundle with the state of its blocks, if any is damaged.
    fileprivate func stating(_ state: ParityProgram.State?) -> CommandError {
        guard let state, !state.isIntact else { return self }
        return CommandError(
            status: status, message: "\(message); \(state.description)",
            remedy: state.isRepairable ? "repair a copy with receive --repair, or with par2 repair" : remedy)
    }
}

/// A log of the bundles that `verify` has checked, for a receipt.
///
/// Each bundle is hashed on another thread while it is verified.
private struct VerificationLog {
    private let jobLimit: JobLimit
    /// The unique names of the bundles in the receipt.
    private let receiptNames: [String]
    private var reader: BundleReader?
    private var hashTask: Task<[ContentHash], any Error>?
    private(set) var entries: [Receipt.Entry] = []

    init(_ paths: [String], limit: JobLimit) {
        receiptNames = PathLabels.labels(ofPaths: paths)
        jobLimit = limit
    }

    private var currentName: String { receiptNames[entries.count] }

    /// Starts hashing the files of `reader`, which becomes the current bundle.
    mutating func start(_ reader: BundleReader) {
        self.reader = reader
        hashTask = jobLimit.start { try reader.fileHashes() }
    }

    /// Adds an entry for the current bundle, which is valid.
    mutating func recordSuccess(_ path: String) async throws {
        guard let reader, let hashTask else { return }
        let found = try await hashTask.value
        guard try reader.isUnchanged() else { throw CommandError(changedBundle: path) }
        add(found, .valid)
    }

    /// Adds an entry for the current bundle, which is damaged or cannot be read.
    mutating func recordFailure(_ path: String, _ failure: CommandError) async {
        var found: [ContentHash] = []
        do {
            if let hashTask {
                found = try await hashTask.value
            } else if path != "-", BundleFile.volumeName(atPath: path) == nil {
                // A volume of an unusable bundle is not hashed, because its hash would suggest that this volume is at
                // fault. The reason names the faulty volumes.
                found = [try RunningHash.hash(of: ByteSource(InputFile(path: path)))]
            }
            // If the file has changed, the hash may not be that of the verified bytes.
            if let reader, try !reader.isUnchanged() { found = [] }
        } catch {
            // A file that cannot be read is recorded without a hash. The reason has been reported.
            found = []
        }
        add(found, .invalid(reason: failure.message, status: Int(failure.status.rawValue)))
    }

    private mutating func add(_ hashes: [ContentHash], _ outcome: Receipt.Outcome) {
        let names = reader?.fileNames(for: currentName) ?? [currentName]
        let files = zip(names, hashes).map { Receipt.File(name: $0, sha256: $1) }
        entries.append(
            Receipt.Entry(
                name: currentName, files: files, outcome: outcome, manifest: reader?.manifest, signer: reader?.signer))
        (reader, hashTask) = (nil, nil)
    }
}

/// A comparison of bundles with a receipt that describes them.
private struct ReceiptComparison {
    let path: String
    private let receipt: ExpectedReceipt

    init(path: String) throws {
        let bytes = try InputFile(path: path).contents(limit: ExpectedReceipt.maxSize)
        do throws(ReceiptParsingError) {
            receipt = try ExpectedReceipt(bytes)
        } catch {
            throw CommandError(status: .badData, path: path, message: "\(error)", remedy: error.remedy)
        }
        self.path = path
    }

    /// Throws an error unless the receipt lists `bundle` with the digest and the file hashes of `reader`.
    func check(_ reader: BundleReader, _ bundle: String) throws {
        let paths: [String?] = reader.volumes?.names.map(\.path) ?? [bundle == "-" ? nil : bundle]
        let names = paths.map { path in path.map { Path.lastName(of: $0) } }
        let files = zip(names, try reader.fileHashes()).map { (name: $0, sha256: $1) }
        let name = InputOpener.name(of: bundle)
        guard try reader.isUnchanged() else { throw CommandError(changedBundle: name) }
        guard let mismatch = receipt.mismatch(of: files, digest: reader.manifest.digest) else { return }
        let remedy =
            switch mismatch {
            case .notListed: "pass the receipt that was written for this bundle; bundles are found in it by their names"
            case .bad: "do not use this bundle; whoever wrote the receipt found that it is not valid"
            case .digest: "do not use this bundle; it is not the one that the receipt describes"
            case .file: "compare the file with the original; it has the same contents, but was packed again or altered"
            }
        throw CommandError(status: .badData, message: "\(name): \(mismatch) (\(path))", remedy: remedy)
    }
}
