import Hashing
import JSONText

/// An input that a bundle was made of, as its manifest names it.
///
/// Source: "Bundle", "Inputs".
public struct GivenInput: Sendable, Equatable {
    /// What an input was.
    public enum Kind: String, Sendable, CaseIterable {
        /// A folder that was pulled from a device.
        case folder
        /// An archive of such a folder or of a backup.
        case archive
        /// A backup of a phone.
        case backup
        /// A request log.
        case log
        /// A single file of a store.
        case store
        /// A bundle.
        case bundle
    }

    /// What it was.
    public let kind: Kind
    /// What the records name it; nil where the records have pseudonyms.
    public let label: String?
    /// SHA-256 of its bytes where it was one file; nil where it was none, where it changed while it was read, and where the
    /// records have pseudonyms.
    public let sha256: ContentHash?
    /// The digest of a bundle.
    public let digest: ContentHash?
    /// What a bundle was made of; nil where it does not say so.
    public let inputs: GivenInputs?

    /// The same input with another account of what it was made of.
    func replacingInputs(with inputs: GivenInputs?) -> GivenInput {
        GivenInput(kind: kind, label: label, sha256: sha256, digest: digest, inputs: inputs)
    }

    /// The same input without what tells whose it is.
    public var anonymized: GivenInput { GivenInput(kind: kind) }

    /// Whether nothing tells whose it is.
    var isAnonymous: Bool { self == anonymized }

    /// Whether all is there that the manifest of a bundle without pseudonyms tells.
    var isIdentified: Bool { label != nil && (kind == .bundle) == (digest != nil) }

    /// The input as canonical JSON.
    public var json: CanonicalObject {
        var object = CanonicalObject()
        if let digest { object.set("digest", string: digest.hex) }
        if let inputs { inputs.add(to: &object) }
        object.set("kind", string: kind.rawValue)
        if let label { object.set("label", string: label) }
        if let sha256 { object.set("sha256", string: sha256.hex) }
        return object
    }
}

extension GivenInput {
    /// Names an input that is no bundle. It has no label if the records have pseudonyms.
    public init(kind: Kind, label: String? = nil, sha256: ContentHash? = nil) {
        self.init(kind: kind, label: label, sha256: sha256, digest: nil, inputs: nil)
    }

    /// Names a bundle by its manifest.
    public init(bundle manifest: Manifest, label: String) {
        let digest = ContentHash(hex: manifest.digest)
        self.init(kind: .bundle, label: label, sha256: nil, digest: digest, inputs: manifest.inputs)
    }
}

// MARK: - Reading

extension GivenInput {
    /// Whether inputs of a kind are one file, whose hash is told.
    private static func isOneFile(_ kind: Kind) -> Bool {
        switch kind {
        case .archive, .log, .store: true
        case .folder, .backup, .bundle: false
        }
    }

    /// Reads an entry of a manifest.
    /// - Parameters:
    ///   - level: how deep it stands, from 1.
    ///   - budget: what may still be listed.
    /// - Throws: ``BundleError`` for an entry that has not the form.
    init(_ fields: JSONFields, level: Int, budget: inout InputBudget) throws(BundleError) {
        guard let kind = fields.text("kind").flatMap(Kind.init) else {
            throw BundleError.badManifest("an input of a kind that is not known")
        }
        let inputs = try GivenInputs(fields, level: level + 1, budget: &budget)
        self.init(
            kind: kind, label: fields.text("label"), sha256: fields.text("sha256").flatMap(ContentHash.init(hex:)),
            digest: fields.text("digest").flatMap(ContentHash.init(hex:)), inputs: inputs)
        // What is of another type than it should be, or too much, is found by the form of the whole, which has to be canonical.
        guard kind == .bundle || digest == nil && inputs == nil, Self.isOneFile(kind) || sha256 == nil else {
            throw BundleError.badManifest("an input of the kind \(kind) with a hash or inputs that it cannot have")
        }
        guard isIdentified || isAnonymous else {
            throw BundleError.badManifest("an input without a label, or a bundle without its digest")
        }
    }
}
