import Bundle
import Capture
import Console
import Files
import Parallel

/// What a receipt tells of bundles that are verified one after the other: each is hashed on another thread meanwhile.
struct CheckedBundles {
    private let limit: JobLimit
    /// What tells the bundles apart.
    private let names: [String]
    private var reader: BundleReader?
    private var hash: Task<ContentHash, any Error>?
    /// The bundles so far.
    private(set) var entries: [Receipt.Entry] = []

    init(_ paths: [String], limit: JobLimit) {
        names = CaptureLabels.labels(ofPaths: paths)
        self.limit = limit
    }

    private var name: String { names[entries.count] }

    /// Begins with the next bundle.
    mutating func begin(_ reader: BundleReader) {
        self.reader = reader
        hash = limit.start { try reader.hashOfFile() }
    }

    /// Notes that the bundle is good.
    /// - Throws: `FileError`, or ``CommandError`` for a file that changed since it was opened.
    mutating func addGood(_ path: String) async throws {
        guard let reader, let hash else { return }
        let sha256 = try await hash.value
        guard try reader.isUnchanged() else {
            throw CommandError(
                status: .inputOutput, message: "\(path): changed while it was read", remedy: "verify it again")
        }
        add(sha256, .good)
    }

    /// Notes that the bundle is not good, or cannot be read, and why.
    mutating func addBad(_ path: String, _ failure: CommandError) async {
        var sha256: ContentHash?
        do {
            if let hash {
                sha256 = try await hash.value
            } else if path != "-" {
                sha256 = try RunningHash.value(of: ByteSource(InputFile(path: path)))
            }
            // What was hashed may not be what was found to be bad.
            if let reader, try !reader.isUnchanged() { sha256 = nil }
        } catch {
            // There is no file to tell of; why has been told.
            sha256 = nil
        }
        add(sha256, .bad(reason: failure.message, status: Int(failure.status.rawValue)))
    }

    private mutating func add(_ sha256: ContentHash?, _ outcome: Receipt.Outcome) {
        let name = name
        let files = sha256.map { [Receipt.File(name: name, sha256: $0)] } ?? []
        entries.append(Receipt.Entry(name: name, files: files, outcome: outcome, manifest: reader?.manifest))
        (reader, hash) = (nil, nil)
    }
}
