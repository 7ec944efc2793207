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

    private let path: String
    private let location: ArchiveLocation

    init(_ path: String, in capturePath: String, label: String) {
        self.path = path
        location = ArchiveLocation(label: label, path: path, in: capturePath)
    }

    var prefix: String { location.prefix }
    var rootName: String { location.rootName }

    /// Copies the wanted members to the spool.
    ///
    /// - Throws: ``ArchiveError`` if the spool is full. Any other error is returned as a problem.
    func open(
        in tree: FileTree, spool: Spool, formats: [StoreFormat], jobLimit: JobLimit
    ) async throws(ArchiveError) -> OpenedArchive {
        let source: ByteSource
        let kind: InputKind
        do throws(FileError) {
            source = try tree.source(at: path)
            kind = InputKind(head: try InputKind.head(of: source))
        } catch {
            return failure("unreadable", error.description, isLoss: true)
        }
        switch kind {
        case .archive: return try await read(source, spool, formats, jobLimit)
        case .bundle:
            return failure("bundle", "a bundle in the capture, not read; give it as an input of its own", isLoss: false)
        case .damagedZstd: return failure("damaged", "damaged: no archive can be read from it", isLoss: true)
        case .other: return OpenedArchive()
        }
    }

    private func read(
        _ source: ByteSource, _ spool: Spool, _ formats: [StoreFormat], _ jobLimit: JobLimit
    ) async throws(ArchiveError) -> OpenedArchive {
        do throws(ArchiveError) {
            let spooler = ArchiveSpooler(location, spool: spool, formats: formats, jobLimit: jobLimit)
            let result = try await spooler.spoolMembers(.source(source))
            return OpenedArchive(
                tree: result.tree, problems: result.problems, isIncomplete: !result.problems.isEmpty,
                rereader: ArchiveRereader(source: source, spooler: spooler))
        } catch {
            switch error.reason {
            case .file(let file) where file.operation == .spool: throw error
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
