import Telemetry

/// The reason why a bundle is invalid or cannot be read.
public enum BundleError: Error, Sendable, CustomStringConvertible {
    /// The container cannot be read.
    case container(ContainerError)
    /// The volumes of the bundle cannot be read as one file.
    case volumes(VolumesError)
    /// The first member does not identify the file as a bundle.
    case notABundle
    /// The version of the format is not supported.
    ///
    /// The value is `nil` if the version is not an integer.
    case unsupportedVersion(Int?)
    /// The required member with the given name is missing.
    case memberMissing(String)
    /// The manifest is malformed or does not match the members. The value is the reason.
    case badManifest(String)
    /// The bytes of a member do not match the hash in the manifest.
    case changed(member: String)
    /// The line of `member` with the number `line`, starting at 1, is malformed.
    case badRecord(member: String, line: Int, reason: String)
    /// The line of `member` with the number `line`, starting at 1, contains an unknown system or an unknown kind of
    /// store.
    case unknownName(member: String, line: Int, reason: String)
    /// The bundle has no valid signature of an allowed signer.
    case signature(SignatureError)
    /// The named count or list does not match the contents of the bundle.
    case countMismatch(String)

    /// A description of the error in one line.
    public var description: String {
        switch self {
        case .container(let error): error.description
        case .volumes(let error): error.description
        case .notABundle: "not a bundle: the first member is not \(BundleLayout.marker)"
        case .unsupportedVersion(let version):
            "bundle format version \(version.map(String.init) ?? "unknown") is not supported"
        case .memberMissing(let name): "\(name) is missing"
        case .badManifest(let reason): "\(BundleLayout.manifest): \(reason)"
        case .changed(let member): "\(member): its contents do not match the hash in the manifest"
        case .badRecord(let member, let line, let reason), .unknownName(let member, let line, let reason):
            "\(member) line \(line): \(reason)"
        case .signature(let error): error.description
        case .countMismatch(let what): "\(BundleLayout.manifest): \(what) does not match the contents of the bundle"
        }
    }

    /// A hint on how to resolve the error, or `nil` if no hint is available.
    public var remedy: String? {
        switch self {
        case .container(let error): error.remedy
        case .signature(let error): error.remedy
        case .volumes(let error): error.remedy
        case .unsupportedVersion, .unknownName: "use a newer version of this program"
        case .notABundle: nil
        case .memberMissing, .badManifest, .changed, .badRecord, .countMismatch:
            "use another copy of the bundle, or read what is left of this one with convert --salvage"
        }
    }
}
