import Bytes
import Files
import Hashing
import JSONText

/// A receipt that states which bundles are expected, for comparison with bundles that arrived.
///
/// Source: "Receipts".
public struct ExpectedReceipt: Sendable {
    /// The maximum size of a receipt in bytes.
    public static let maxSize = 64 << 20

    /// A bundle that the receipt lists.
    private struct Bundle {
        let files: [Receipt.File]
        let digest: String?
        /// Whether the receipt states that the bundle is not valid.
        let isBad: Bool

        /// The last path components of the names of the files.
        var names: [String] { files.map { Path.name(of: $0.name) } }
    }

    /// A difference between a bundle and the receipt.
    public enum Mismatch: Sendable, Equatable, CustomStringConvertible {
        /// The receipt does not list a bundle with these file names.
        case notListed
        /// The receipt states that the bundle is not valid.
        case bad
        /// The given digest of the bundle differs from the digest that the receipt lists.
        case digest(String, expected: String)
        /// The digest does not differ, but the hash of the given file differs from the hash that the receipt lists.
        case file(Receipt.File, expected: ContentHash)

        /// A description in one line without a full stop.
        public var description: String {
            switch self {
            case .notListed: "the receipt does not list it"
            case .bad: "the receipt states that it is bad"
            case .digest(let found, let expected): "its digest is \(found), but the receipt lists \(expected)"
            case .file(let file, let expected):
                "the SHA-256 of \(file.name) is \(file.sha256.hex), but the receipt lists \(expected.hex)"
            }
        }
    }

    private let bundles: [Bundle]

    /// Parses a receipt.
    public init(_ bytes: [UInt8]) throws(ReceiptParsingError) {
        guard let statement = try? JSONFields(bytes), let type = statement.text("predicateType"),
            type.hasPrefix(Receipt.predicateTypePrefix)
        else { throw .notAReceipt }
        guard type == Receipt.predicateType else {
            // Any string can follow the prefix, so only its start is reported.
            throw .unsupportedVersion(String(type.dropFirst(Receipt.predicateTypePrefix.count).prefix(20)))
        }
        guard statement.text("_type") == Statement.type,
            let bundles = statement.object("predicate")?.objects("bundles"),
            let subjects = statement.objects("subject")
        else { throw .notAReceipt }
        var hashes: [CapturedText: ContentHash] = [:]
        for subject in subjects {
            guard let name = subject.text("name"),
                let hash = subject.object("digest")?.text("sha256").flatMap(ContentHash.init(hex:)),
                hashes.updateValue(hash, forKey: CapturedText(name)) == nil
            else { throw .notAReceipt }
        }
        self.bundles = try bundles.map { (bundle) throws(ReceiptParsingError) in
            guard let names = bundle.texts("files") else { throw .notAReceipt }
            let files = try names.map { (name) throws(ReceiptParsingError) in
                guard let hash = hashes[name] else { throw .notAReceipt }
                return Receipt.File(name: name, sha256: hash)
            }
            return Bundle(
                files: files, digest: bundle.text("digest"), isBad: bundle.text("result") == Receipt.badResult)
        }
    }

    /// Returns the first difference between a bundle and the receipt, or `nil` if the receipt lists the bundle.
    ///
    /// `files` contains the file name and the hash of the bundle, or of each of its volumes in order. A name is `nil`
    /// for the standard input. In this case, the receipt must list only one bundle.
    public func mismatch(of files: [(name: String?, sha256: ContentHash)], digest: String) -> Mismatch? {
        let names = files.compactMap(\.name)
        let isNamed = names.count == files.count
        let candidates = bundles.filter { bundle in
            bundle.files.count == files.count
                && (isNamed ? zip(bundle.names, names).allSatisfy { $0 == $1 } : bundles.count == 1)
        }
        var first: Mismatch?
        for bundle in candidates {
            guard let mismatch = Self.mismatch(of: files.map(\.sha256), digest, with: bundle) else { return nil }
            first = first ?? mismatch
        }
        return first ?? .notListed
    }

    private static func mismatch(of hashes: [ContentHash], _ digest: String, with bundle: Bundle) -> Mismatch? {
        if bundle.isBad { return .bad }
        if let expected = bundle.digest, expected != digest { return .digest(digest, expected: expected) }
        for (file, hash) in zip(bundle.files, hashes) where file.sha256 != hash {
            return .file(Receipt.File(name: file.name, sha256: hash), expected: file.sha256)
        }
        return nil
    }
}

/// The reason why a file cannot be used as a receipt.
public enum ReceiptParsingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file is not a receipt of bundles that were created or verified.
    case notAReceipt
    /// The version of the format, such as `v2`, is not supported.
    case unsupportedVersion(String)

    /// A description in one line without a full stop.
    public var description: String {
        switch self {
        case .notAReceipt: "not a receipt that was written with --receipt"
        case .unsupportedVersion(let version): "receipt format version \(version) is not supported"
        }
    }

    /// A hint on how to resolve the error.
    public var remedy: String {
        switch self {
        case .notAReceipt: "pass a file that bundle --receipt or verify --receipt wrote"
        case .unsupportedVersion: FormatVersion.remedy
        }
    }
}
