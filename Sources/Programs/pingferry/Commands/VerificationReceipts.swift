import Bundle
import Capture
import Console
import Files
import Hashing

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

    /// Starts hashing the files of `reader`, which becomes the current bundle.
    mutating func start(_ reader: BundleReader) {
        self.reader = reader
        hashTask = jobLimit.start { try reader.fileHashes() }
    }

    /// Adds an entry for the current bundle, which is valid.
    mutating func recordSuccess(_ path: String) async throws {
        guard let reader, let hashTask else { return }
        let found = try await hashTask.value
        guard try reader.isUnchanged() else { throw CommandError(changedBundle: path) }
        add(found, .valid)
    }

    /// Adds an entry for the current bundle, which is damaged or cannot be read.
    mutating func recordFailure(_ path: String, _ failure: CommandError) async {
        var found: [ContentHash] = []
        do {
            if let hashTask {
                found = try await hashTask.value
            } else if path != "-", BundleFile.volumeName(atPath: path) == nil {
                // A volume of an unusable bundle is not hashed, because its hash would suggest that this volume is at
                // fault. The reason names the faulty volumes.
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

/// A comparison of bundles with a receipt that describes them.
struct ReceiptComparison {
    let path: String
    private let receipt: ExpectedReceipt

    init(path: String) throws {
        let bytes = try InputFile(path: path).contents(limit: ExpectedReceipt.maxSize)
        do throws(ReceiptParsingError) {
            receipt = try ExpectedReceipt(bytes)
        } catch {
            throw CommandError(status: .badData, path: path, message: "\(error)", remedy: error.remedy)
        }
        self.path = path
    }

    /// Throws an error unless the receipt lists `bundle` with the digest and the file hashes of `reader`.
    func check(_ reader: BundleReader, _ bundle: String) throws {
        let paths: [String?] = reader.volumes?.names.map(\.path) ?? [bundle == "-" ? nil : bundle]
        let names = paths.map { path in path.map { Path.lastName(of: $0) } }
        let files = zip(names, try reader.fileHashes()).map { (name: $0, sha256: $1) }
        let name = InputOpener.name(of: bundle)
        guard try reader.isUnchanged() else { throw CommandError(changedBundle: name) }
        guard let mismatch = receipt.mismatch(of: files, digest: reader.manifest.digest) else { return }
        let remedy =
            switch mismatch {
            case .notListed: "pass the receipt that was written for this bundle; bundles are found in it by their names"
            case .bad: "do not use this bundle; whoever wrote the receipt found that it is not valid"
            case .digest: "do not use this bundle; it is not the one that the receipt describes"
            case .file: "compare the file with the original; it has the same contents, but was packed again or altered"
            }
        throw CommandError(status: .badData, message: "\(name): \(mismatch) (\(path))", remedy: remedy)
    }
}
