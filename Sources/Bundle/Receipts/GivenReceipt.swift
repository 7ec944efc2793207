import Files
import Hashing
import JSONText

/// A receipt that bundles are compared with.
///
/// Source: "Receipts".
public struct GivenReceipt: Sendable {
    /// The maximum size of a receipt in bytes.
    public static let longest = 64 << 20

    /// A bundle that the receipt names.
    private struct Bundle {
        let files: [Receipt.File]
        let digest: String?

        /// The last parts of the names of its files. Names of several bundles may have folders in front.
        var names: [String] { files.map { Path.name(of: $0.name) } }
    }

    /// A difference between a bundle and the receipt.
    public enum Mismatch: Sendable, Equatable, CustomStringConvertible {
        /// The receipt names no bundle that consists of files of these names.
        case notNamed
        /// The digest is another one.
        case digest(String, expected: String)
        /// The digest is that of the receipt, but the bytes of a file are others.
        case file(Receipt.File, expected: ContentHash)

        /// One line without a full stop.
        public var description: String {
            switch self {
            case .notNamed: "the receipt does not name it"
            case .digest(let found, let expected): "its digest is \(found), the receipt has \(expected)"
            case .file(let file, let expected):
                "the SHA-256 of \(file.name) is \(file.sha256.hex), the receipt has \(expected.hex)"
            }
        }
    }

    private let bundles: [Bundle]

    /// Reads a receipt.
    /// - Throws: ``GivenReceiptError`` if the bytes are no statement of a receipt.
    public init(_ bytes: [UInt8]) throws(GivenReceiptError) {
        guard let statement = try? JSONFields(bytes), statement.text("_type") == Receipt.statementType,
            statement.text("predicateType") == Receipt.predicateType,
            let bundles = statement.object("predicate")?.objects("bundles"),
            let subjects = statement.objects("subject")
        else { throw GivenReceiptError() }
        var hashes: [String: ContentHash] = [:]
        for subject in subjects {
            guard let name = subject.text("name"),
                let hash = subject.object("digest")?.text("sha256").flatMap(ContentHash.init(hex:)),
                hashes.updateValue(hash, forKey: name) == nil
            else { throw GivenReceiptError() }
        }
        self.bundles = try bundles.map { (bundle) throws(GivenReceiptError) in
            guard let names = bundle.texts("files") else { throw GivenReceiptError() }
            let files = try names.map { (name) throws(GivenReceiptError) in
                guard let hash = hashes[name] else { throw GivenReceiptError() }
                return Receipt.File(name: name, sha256: hash)
            }
            return Bundle(files: files, digest: bundle.text("digest"))
        }
    }

    /// Compares a bundle with those of its name.
    /// - Parameters:
    ///   - files: its file, or its volumes in their order, with the last parts of their paths as names. A name of nil is that
    ///     of the standard input, which can be compared if the receipt names one bundle.
    ///   - digest: the digest of its manifest.
    /// - Returns: the difference; nil if one of the bundles that the receipt names is this one.
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
        return first ?? .notNamed
    }

    private static func mismatch(of hashes: [ContentHash], _ digest: String, with bundle: Bundle) -> Mismatch? {
        if let expected = bundle.digest, expected != digest { return .digest(digest, expected: expected) }
        for (file, hash) in zip(bundle.files, hashes) where file.sha256 != hash {
            return .file(Receipt.File(name: file.name, sha256: hash), expected: file.sha256)
        }
        return nil
    }
}

/// Bytes that are no receipt.
public struct GivenReceiptError: Error, Sendable, CustomStringConvertible {
    /// One line without a full stop.
    public var description: String { "not a receipt that --receipt wrote" }
}
