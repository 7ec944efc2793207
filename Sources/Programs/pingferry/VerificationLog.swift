import Bundle
import Capture
import Console
import Files
import Hashing
import Parallel

/// A log of the bundles that `verify` has checked, for a receipt.
///
/// Each bundle is hashed on another thread while it is verified.
struct VerificationLog {
    private let jobLimit: JobLimit
    /// The unique names of the bundles in the receipt.
    private let receiptNames: [String]
    private var reader: BundleReader?
    private var hashTask: Task<[ContentHash], any Error>?
    private(set) var entries: [Receipt.Entry] = []

    init(_ paths: [String], limit: JobLimit) {
        receiptNames = PathLabels.labels(ofPaths: paths)
        jobLimit = limit
    }

    private var currentName: String { receiptNames[entries.count] }

    /// Starts hashing the next bundle.
    mutating func start(_ reader: BundleReader) {
        self.reader = reader
        hashTask = jobLimit.start { try reader.fileHashes() }
    }

    /// Records that the current bundle is good.
    mutating func recordSuccess(_ path: String) async throws {
        guard let reader, let hashTask else { return }
        let found = try await hashTask.value
        guard try reader.isUnchanged() else { throw CommandError(changedBundle: path) }
        add(found, .valid)
    }

    /// Records that the current bundle is damaged or cannot be read.
    mutating func recordFailure(_ path: String, _ failure: CommandError) async {
        var found: [ContentHash] = []
        do {
            if let hashTask {
                found = try await hashTask.value
            } else if path != "-", BundleFile.volumeName(atPath: path) == nil {
                // If volumes do not form a bundle, the reason names the faulty ones. A hash of the given volume would
                // suggest that this volume is at fault.
                found = [try RunningHash.hash(of: ByteSource(InputFile(path: path)))]
            }
            // If the file has changed, the hash may not be that of the verified bytes.
            if let reader, try !reader.isUnchanged() { found = [] }
        } catch {
            // A file that cannot be read is recorded without a hash. The reason has been reported.
            found = []
        }
        add(found, .invalid(reason: failure.message, status: Int(failure.status.rawValue)))
    }

    private mutating func add(_ hashes: [ContentHash], _ outcome: Receipt.Outcome) {
        let names = reader?.fileNames(for: currentName) ?? [currentName]
        let files = zip(names, hashes).map { Receipt.File(name: $0, sha256: $1) }
        entries.append(
            Receipt.Entry(
                name: currentName, files: files, outcome: outcome, manifest: reader?.manifest, signer: reader?.signer))
        (reader, hashTask) = (nil, nil)
    }
}
