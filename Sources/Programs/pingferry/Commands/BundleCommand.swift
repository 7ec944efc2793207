import ArgumentParser
import Bundle
import Capture
import Console
import Files
import JSONText
import Systems
import Telemetry

/// `bundle`: captures and bundles to one bundle.
struct BundleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bundle",
        abstract: "Pack captures and bundles in one bundle.",
        discussion: """
            Duplicates are left out and counted; what could not be understood goes to quarantine in the bundle. The same \
            input gives the same bytes, whatever --jobs is:
              pingferry bundle -o monday.tar.zst phone-1/ phone-2/
              pingferry bundle -o week.tar.zst monday.tar.zst tuesday.tar.zst

            The bundle carries all that could not be understood and all problems; --json and the screen show the first \
            1000, and --json how many there are of each code.

            --pseudonymize makes a bundle that can be given away, and that nobody can upload: see convert. It carries no \
            quarantine and no problems, which are counted alone.

            --receipt writes down beside the bundle who made it, when, where and of what; the bundle does not tell, and stays \
            the same bytes whoever makes it. The receipt comes after the bundle: without one, the exit status tells.

            The bundle is a tar archive that tar --zstd, bsdtar and zstd read. It appears under its name complete or not \
            at all.

            --volume-size splits it as it is written: NAME.tar.zst.001, NAME.tar.zst.002 and so on, for media that are too \
            small for it, and NAME.tar.zst.sha256, which sha256sum -c reads. All appear or none. Every command takes the first \
            volume in the place of a bundle, if the others lie beside it; cat NAME.tar.zst.[0-9][0-9][0-9] is the bundle.
              pingferry bundle --volume-size dvd -o night.tar.zst phones/

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
            Split the bundle in volumes of so many bytes, or of K, M or G (KiB, MiB, GiB); or as large as a medium takes: cd \
            (700M), dvd (4480M), fat (4092M).
            """, valueName: "size"), completion: .list(["10M", "100M", "650M", "4G"]))
    var volumeSize: String?

    @Option(
        help: ArgumentHelp(
            """
            The permissions of the bundle, its volumes and their list, in octal: 0640 lets the group read them, as an uploader \
            that runs as another user has to.
            """, valueName: "octal"), completion: .list(["0600", "0640", "0644"]))
    var mode = FilePermissions.ownerOnly

    @Option(help: ArgumentHelp("The zstd level, 1 to 19; 1 to 5 are the same for records.", valueName: "n"))
    var level = 3

    @Option(help: ArgumentHelp("The most MiB of one file that go to quarantine.", valueName: "mib"))
    var quarantineFile = 64

    @Option(help: ArgumentHelp("The most MiB that go to quarantine in all.", valueName: "mib"))
    var quarantineTotal = 1024

    @Flag(help: "Replace an output that exists.")
    var force = false

    @OptionGroup var receipts: ReceiptOptions
    @OptionGroup var input: InputOptions
    @OptionGroup(title: "Encrypted backups") var backups: PasswordOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup(title: "Pseudonyms") var pseudonyms: PseudonymOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws {
        guard FrameEncoder.levels.contains(level) else { throw ValidationError("--level takes a number from 1 to 19") }
        if common.json, isStandardOutput {
            throw ValidationError("--json and -o \(output) both want the standard output")
        }
        if isStandardOutput, StandardOutput.isTerminal { throw Self.terminalError }
        if let volumeSize, VolumeSize(text: volumeSize) == nil {
            throw ValidationError(
                "--volume-size takes cd, dvd, fat, or a number of bytes, at least \(VolumeSize.smallest >> 10)K, with K, M or G"
            )
        }
        if volumeSize != nil, isStandardOutput {
            throw ValidationError("volumes are files: they do not go to \(output)")
        }
        if let receipt = receipts.receipt, isOutputPath(receipt) {
            throw ValidationError("the receipt needs a name of its own, which is none of the bundle's files")
        }
        // A bundle's members are limited in size; half of that leaves room for everything else.
        guard (0...128).contains(quarantineFile) else {
            throw ValidationError("--quarantine-file takes a number from 0 to 128")
        }
        guard (0...1_048_576).contains(quarantineTotal) else {
            throw ValidationError("--quarantine-total takes a number from 0 to 1048576")
        }
    }

    private var isStandardOutput: Bool { output == "-" || StandardOutput.isNamed(by: output) }

    func run() async throws {
        try await reporting {
            let pseudonymizer = try pseudonyms.pseudonymizer()
            let file = try openOutput()
            let receipt = try receipts.output(replacing: force)
            OutputLocation.warnIfInsideCapture(output, inputs: input.paths, isQuiet: common.quiet)
            let limit = common.limit
            let hashes = InputHashes(limit: limit)
            let opening = InputOpening(
                labels: input.label, systems: Systems.table, limit: limit,
                excluded: file.identities.union(receipt.identities),
                spool: input.spool,
                passwords: try backups.passwords(isQuiet: common.quiet),
                // Hashes would tell whose captures they are.
                hashes: pseudonymizer == nil ? hashes : nil)
            let reader = CaptureReader(
                try await opening.open(input.paths), paths: input.paths,
                options: common.scanOptions(
                    filter: try filters.filter(), pseudonymizer: pseudonymizer,
                    quarantineFileLimit: quarantineFile << 20), limit: limit)
            let maker = BundleMaker(
                reader, level: level, tool: ProgramVersion.number, quarantineLimit: quarantineTotal << 20)
            let progress = common.progress(of: reader)
            defer { progress.clear() }
            let bundle = try await maker.make(
                hashes: hashes, labels: opening.labels(ofPaths: input.paths), systems: Systems.table,
                progress: { progress.add(bytes: $0, records: $1) }, to: { try file.write($0) })
            progress.clear()
            try file.commit()
            try receipt.write(after: "\(outputDescription(for: file.volumes)) is written") {
                self.receipt(for: bundle.manifest, file.hashedFiles, bundle.intake)
            }
            try report(Summary(bundle.intake, of: reader.options), bundle.manifest, file.volumes)
        }
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
        ValidationError("a bundle is nothing for a terminal: send it to a file or through a pipe")
    }

    private func receipt(for manifest: Manifest, _ files: [Receipt.File], _ intake: Intake) -> Receipt {
        let entry = Receipt.Entry(
            name: Path.lastName(of: output), files: files,
            outcome: intake.isIncomplete ? .incomplete : .complete, manifest: manifest)
        // Of a bundle with pseudonyms, paths and labels would tell whose captures they were.
        return Receipt(
            command: "bundle", arguments: manifest.pseudonymized == nil ? Receipt.givenArguments : nil,
            maker: .current(), entries: [entry], inputs: manifest.inputs)
    }

    private func report(_ summary: Summary, _ manifest: Manifest, _ volumes: [VolumeWriter.Volume]) throws {
        if common.json {
            try summary.printJSON { object in
                object.set("digest", string: manifest.digest)
                object.set("output", string: output)
                if !volumes.isEmpty { object.set("volumes", elements: volumes.map(\.json)) }
            }
        } else if !common.quiet {
            let lines = ["wrote \(outputDescription(for: volumes)): \(summary.sentence)", "digest \(manifest.digest)"]
            // The bundle alone goes to standard output.
            for line in lines {
                if isStandardOutput { StandardError.write("pingferry: \(line)") } else { try Terminal.print(line) }
            }
        }
        try summary.finish(isQuiet: common.quiet)
    }

    /// Whether a file would be the bundle, one of its volumes, their list, or its signature.
    private func isOutputPath(_ path: String) -> Bool {
        let own = Path.lastName(of: output)
        let (name, folders) = (Path.lastName(of: path), (Path.folder(of: path), Path.folder(of: output)))
        let isInSameFolder = folders.0 == folders.1 || FileIdentity(path: folders.0) == FileIdentity(path: folders.1)
        return isInSameFolder
            && ([own, "\(own).sha256", Signers.signaturePath(of: own)].contains(name)
                || VolumeName(path: name)?.bundle == own)
    }

    /// What was written.
    private func outputDescription(for volumes: [VolumeWriter.Volume]) -> String {
        guard let first = volumes.first, let last = volumes.last else {
            return isStandardOutput ? "the bundle to standard output" : output
        }
        let others = volumes.count > 1 ? " to \(last.path.suffix(4))" : ""
        return "\(first.path)\(others) and \(VolumeName.listPath(of: output))"
    }
}
