import Hashing
import JSONText

/// An input of a bundle, as the manifest of the bundle describes it.
///
/// Source: "Bundle", "Inputs".
public struct BundleInput: Sendable, Equatable {
    /// The kind of an input.
    public enum Kind: String, Sendable, CaseIterable {
        /// A folder that was copied from a device.
        case folder
        /// An archive of a folder that was copied from a device, or of a backup.
        case archive
        /// A backup of a phone.
        case backup
        /// A request log.
        case log
        /// A single file of a telemetry store.
        case store
        /// A bundle.
        case bundle
    }

    /// The kind of the input.
    public let kind: Kind
    /// The label of the input in records, or `nil` if the records have pseudonyms.
    public let label: String?
    /// The SHA-256 hash of the input.
    ///
    /// It is `nil` if the input is not a single file, if the file changed while it was read, or if the records have
    /// pseudonyms.
    public let sha256: ContentHash?
    /// The digest of the input, or `nil` if the input is not a bundle or the records have pseudonyms.
    public let digest: ContentHash?
    /// The filters of the command that made the input, or `nil` if the input is not a bundle that was made with filters.
    public let filters: BundleFilters?
    /// The inputs from which the input was created, or `nil` if the input is not a bundle that lists its inputs.
    public let inputs: BundleInputs?

    /// Returns a copy of the input with another list of nested inputs.
    func replacingInputs(with inputs: BundleInputs?) -> BundleInput {
        BundleInput(kind: kind, label: label, sha256: sha256, digest: digest, filters: filters, inputs: inputs)
    }

    /// A copy of the input with only its kind and its filters, which contain no client ids.
    public var anonymized: BundleInput {
        BundleInput(
            kind: kind, label: nil, sha256: nil, digest: nil, filters: filters?.withoutClientIDs, inputs: nil)
    }

    /// Whether the input has no label, no hashes, no client ids and no nested inputs.
    var isAnonymous: Bool { self == anonymized }

    /// Whether the input has the label and the digest that bundles without pseudonyms require.
    var isIdentified: Bool { label != nil && (kind == .bundle) == (digest != nil) }

    /// The input as canonical JSON.
    public var json: CanonicalObject {
        var object = CanonicalObject()
        if let digest { object.set("digest", string: digest.hex) }
        if let filters { object.set("filters", object: filters.json) }
        if let inputs { inputs.add(to: &object) }
        object.set("kind", string: kind.rawValue)
        if let label { object.set("label", string: label) }
        if let sha256 { object.set("sha256", string: sha256.hex) }
        return object
    }
}

extension BundleInput {
    /// Creates an input without a digest and without nested inputs.
    public init(kind: Kind, label: String? = nil, sha256: ContentHash? = nil) {
        self.init(kind: kind, label: label, sha256: sha256, digest: nil, filters: nil, inputs: nil)
    }

    /// Creates an input that is a bundle with the given manifest.
    public init(bundle manifest: Manifest, label: String) {
        let digest = ContentHash(hex: manifest.digest)
        self.init(
            kind: .bundle, label: label, sha256: nil, digest: digest, filters: manifest.filters,
            inputs: manifest.inputs)
    }
}

// MARK: - Reading

extension BundleInput {
    /// Returns whether inputs of `kind` are single files and can have a hash.
    private static func isSingleFile(_ kind: Kind) -> Bool {
        switch kind {
        case .archive, .log, .store: true
        case .folder, .backup, .bundle: false
        }
    }

    /// Creates an input from an entry of a manifest.
    ///
    /// `level` is the nesting level of the entry, starting at 1.
    init(_ fields: JSONFields, level: Int, budget: inout InputBudget) throws(BundleError) {
        guard let kind = fields.text("kind").flatMap(Kind.init) else {
            throw BundleError.badManifest("an input has an unknown kind")
        }
        let inputs = try BundleInputs(fields, level: level + 1, budget: &budget)
        self.init(
            kind: kind, label: fields.text("label"), sha256: fields.text("sha256").flatMap(ContentHash.init(hex:)),
            digest: fields.text("digest").flatMap(ContentHash.init(hex:)), filters: try BundleFilters(fields),
            inputs: inputs)
        // Other invalid JSON members are detected later, when the manifest is compared with its canonical form.
        guard kind == .bundle || digest == nil && filters == nil && inputs == nil,
            Self.isSingleFile(kind) || sha256 == nil
        else {
            throw BundleError.badManifest(
                "an input of the kind \(kind) has a hash, filters or inputs, which it cannot have")
        }
        guard isIdentified || isAnonymous else {
            throw BundleError.badManifest("an input has no label, or an input that is a bundle has no digest")
        }
    }
}
