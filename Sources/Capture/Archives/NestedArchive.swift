import Files
import Telemetry

/// An archive inside a capture.
struct NestedArchive {
    struct OpenedArchive {
        var tree: SpooledTree?
        var problems: [LocatedProblem] = []
        var isIncomplete = false
        var rereader: ArchiveRereader?
    }

    let path: String
    private let location: ArchiveLocation

    init(_ path: String, in capturePath: String, label: String) {
        self.path = path
        location = ArchiveLocation(label: label, path: path, in: capturePath)
    }

    var prefix: String { location.prefix }
    var rootName: String { location.rootName }
    var isCellebriteReport: Bool { location.isCellebriteReport }

    /// Copies the wanted members to the spool.
    ///
    /// - Throws: `FileError` if the spool is full. Any other error is returned as a problem.
    func open(
        in tree: FileTree, spool: Spool, formats: [any StoreFormat]
    ) throws -> OpenedArchive {
        let source: ByteSource
        let kind: InputKind
        do throws(FileError) {
            source = try tree.source(at: path)
            kind = InputKind(head: try InputKind.head(of: source))
        } catch {
            return failure("unreadable", error.description, isLoss: true)
        }
        switch kind {
        case .archive: return try read(source, spool, formats)
        case .bundle, .repackedBundle:
            return failure("bundle", "a bundle in the capture, not read; give it as an input of its own", isLoss: false)
        case .damagedZstd: return failure("damaged", "damaged: no archive can be read from it", isLoss: true)
        case .other: return OpenedArchive()
        }
    }

    private func read(
        _ source: ByteSource, _ spool: Spool, _ formats: [any StoreFormat]
    ) throws -> OpenedArchive {
        do {
            let spooler = ArchiveSpooler(location, spool: spool, formats: formats)
            let result = try spooler.spoolMembers(.source(source))
            return OpenedArchive(
                tree: result.tree, problems: result.problems,
                isIncomplete: result.problems.contains(where: \.problem.isLoss),
                rereader: ArchiveRereader(source: source, spooler: spooler))
        } catch let error as FileError where error.operation != .spool {
            return failure("unreadable", "not read: \(error)", isLoss: true)
        } catch let error as ArchiveError {
            switch error.reason {
            case .damaged, .checksum, .unknownFormat:
                return failure("damaged", error.description, at: error.offset, isLoss: true)
            default: return failure("unreadable", "not read: \(error)", at: error.offset, isLoss: true)
            }
        }
    }

    private func failure(_ code: String, _ text: String, at offset: Int? = nil, isLoss: Bool) -> OpenedArchive {
        let problem = LocatedProblem(capture: location.label, path: path, problem: Problem(code, text, at: offset))
        return OpenedArchive(problems: [problem], isIncomplete: isLoss)
    }
}

// MARK: - ArchiveLocation

/// The location of an archive: the capture itself, or a file in it.
struct ArchiveLocation {
    let label: String
    /// The path that identifies the archive in messages.
    let shownPath: String
    /// The prefix of all member paths, such as `outer.zip!`, or an empty string if the archive is the capture itself.
    let prefix: String
    /// The name of the packed folder, which is the name of the archive without its suffix.
    let rootName: String

    /// Creates the location of an archive in the capture at `capturePath`, or of the capture itself if that is `nil`.
    init(label: String, path: String, in capturePath: String? = nil) {
        self.label = label
        shownPath = capturePath.map { "\($0)/\(path)" } ?? path
        prefix = capturePath == nil ? "" : path + "!"
        rootName = Self.rootName(of: path)
    }

    /// Returns the last component of `path` without the suffix of an archive.
    static func rootName(of path: String) -> String {
        let name = Path.lastName(of: path)
        return ArchiveFormat.removingSuffix(from: name.utf8) ?? name
    }

    var isNested: Bool { !prefix.isEmpty }
    /// Whether the archive has the name of the first part of a split archive.
    var isSplit: Bool { splitRemedy != nil }
    /// The way to join the parts of the archive, or `nil` if it does not have the name of a first part.
    var splitRemedy: String? {
        if shownPath.utf8.hasSuffixIgnoringCase(".z01") { return UnreadFormat.splitZipRemedy }
        if shownPath.hasSuffix(ArchiveFormat.splitSuffix) { return UnreadFormat.splitRemedy }
        let suffixes = [".000", ".00", "aa", ".part1", ".part01", ".part001"]
        return suffixes.contains(where: shownPath.utf8.hasSuffixIgnoringCase) ? UnreadFormat.partsRemedy : nil
    }

    /// Returns whether a file has the name of a later part of a split archive, such as `a.z02` or `a.zip.002`.
    static func isLaterPart(_ path: some BidirectionalCollection<UInt8>) -> Bool {
        let digits = path.reversed().prefix(while: \.isDigit).count
        let stem = path.dropLast(digits)
        return digits >= 2
            && (stem.hasSuffixIgnoringCase(".z")
                || stem.last == UInt8(ascii: ".") && ArchiveFormat.isArchive(named: stem.dropLast()))
    }

    /// Returns the possible names of the part that is reported if `part`, a later part, is in the same folder: `a.zip` for
    /// `a.z02`, and `a.zip.001` for `a.zip.002`.
    static func mainParts(besidePart part: [UInt8]) -> [[UInt8]] {
        let digits = part.reversed().prefix(while: \.isDigit).count
        let stem = Array(part.dropLast(digits))
        return [
            stem + "ip".utf8, stem + "IP".utf8,
            stem + [UInt8](repeating: UInt8(ascii: "0"), count: max(digits - 1, 0)) + "1".utf8,
        ]
    }

    /// Whether the archive has the name of a report of a Cellebrite program.
    var isCellebriteReport: Bool { shownPath.utf8.hasSuffixIgnoringCase(".ufdr") }
}

/// A second reading of an archive, in which the files of its backups are copied to the spool.
///
/// The first reading copies the manifests, which identify these files.
struct ArchiveRereader {
    let source: ByteSource
    /// The initial state of the spooler, before the archive was first read.
    let spooler: ArchiveSpooler

    func members(at paths: Set<[UInt8]>) throws -> ArchiveSpooler.Result {
        try spooler.spoolMembers(.source(source), only: paths)
    }
}
