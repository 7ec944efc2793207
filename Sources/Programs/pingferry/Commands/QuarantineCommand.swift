import ArgumentParser
import Bundle
import Bytes
import Capture
import Console
import Files
import JSONText
import Systems
import Telemetry

/// The command `quarantine`, which extracts the quarantined items of bundles.
///
/// Source: "Quarantined items", section "Looking at it".
struct QuarantineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract: "Extract the quarantined items of bundles.",
        discussion: """
            Writes each item to a file whose name is its SHA-256 and the name of its original file. Equal items are written \
            once. The file \(Self.listName), which is written last, has a line for each item with its capture, its path, the \
            reason and, as file, the name of its file, or null if the bundle does not contain its bytes.
              pingferry quarantine -o items monday.tar.zst
              jq -r .reason items/\(Self.listName) | sort | uniq -c

            The items are the input of a parser that rejected them: do not open them with programs that trust their contents. \
            bundle --reread-quarantine reads them again after the parser was corrected.
            """)

    static let listName = "items.ndjson"

    @Argument(help: ArgumentHelp("Bundles.", valueName: "bundle"), completion: .file())
    var bundles: [String]

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The folder to create. It must be empty if it exists.", valueName: "folder"),
        completion: .directory)
    var output: String

    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws { try InputOptions.checkStandardInput(in: bundles) }

    /// Opens the folder for the items, whose place can be taken by a file.
    private static func folder(at path: String) throws -> Folder {
        do throws(FileError) {
            return try Folder(path: path)
        } catch {
            throw CommandError(status: .cannotCreate, message: error.message, remedy: "choose another folder")
        }
    }

    func run() async throws {
        try await reportingErrors {
            let readers = try bundles.map {
                try InputOpener.openBundle($0, systems: Systems.table, copyFolder: CommonOptions.temporaryFolder)
            }
            try PrivateFolder.create(output)
            guard try Self.folder(at: output).entries().isEmpty else {
                throw CommandError(
                    status: .cannotCreate, path: output, message: "the folder is not empty",
                    remedy: "choose another folder")
            }
            // The list has its name only after all items have been written.
            let list = try CommandOutput(path: Path.entry(Self.listName, of: output), replacing: false)
            var extraction = QuarantineExtraction(folder: output, list: list)
            for (reader, path) in zip(readers, bundles) {
                try InputOpener.withInputErrors(of: InputOpener.name(of: path)) { try extraction.add(reader) }
            }
            try list.commit()
            if common.json {
                try JSONResult.print(
                    [
                        "files": extraction.names.count, "items": extraction.itemCount, "output": output,
                        "withoutBytes": extraction.unstoredCount,
                    ], as: .quarantine)
            } else if !common.quiet {
                let missing =
                    extraction.unstoredCount > 0
                    ? "; \(extraction.unstoredCount) are only listed, because their bytes are not in the bundle" : ""
                let files = extraction.names.count.counted("file")
                try Terminal.print("wrote \(output): \(extraction.itemCount.counted("item")) in \(files)\(missing)")
            }
        }
    }
}

/// The files and the list of extracted items.
private struct QuarantineExtraction {
    let folder: String
    let list: CommandOutput
    /// The names of the written files.
    private(set) var names: Set<CapturedText> = []
    private(set) var itemCount = 0
    /// The number of items whose bytes no bundle contains.
    private(set) var unstoredCount = 0

    /// The maximum length of the original name in the name of a file.
    private static let nameLength = 100

    init(folder: String, list: CommandOutput) {
        self.folder = folder
        self.list = list
    }

    mutating func add(_ reader: BundleReader) throws {
        var items = DetailCursor<QuarantineEntry>(BundleLayout.quarantine, of: reader)
        var decoder = FrameDecoder()
        while let item = try items.next() {
            itemCount += 1
            var line = item.json
            line.set("file", item.isStored ? Self.name(of: item) : nil)
            try list.write((line.bytes + [UInt8(ascii: "\n")]).span)
            guard item.isStored else {
                unstoredCount += 1
                continue
            }
            let name = Self.name(of: item)
            guard names.insert(CapturedText(name)).inserted else { continue }
            let member = BundleLayout.quarantineMemberName(sha256: item.sha256)
            try write(try reader.contents(of: member, with: &decoder), name)
        }
    }

    private func write(_ bytes: [UInt8], _ name: String) throws(FileError) {
        let file = try AtomicOutput(path: Path.entry(name, of: folder), replacing: false)
        try file.write(bytes.span)
        try file.commit()
    }

    /// Returns the name of the file, in which only letters, digits and a few other characters occur.
    private static func name(of item: QuarantineEntry) -> String {
        let original = Path.lastName(of: item.path).utf8.prefix(nameLength).map { byte in
            byte.isLetter || byte.isDigit || [UInt8(ascii: "."), UInt8(ascii: "-")].contains(byte)
                ? byte : UInt8(ascii: "_")
        }
        return "\(item.sha256)-\(String(decoding: original, as: UTF8.self))"
    }
}
