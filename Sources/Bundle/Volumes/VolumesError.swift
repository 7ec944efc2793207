/// The reason why volumes cannot be read as a bundle.
public enum VolumesError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The opened volume is not the first volume of its bundle.
    ///
    /// The value is the path of the first volume.
    case notFirst(String)
    /// There is no file at the path of the bundle, but volumes of the bundle exist.
    ///
    /// The value is the path of the first volume.
    case split(String)
    /// The volumes have the given faults, which are in the order of the volumes.
    case faults([VolumeFault])

    /// A description of the error.
    public var description: String {
        switch self {
        case .notFirst(let first): "it is not the first volume of a bundle; pass \(first)"
        case .split(let first): "there is no such file, but the bundle is split into volumes; pass \(first)"
        case .faults(let faults): faults.map(\.text).joined(separator: "; ")
        }
    }

    /// Whether the only problem is that files are missing.
    public var hasOnlyMissingFiles: Bool {
        switch self {
        case .notFirst: false
        case .split: true
        case .faults(let faults): faults.allSatisfy { $0.kind == .missing }
        }
    }

    /// A hint on how to resolve the error, or `nil` if no hint is available.
    var remedy: String? {
        switch self {
        case .notFirst, .split: nil
        case .faults(let faults):
            if faults.contains(where: { $0.code == "bad-list" }) {
                "use another copy of the list, or remove the list, because it is optional"
            } else if hasOnlyMissingFiles {
                "put all volumes of the bundle into one folder"
            } else {
                "use other copies of these volumes, or read what is left of the bundle with convert --salvage"
            }
        }
    }
}
