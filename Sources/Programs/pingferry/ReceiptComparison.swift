import Bundle
import Capture
import Console
import Files
import Hashing

/// A comparison of bundles with a receipt that was written about them.
struct ReceiptComparison {
    /// The path of the receipt.
    let path: String
    private let receipt: GivenReceipt

    /// Reads the receipt.
    /// - Throws: ``CommandError`` for a file that is no receipt, `FileError`.
    init(path: String) throws {
        let bytes = try InputFile(path: path).contents(limit: GivenReceipt.longest)
        do throws(GivenReceiptError) {
            receipt = try GivenReceipt(bytes)
        } catch {
            throw CommandError(
                status: .badData, message: "\(path): \(error)",
                remedy: "give the file that bundle --receipt or verify --receipt wrote")
        }
        self.path = path
    }

    /// Checks that the receipt names a bundle, with its digest and the hashes of its files.
    /// - Throws: ``CommandError``.
    func check(_ reader: BundleReader, _ bundle: String) throws {
        let paths: [String?] = reader.volumes?.names.map(\.path) ?? [bundle == "-" ? nil : bundle]
        let names = paths.map { path in path.map { Path.lastName(of: $0) } }
        let files = zip(names, try reader.hashesOfFiles()).map { (name: $0, sha256: $1) }
        let name = InputOpening.name(of: bundle)
        guard try reader.isUnchanged() else { throw CommandError(changed: name) }
        guard let mismatch = receipt.mismatch(of: files, digest: reader.manifest.digest) else { return }
        let remedy =
            switch mismatch {
            case .notNamed: "give the receipt that was written about it; bundles are found there by their names"
            case .digest: "it is another bundle than the one that the receipt is about: do not use it"
            case .file: "it has the same contents, but was packed or altered elsewhere: compare with the original"
            }
        throw CommandError(status: .badData, message: "\(name): \(mismatch) (\(path))", remedy: remedy)
    }
}
