import Bundle
import Capture
import Console
import Files
import Hashing
import Parallel

/// What a receipt tells of bundles that are verified one after the other: each is hashed on another thread meanwhile.
struct VerificationLog {
    private let limit: JobLimit
    /// What tells the bundles apart.
    private let names: [String]
    private var reader: BundleReader?
    private var hashes: Task<[ContentHash], any Error>?
    private(set) var entries: [Receipt.Entry] = []

    init(_ paths: [String], limit: JobLimit) {
        names = CaptureLabels.labels(ofPaths: paths)
        self.limit = limit
    }

    private var name: String { names[entries.count] }

    /// Begins with the next bundle.
    mutating func start(_ reader: BundleReader) {
        self.reader = reader
        hashes = limit.start { try reader.hashesOfFiles() }
    }

    /// Notes that the bundle is good.
    /// - Throws: `FileError`, or ``CommandError`` for a file that changed since it was opened.
    mutating func recordSuccess(_ path: String) async throws {
        guard let reader, let hashes else { return }
        let found = try await hashes.value
        guard try reader.isUnchanged() else { throw CommandError(changed: path) }
        add(found, .good)
    }

    /// Notes that the bundle is not good, or cannot be read, and why.
    mutating func recordFailure(_ path: String, _ failure: CommandError) async {
        var found: [ContentHash] = []
        do {
            if let hashes {
                found = try await hashes.value
            } else if path != "-", BundleFile.volume(at: path) == nil {
                // Of volumes that make no bundle, the reason names those that are wrong; a hash of one would blame that.
                found = [try RunningHash.value(of: ByteSource(InputFile(path: path)))]
            }
            // What was hashed may not be what was found to be bad.
            if let reader, try !reader.isUnchanged() { found = [] }
        } catch {
            // There is no file to tell of; why has been told.
            found = []
        }
        add(found, .bad(reason: failure.message, status: Int(failure.status.rawValue)))
    }

    private mutating func add(_ hashes: [ContentHash], _ outcome: Receipt.Outcome) {
        // What tells bundles of one name apart is in front of the names of their volumes too.
        let folder = Path.parent(of: name).map { "\($0)/" } ?? ""
        let volumes = reader?.volumes?.names.map { folder + $0.name } ?? []
        let files = zip(volumes.count > 1 ? volumes : [name], hashes).map { Receipt.File(name: $0, sha256: $1) }
        entries.append(
            Receipt.Entry(
                name: name, files: files, outcome: outcome, manifest: reader?.manifest, signer: reader?.signer))
        (reader, self.hashes) = (nil, nil)
    }
}
