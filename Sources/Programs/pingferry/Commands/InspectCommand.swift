import ArgumentParser
import Capture
import Console
import Files
import JSONText
import PropertyList

/// `inspect`: any property list or keyed archive as JSON.
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show any property list or keyed archive as JSON.",
        discussion: """
            Reads binary and XML property lists of any app; not text in the old style of \
            OpenStep or .strings files. The objects of an \
            NSKeyedArchiver archive come out as the values that they stand for: \
            collections, texts, numbers, dates (RFC 3339), UUIDs, URLs. Instances of \
            other classes show their members and $class.
              pingferry inspect Library/Preferences/com.example.shop.plist
              pingferry inspect queues/sift-default | jq '.queue[].time'
              ssh mac defaults export com.example.shop - | pingferry inspect -

            Of several files, one follows the other, each below a line with its name; \
            with --compact each is a line of JSON: {"$file": "a.plist", "$value": ...}.

            What JSON has no word for is an object of its own:
              {"$data": "AQID"}    bytes in base64; "$holds" says that they are a
                                   property list, which --nested opens
              {"$value": ...}      a property list in data, opened
              {"$ref": 12}         what contains this place, or is shared too often
                                   to be shown again: number 12 in --raw's $objects
              {"$class": "A", ...} an instance with its members
              {"$entries": [[k, v]]}  a dictionary with keys that are no text
              {"$real": "nan"}     a real that JSON lacks
              {"$error": "..."}    a value that is broken; the others are shown, and
                                   the exit status is 1
              {"CF$UID": 12}       a reference of an archive, with --raw

            Keys keep the order of the file. If a key is repeated, its first value is \
            shown, the repetition is reported, and the exit status is 1. Nothing is \
            masked: what you see is what the app stored, secrets too.
            """)

    @Argument(help: ArgumentHelp("Property lists; - is standard input.", valueName: "file"), completion: .file())
    var files: [String]

    @Flag(help: "Show an archive as the property list that it is, with its table of objects.")
    var raw = false

    @Flag(help: "Open property lists and archives that are stored as data inside of this one.")
    var nested = false

    @Flag(help: "Write everything on one line.")
    var compact = false

    @Flag(help: "Sort the keys of each object, to compare files.")
    var sortKeys = false

    @Option(help: ArgumentHelp("The largest file to read, in MiB.", valueName: "mib"))
    var maxSize = 512

    @Flag(name: .shortAndLong, help: "Say nothing but what went wrong.")
    var quiet = false

    func validate() throws {
        try InputOptions.checkStandardInput(in: files)
        guard (1...4095).contains(maxSize) else { throw ValidationError("--max-size takes a number from 1 to 4095") }
    }

    func run() async throws {
        try await reportingEach(of: files, inspect)
    }

    private func inspect(_ file: String, isFirst: Bool) throws {
        let limits = PropertyListLimits(length: maxSize << 20)
        var printer: PropertyListPrinter
        do {
            let document = try PropertyListDocument(try contents(of: file, limit: limits.length), limits: limits)
            printer = try PropertyListPrinter(document, options: options, limits: limits)
        } catch let error as PropertyListError {
            throw CommandError(
                status: .badData, message: "\(InputOpening.name(of: file)): \(error)", remedy: remedy(for: error))
        }
        var (json, shown) = (files.count > 1 ? start(of: file, isFirst: isFirst) : [], [UInt8]())
        var rewriter = PrintableJSON()
        var hasMore = true
        while hasMore {
            hasMore = printer.write(atLeast: Self.pieceLength, to: &json)
            if !hasMore, files.count > 1, compact {
                json.removeLast()
                json += "}\n".utf8
            }
            rewriter.rewrite(json.span, to: &shown)
            try StandardOutput.write(shown.span)
            json.removeAll(keepingCapacity: true)
            shown.removeAll(keepingCapacity: true)
        }
        try report(printer, of: file)
    }

    /// What stands in front of a file where there are several: a line as `head` and `tail` print it, or the beginning of an
    /// object.
    private func start(of file: String, isFirst: Bool) -> [UInt8] {
        let name = InputOpening.name(of: file)
        guard compact else { return Array("\(isFirst ? "" : "\n")==> \(name.printable) <==\n".utf8) }
        var start = Array("{\"$file\":".utf8)
        start.append(jsonString: name)
        return start + ",\"$value\":".utf8
    }

    private static let pieceLength = 256 << 10

    private var options: PropertyListPrinter.Options {
        var options = PropertyListPrinter.Options()
        options.isRaw = raw
        options.opensNested = nested
        options.isCompact = compact
        options.sortsKeys = sortKeys
        return options
    }

    private func contents(of file: String, limit: Int) throws -> [UInt8] {
        do throws(FileError) {
            return try file == "-" ? StandardInput.contents(limit: limit) : InputFile(path: file).contents(limit: limit)
        } catch {
            guard error.isTooLarge else { throw error }
            throw CommandError(
                status: .badData, message: "\(InputOpening.name(of: file)): too-large: more than \(limit >> 20) MiB",
                remedy: "give a higher --max-size")
        }
    }

    private func remedy(for error: PropertyListError) -> String? {
        switch error.code {
        case .empty: "the app created the file and never filled it; take an older copy"
        case .truncated, .badTrailer, .badOffset: "the file is cut short or overwritten; copy it from the device again"
        case .notPlist where error.isOldText:
            "turn it into XML first: plutil -convert xml1 on a Mac, or plistutil -f xml of libplist 2.3 or later"
        case .notPlist: "give a binary or XML property list; text and JSON need no inspecting"
        case .badArchiveVersion, .badArchiveStructure, .missingRoot: "--raw shows the file as it is"
        default: nil
        }
    }

    /// Reports on standard error what the output cannot show.
    private func report(_ printer: PropertyListPrinter, of file: String) throws {
        let name = InputOpening.name(of: file)
        for warning in printer.warnings.prefix(Self.reportLimit) where warning.isLoss || !quiet {
            StandardError.write("pingferry: \(name): \(warning.error)")
        }
        let unnamed = printer.warningCount - min(printer.warnings.count, Self.reportLimit)
        if unnamed > 0, !quiet || printer.isLossy { StandardError.write("pingferry: \(name): and \(unnamed) more") }
        if printer.isLossy { throw ExitCode(ExitStatus.incomplete.rawValue) }
    }

    private static let reportLimit = 20
}
