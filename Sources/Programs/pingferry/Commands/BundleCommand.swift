import ArgumentParser
import Bundle
import CLibrary
import Capture
import Console
import Essentials
import Files
import JSONText
import Systems
import Telemetry

/// The command `bundle`, which packs captures and bundles in one bundle.
struct BundleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bundle",
        abstract: "Pack captures and bundles in one bundle.",
        discussion: """
            Duplicates are omitted and counted. Items that cannot be parsed are kept in the quarantine of the bundle. \
            The same input always gives the same bytes, regardless of --jobs:
              pingferry bundle -o monday.tar.zst phone-1/ phone-2/
              pingferry bundle -o week.tar.zst monday.tar.zst tuesday.tar.zst

            The bundle contains all quarantined items and all problems. --json shows the first 1000 of each, and the \
            number with each code.

            --pseudonymize makes a bundle that is safe to share and cannot be uploaded: see convert. Quarantined items \
            and problems are counted but not included. --coarsen-times also removes exact times.

            --receipt writes a file that states who made the bundle, when, where and from which inputs. The bundle \
            itself does not contain this information, so that its bytes depend only on the inputs. The receipt is \
            written after the bundle. If it cannot be written, the exit status reports that.

            The bundle is a tar archive that tar --zstd, bsdtar and zstd can read. It appears under its name complete \
            or not at all.

            --volume-size splits the bundle into volumes for small media: NAME.tar.zst.001, NAME.tar.zst.002 and so \
            on, with a list of hashes for sha256sum -c in NAME.tar.zst.sha256. All of these files appear, or none. \
            Every command accepts the first volume instead of a bundle if the others are in the same folder. To join \
            the volumes, use cat NAME.tar.zst.[0-9][0-9][0-9].
              pingferry bundle --volume-size dvd -o night.tar.zst phones/

            --repair makes repair blocks with par2 beside the bundle: NAME.tar.zst.par2 and another file. With --repair 10, \
            they have a tenth of the size of the bundle, and repair as much damage. See receive.
              pingferry bundle --repair 10 -o night.tar.zst phones/

            --since-bundle and --since-index make an increment, which omits what earlier bundles contain. The label of \
            a capture should be the same each time, because quarantined items and problems are compared with it:
              pingferry bundle --index phones.index -o 1.tar.zst phones/
              pingferry bundle --since-index phones.index --index phones.index -o 2.tar.zst phones/
              pingferry verify --chain 1.tar.zst 2.tar.zst

            --reread-quarantine reads the quarantined items of bundles again, after a parser was corrected. Each record \
            from them has a note with the old hash and code. The new bundle names the old one as its parent, and replaces it:
              pingferry bundle --reread-quarantine -o new.tar.zst old.tar.zst

            -o - writes the bundle to standard output, and the summary to standard error:
              pingferry bundle -o - phone/ | age -r RECIPIENT > phone.tar.zst.age
              age -d -i KEYFILE phone.tar.zst.age | pingferry verify -
            """)

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The bundle to write: NAME.tar.zst, a pipe, or - for standard output.", valueName: "file"),
        completion: .file())
    var output: String

    @Option(
        help: ArgumentHelp(
            """
            Split the bundle into volumes of this size: a number of bytes, optionally with K, M or G (KiB, MiB, GiB), \
            or the name of a medium: cd (700M), dvd (4480M), fat (4092M).
            """, valueName: "size"), completion: .list(["10M", "100M", "650M", "4G"]))
    var volumeSize: String?

    @Option(
        help: ArgumentHelp(
            "Make repair blocks of this percentage of the size of the bundle. Requires par2.", valueName: "percent"))
    var repair: Int?

    @Option(
        help: ArgumentHelp(
            """
            The permissions of the bundle, its volumes and their list, in octal. Use 0640 for an uploader that runs as \
            another user of the same group.
            """, valueName: "octal"), completion: .list(["0600", "0640", "0644"]))
    var mode = FilePermissions.ownerOnly

    @Option(
        help: ArgumentHelp(
            "The zstd compression level, 1 to 19. Levels 1 to 5 are the same for records.", valueName: "n"))
    var level = 3

    @Option(help: ArgumentHelp("The maximum size of one file in quarantine, in MiB.", valueName: "mib"))
    var quarantineFile = 64

    @Option(help: ArgumentHelp("The maximum total size of the quarantine, in MiB.", valueName: "mib"))
    var quarantineTotal = 1024

    @Flag(help: "Replace an existing output.")
    var force = false

    @Flag(
        name: [.customShort("n"), .long],
        help: "Write nothing, and print what the bundle would contain, with its size and its digest.")
    var dryRun = false

    @OptionGroup(title: "Increments") var increments: IncrementOptions
    @OptionGroup var receipts: ReceiptOptions
    @OptionGroup var input: InputOptions
    @OptionGroup(title: "Encrypted backups") var backups: PasswordOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup(title: "Pseudonyms") var pseudonyms: PseudonymOptions
    @OptionGroup var quarantine: QuarantineOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws {
        try InputOptions.checkStandardInput(in: input.paths + increments.sinceBundle)
        guard FrameEncoder.levels.contains(level) else {
            throw ValidationError("--level requires a number from 1 to 19")
        }
        if common.json, isStandardOutput {
            throw ValidationError("--json and -o \(output) both use standard output")
        }
        if isStandardOutput, StandardOutput.isTerminal { throw Self.terminalError }
        if let volumeSize, VolumeSize(text: volumeSize) == nil {
            throw ValidationError(
                """
                --volume-size requires cd, dvd, fat, or a number of bytes, optionally with K, M or G, and at least \
                \(VolumeSize.minimumByteCount >> 10)K
                """
            )
        }
        guard repair.map({ (1...100).contains($0) }) ?? true else {
            throw ValidationError("--repair requires a percentage from 1 to 100")
        }
        if repair != nil, isStandardOutput {
            throw ValidationError("repair blocks are made for files, and not for \(output)")
        }
        if quarantine.rereadQuarantine, increments.index != nil || !increments.inputPaths.isEmpty {
            throw ValidationError(
                "--reread-quarantine makes a complete bundle, and cannot be used with the options of increments")
        }
        if volumeSize != nil, isStandardOutput {
            throw ValidationError("volumes must be files and cannot be written to \(output)")
        }
        if let receipt = receipts.receipt, isOutputPath(receipt) {
            throw ValidationError("the receipt must not have the name of a file of the bundle")
        }
        if let index = increments.index,
            isOutputPath(index) || receipts.receipt.map({ PathIdentity(path: $0) == PathIdentity(path: index) }) == true
        {
            throw ValidationError("the index must not have the name of a file of the bundle or of the receipt")
        }
        // A quarantined file may use half of the limit of 256 MiB for a bundle member. The rest is for other data.
        guard (0...128).contains(quarantineFile) else {
            throw ValidationError("--quarantine-file requires a number from 0 to 128")
        }
        guard (0...1_048_576).contains(quarantineTotal) else {
            throw ValidationError("--quarantine-total requires a number from 0 to 1048576")
        }
    }

    private var isStandardOutput: Bool { output == "-" || StandardOutput.isNamed(by: output) }

    func run() async throws {
        try await reportingErrors {
            try checkFiles()
            let pseudonymizer = try pseudonyms.pseudonymizer()
            let par2 = try parityProgram()
            let file = dryRun ? CommandOutput(rehearsing: output) : try openOutput()
            let receipt = try ReceiptOutput(path: dryRun ? nil : receipts.receipt, replacing: force)
            let index = try increments.indexOutput(replacing: force, isRehearsal: dryRun)
            let outputs = file.identities.union(receipt.identities).union(index.identities)
            let earlier = try await increments.earlierBundles(common, writing: outputs)
            if !file.identities.isEmpty {
                let first = volumeSize == nil ? output : VolumeName(of: output, number: 1).path
                try increments.requireNoEarlierBundle(at: first, in: earlier)
            }
            OutputLocation.warnIfInsideCapture(output, inputs: input.paths, isQuiet: common.quiet)
            let limit = common.jobLimit
            let hashes = InputHashes(limit: limit)
            let opening = try input.opener(
                limit, backups, isQuiet: common.quiet, excluded: outputs,
                // Hashes of the inputs would reveal their origin.
                hashes: pseudonymizer == nil ? hashes : nil)
            let reader = CaptureReader(
                try await opening.open(input.paths), paths: input.paths,
                options: common.scanOptions(
                    filter: try filters.filter(), pseudonymizer: pseudonymizer,
                    quarantineFileLimit: quarantineFile << 20, rereadsQuarantine: quarantine.rereadQuarantine),
                limit: limit)
            let maker = BundleMaker(
                reader, level: level, toolVersion: ProgramVersion.number, quarantineLimit: quarantineTotal << 20,
                earlier: earlier, makesIndex: increments.index != nil)
            let progress = common.progress(of: reader)
            defer { progress.clear() }
            var listing = input.storeListing(of: reader)
            let bundle = try await maker.make(
                hashes: hashes, labels: opening.labels(ofPaths: input.paths), systems: Systems.table,
                keep: { listing.count($0) }, note: { listing.note($0) },
                progress: { progress.add(bytes: $0, records: $1) }, to: { try file.write($0) })
            progress.clear()
            listing.print()
            try file.commit()
            // The receipt describes the bundle, which is complete without the index and the repair blocks.
            var laterFailure: ExitCode?
            do throws(CommandError) {
                try index.write(bundle.index, after: "\(outputDescription(for: file.volumes)) was written")
            } catch {
                laterFailure = error.report()
            }
            do {
                if !dryRun {
                    try par2?.create(
                        percent: repair ?? 0, forBundleAt: output,
                        of: file.volumes.isEmpty
                            ? [output] : file.volumes.map(\.path) + [VolumeName.listPath(of: output)], replacing: force)
                }
            } catch {
                guard let failure = CommandError(error) else { throw error }
                let status = CommandError(
                    status: failure.status, message: "no repair blocks were made: \(failure.message)",
                    remedy: "\(outputDescription(for: file.volumes)) was written; make them with par2 create"
                ).report()
                laterFailure = laterFailure ?? status
            }
            try receipt.write(after: "\(outputDescription(for: file.volumes)) was written") {
                self.receipt(for: bundle.manifest, file.hashedFiles, bundle.intake).statement
            }
            if let laterFailure { throw laterFailure }
            try report(Summary(bundle.intake, of: reader.options), bundle.manifest, file)
        }
    }

    /// Finds `par2`, and checks that existing repair blocks may be replaced.
    private func parityProgram() throws -> ParityProgram? {
        guard repair != nil else { return nil }
        let existing = try ParityProgram.existingNames(forBundleAt: output)
        if let name = existing.first, !force {
            throw CommandError(FileError(.create, Path.entry(name, of: Path.folder(of: output)), code: EEXIST))
        }
        return try ParityProgram(environment: ProcessInfo.processInfo.environment)
    }

    private func checkFiles() throws {
        var files = CommandFiles()
        files.read(input.allPaths + backups.passwordFile + [pseudonyms.pseudonymize].compactMap(\.self))
        files.read(
            OutputLocation.filesOfCaptures(
                among: (volumeSize == nil ? [output] : VolumeWriter.outputPaths(of: output))
                    + [increments.index, receipts.receipt].compactMap(\.self),
                inputs: input.paths))
        files.read(increments.inputPaths)
        if !isStandardOutput {
            files.write(
                "--output",
                volumeSize == nil ? AtomicOutput.replacedPaths(of: output) : VolumeWriter.replacedPaths(of: output))
        }
        files.write("--index", increments.index.map(AtomicOutput.replacedPaths) ?? [])
        files.write("--receipt", receipts.replacedPaths)
        try files.check()
    }

    private func openOutput() throws -> CommandOutput {
        let path = isStandardOutput ? "-" : output
        if let size = volumeSize.flatMap({ VolumeSize(text: $0) }) {
            return try CommandOutput(path: path, volumes: size, permissions: mode, replacing: force)
        }
        let file = try CommandOutput(path: path, replacing: force, isHashed: receipts.receipt != nil)
        guard !file.isTerminal else { throw Self.terminalError }
        if mode != .ownerOnly { try file.setPermissions(mode) }
        return file
    }

    /// The error for a bundle that would be written to a terminal.
    private static var terminalError: ValidationError {
        ValidationError("a bundle cannot be written to a terminal: use a file or a pipe")
    }

    private func receipt(for manifest: Manifest, _ files: [Receipt.File], _ intake: Intake) -> Receipt {
        let entry = Receipt.Entry(
            name: Path.lastName(of: output), files: files,
            outcome: intake.isIncomplete ? .incomplete : .complete, manifest: manifest)
        // The receipt of a bundle with pseudonyms has no arguments, because paths and labels would reveal the origin.
        return Receipt(
            command: "bundle", arguments: manifest.pseudonymKeyID == nil ? CommandArguments.afterCommand : nil,
            origin: .current(), entries: [entry], inputs: manifest.inputs)
    }

    private func report(_ summary: Summary, _ manifest: Manifest, _ file: CommandOutput) throws {
        let volumes = file.volumes
        if common.json {
            try summary.printJSON(as: .bundle) { object in
                object.set("bytes", file.byteCount)
                object.set("digest", manifest.digest)
                object.set("dryRun", dryRun)
                object.set("index", increments.index)
                object.set("output", output)
                object.set(ancestryOf: manifest)
                if !volumes.isEmpty { object.set("volumes", volumes.map(\.json)) }
            }
        } else if !common.quiet {
            let action =
                dryRun
                ? "dry run: \(file.byteCount) bytes for \(output)" : "wrote \(outputDescription(for: volumes))"
            let lines =
                ["\(action): \(summary.sentence)", "digest \(manifest.digest)"]
                + manifest.ancestryLines + manifest.filterLines + summary.decisionLines
            // Only the bundle itself is written to standard output.
            for line in lines {
                if isStandardOutput { StandardError.write("pingferry: \(line)") } else { try Terminal.print(line) }
            }
        }
        try summary.finish(isQuiet: common.quiet)
    }

    /// Returns whether `path` is the path of the bundle, of one of its volumes, of their list, or of the signature.
    private func isOutputPath(_ path: String) -> Bool {
        let outputs = [output, VolumeName.listPath(of: output), AllowedSigners.signaturePath(of: output)]
        return [path, VolumeName(path: path)?.bundlePath].compactMap(\.self).contains { given in
            outputs.contains { PathIdentity(path: $0) == PathIdentity(path: given) }
        }
    }

    /// Returns a description of the files that were written.
    private func outputDescription(for volumes: [VolumeWriter.Volume]) -> String {
        guard let first = volumes.first, let last = volumes.last else {
            return isStandardOutput ? "the bundle to standard output" : output
        }
        let others = volumes.count > 1 ? " to \(last.path.suffix(4))" : ""
        return "\(first.path)\(others) and \(VolumeName.listPath(of: output))"
    }
}

extension VolumeWriter.Volume {
    fileprivate var json: CanonicalObject { ["bytes": size, "path": path, "sha256": sha256.hex] }
}
