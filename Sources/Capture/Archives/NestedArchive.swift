import Files
import Parallel
import Telemetry

/// An archive that lies in a capture.
struct NestedArchive {
    struct Opened {
        /// Its members; nil if it cannot be read, or has only the name of an archive.
        var tree: SpooledTree?
        var problems: [PlacedProblem] = []
        var isIncomplete = false
        var rereading: ArchiveRereading?
    }

    private let path: String
    private let place: ArchivePlace

    init(_ path: String, in capturePath: String, label: String) {
        self.path = path
        place = ArchivePlace(label: label, path: path, in: capturePath)
    }

    /// The beginning of the paths of its members.
    var prefix: String { place.prefix }
    /// The name of the folder that was packed, as far as its own name tells it.
    var rootName: String { place.rootName }

    /// Spools the wanted members. Throws an error if the spool cannot take more. Any other error becomes a problem.
    func open(
        in tree: FileTree, spool: Spool, formats: [StoreFormat], jobs: JobLimit
    ) async throws(ArchiveError) -> Opened {
        let source: ByteSource
        let kind: InputKind
        do throws(FileError) {
            source = try tree.source(path)
            kind = InputKind(head: try InputKind.head(of: source))
        } catch {
            return told("unreadable", error.description, isLoss: true)
        }
        switch kind {
        case .archive: return try await read(source, spool, formats, jobs)
        case .bundle:
            return told("bundle", "a bundle in the capture, not read; give it as an input of its own", isLoss: false)
        case .damagedZstd: return told("damaged", "damaged: no archive can be read from it", isLoss: true)
        case .other: return Opened()
        }
    }

    private func read(
        _ source: ByteSource, _ spool: Spool, _ formats: [StoreFormat], _ jobs: JobLimit
    ) async throws(ArchiveError) -> Opened {
        do throws(ArchiveError) {
            let spooler = ArchiveSpooler(place, spool: spool, formats: formats, jobs: jobs)
            let result = try await spooler.run(.source(source))
            return Opened(
                tree: result.tree, problems: result.problems, isIncomplete: !result.problems.isEmpty,
                rereading: ArchiveRereading(source: source, spooler: spooler))
        } catch {
            switch error.reason {
            case .file(let file) where file.operation == .spool: throw error
            case .damaged, .checksum, .unknownFormat:
                return told("damaged", error.description, at: error.offset, isLoss: true)
            default: return told("unreadable", "not read: \(error)", at: error.offset, isLoss: true)
            }
        }
    }

    private func told(_ code: String, _ text: String, at offset: Int? = nil, isLoss: Bool) -> Opened {
        let problem = PlacedProblem(capture: place.label, path: path, problem: Problem(code, text, at: offset))
        return Opened(problems: [problem], isIncomplete: isLoss)
    }
}
