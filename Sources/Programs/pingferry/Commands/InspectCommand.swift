import ArgumentParser
import Bytes
import Capture
import Console
import Files
import JSONText
import PropertyList
import Systems
import Telemetry

/// The command `inspect`, which shows a property list or keyed archive as JSON.
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show any property list or keyed archive as JSON.",
        discussion: """
            Reads binary and XML property lists of any app, but not the old text format \
            of OpenStep and .strings files. Objects in an NSKeyedArchiver archive are \
            shown as the values that they represent: collections, strings, numbers, \
            dates (RFC 3339), UUIDs, URLs. Instances of other classes are shown with \
            their members and $class.
              pingferry inspect Library/Preferences/com.example.shop.plist
              pingferry inspect queues/sift-default | jq '.queue[].time'
              ssh mac defaults export com.example.shop - | pingferry inspect -

            A real has a decimal point or an exponent, which distinguishes it from an integer:
            1.0 is a real, and 1 an integer.

            Several files are printed one after another, each below a line with its \
            name. With --compact each file is a line of JSON: \
            {"$file": "a.plist", "$value": ...}.

            Values that JSON cannot represent are shown as objects:
              {"$data": "AQID"}    bytes in base64; "$holds" indicates that they are
                                   a property list, which --nested opens
              {"$value": ...}      an opened property list from data
              {"$ref": 12}         an object that contains this value, is nested too
                                   deep, or is shared too often to be shown again:
                                   number 12 in --raw's $objects
              {"$class": "A", ...} an instance with its members
              {"$entries": [[k, v]]}  a dictionary whose keys are not all strings
              {"$real": "nan"}     a number that JSON cannot represent
              {"$masked": true}    a credential of a known system; --raw shows it
              {"$error": "..."}    an invalid value; the others are shown, and the
                                   exit status is 1
              "$omitted": ...      the rest of a file that would become many times
                                   larger, because it repeats keys or values; the
                                   exit status is 1
              {"CF$UID": 12}       a reference of an archive, with --raw

            Keys keep the order of the file. If a key is repeated, its first value is \
            shown, the repetition is reported, and the exit status is 1.

            In a keyed archive of a known system, the values of keys that are known to \
            contain credentials are masked, unless --raw is specified. Nothing else is \
            masked: the output can contain other secrets that the app stored.
            """)

    @Argument(help: ArgumentHelp("Property lists; - is standard input.", valueName: "file"), completion: .file())
    var files: [String]

    @Flag(help: "Show an archive as a plain property list, with its table of objects.")
    var raw = false

    @Flag(help: "Open property lists and archives that are stored as data in this one.")
    var nested = false

    @Flag(help: "Write everything on one line.")
    var compact = false

    @Flag(help: "Sort the keys of each object, so that files can be compared.")
    var sortKeys = false

    @Option(help: ArgumentHelp("The maximum size of a file, in MiB.", valueName: "mib"))
    var maxSize = 512

    @Flag(name: .shortAndLong, help: "Print only errors.")
    var quiet = false

    func validate() throws {
        try InputOptions.checkStandardInput(in: files)
        guard (1...4095).contains(maxSize) else { throw ValidationError("--max-size requires a number from 1 to 4095") }
    }

    func run() async throws { try await reportingErrors(for: files, printsJSON: false, inspect) }

    private func inspect(_ file: String, isFirst: Bool) throws {
        var limits = PropertyListLimits(length: maxSize << 20)
        limits.keepsInvalidValues = true
        var printer: PropertyListPrinter
        do {
            let document = try PropertyListDocument(try contents(of: file, limit: limits.length), limits: limits)
            printer = try PropertyListPrinter(document, options: options(for: document), limits: limits)
        } catch let error as PropertyListError {
            throw CommandError(
                status: .badData, path: InputOpener.name(of: file), message: "\(error)", remedy: remedy(for: error))
        }
        var json = files.count > 1 ? objectStart(of: file, isFirst: isFirst) : []
        var rewriter = PrintableJSON()
        var hasMore = true
        while hasMore {
            hasMore = printer.write(atLeast: Self.outputChunkSize, to: &json)
            if !hasMore, files.count > 1, compact {
                json.removeLast()
                json += "}\n".utf8
            }
            let shown = rewriter.output(for: json.span)
            try StandardOutput.write(shown.span)
            json.removeAll(keepingCapacity: true)
        }
        try report(printer, of: file)
    }

    /// Returns the text before the contents of a file: a heading, or the start of a compact JSON object.
    private func objectStart(of file: String, isFirst: Bool) -> [UInt8] {
        let name = InputOpener.name(of: file)
        guard compact else { return Array("\(isFirst ? "" : "\n")==> \(name.printable) <==\n".utf8) }
        var start = Array("{\"$file\":".utf8)
        start.append(jsonString: name)
        return start + ",\"$value\":".utf8
    }

    private static let outputChunkSize = 256 << 10

    private func options(for document: PropertyListDocument) -> PropertyListPrinter.Options {
        var options = PropertyListPrinter.Options()
        options.isRaw = raw
        options.opensNestedLists = nested
        options.isCompact = compact
        options.sortsKeys = sortKeys
        if !raw { options.maskedKeys = Systems.table.secretKeys(in: document) }
        return options
    }

    private func contents(of file: String, limit: Int) throws -> [UInt8] {
        do throws(FileError) {
            return try file == "-" ? StandardInput.contents(limit: limit) : InputFile(path: file).contents(limit: limit)
        } catch {
            guard error.isTooLarge else { throw error }
            throw CommandError(
                status: .badData, path: InputOpener.name(of: file), message: "too-large: more than \(limit >> 20) MiB",
                remedy: "increase --max-size")
        }
    }

    private func remedy(for error: PropertyListError) -> String? {
        switch error.code {
        case .empty: "the app created the file without writing to it; use an older copy"
        case .truncated, .badTrailer, .badOffset: "the file is truncated or overwritten; copy it from the device again"
        case .notPlist where error.isOpenStepText:
            "convert it to XML first: plutil -convert xml1 on a Mac, or plistutil -f xml of libplist 2.3 or later"
        case .notPlist: "pass a binary or XML property list"
        case .badArchiveVersion, .badArchiveStructure, .missingRoot: "--raw shows the file as it is"
        default: nil
        }
    }

    /// Reports warnings and masked values on standard error, and throws an exit status if a value could not be shown.
    private func report(_ printer: PropertyListPrinter, of file: String) throws {
        let name = InputOpener.name(of: file)
        for warning in printer.warnings.prefix(Self.maximumReportedWarnings) where warning.isLoss || !quiet {
            StandardError.write("pingferry: \(name): \(warning.error)")
        }
        let unnamed = printer.warningCount - min(printer.warnings.count, Self.maximumReportedWarnings)
        if unnamed > 0, !quiet || printer.isLossy { StandardError.write("pingferry: \(name): and \(unnamed) more") }
        if printer.maskedCount > 0, !quiet {
            StandardError.write("pingferry: \(name): \(printer.maskedCount.counted("value")) masked")
            StandardError.write("hint: --raw shows masked values")
        }
        if printer.isLossy { throw ExitCode(ExitStatus.incomplete.rawValue) }
    }

    private static let maximumReportedWarnings = 20
}

extension SystemTable {
    /// Returns the keys, as UTF-8, whose values in `document` are secrets.
    ///
    /// The set is empty unless `document` is a keyed archive that has a class for which a system declares secret keys.
    fileprivate func secretKeys(in document: PropertyListDocument) -> Set<[UInt8]> {
        guard let archive = try? KeyedArchive(document) else { return [] }
        let formats = all.flatMap(\.stores).filter {
            !$0.secretClassNames.isEmpty && archive.hasClass(named: $0.secretClassNames)
        }
        return Set(formats.flatMap(\.secretKeys).map { Array($0.utf8) })
    }
}
