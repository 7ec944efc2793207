import Bundle
import Capture
import Console
import Files
import Hashing

/// A comparison of bundles with a receipt that describes them.
struct ReceiptComparison {
    let path: String
    private let receipt: ExpectedReceipt

    init(path: String) throws {
        let bytes = try InputFile(path: path).contents(limit: ExpectedReceipt.maxSize)
        do throws(ReceiptParsingError) {
            receipt = try ExpectedReceipt(bytes)
        } catch {
            throw CommandError(status: .badData, message: "\(path): \(error)", remedy: error.remedy)
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
