import Telemetry

/// Why a bundle is not what it should be.
public enum BundleError: Error, Sendable, CustomStringConvertible {
    /// The container cannot be read.
    case container(ContainerError)
    /// It is split in volumes, and these cannot be read as one.
    case volumes(VolumesError)
    /// The first member does not say that this is a bundle.
    case notABundle
    /// A version of the format that this program does not know.
    case version(Int?)
    /// A member that has to be there is not.
    case memberMissing(String)
    /// The members are not those of the manifest; how.
    case badManifest(String)
    /// A member's bytes are not those of the manifest.
    case changed(member: String)
    /// A record in a segment is not well formed; line numbers count from 1.
    case badRecord(member: String, line: Int, reason: String)
    /// It is not signed by one of those who have to have signed it.
    case signature(SignatureError)
    /// A count in the manifest is not what the records say; which.
    case count(String)

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .container(let error): error.description
        case .volumes(let error): error.description
        case .notABundle: "not a bundle: no \(BundleLayout.marker) in front"
        case .version(let version): "bundle format version \(version.map(String.init) ?? "unknown") is not supported"
        case .memberMissing(let name): "\(name) is missing"
        case .badManifest(let how): "\(BundleLayout.manifest): \(how)"
        case .changed(let member): "\(member): its bytes are not those that the manifest lists"
        case .badRecord(let member, let line, let reason): "\(member) line \(line): \(reason)"
        case .signature(let error): error.description
        case .count(let what): "\(BundleLayout.manifest): \(what) is not what the records say"
        }
    }

    /// What the user can do about it, where there is something.
    public var remedy: String? {
        switch self {
        case .container(let error): error.remedy
        case .signature(let error): error.remedy
        case .volumes(let error): error.remedy
        case .version: "use a newer version of this program"
        case .notABundle: nil
        case .memberMissing, .badManifest, .changed, .badRecord, .count:
            "use another copy of the bundle, or read what is left of this one with convert --salvage"
        }
    }
}
