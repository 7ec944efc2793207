/// The reason why volumes cannot be read as a bundle.
public enum VolumesError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The given volume is not the first one.
    ///
    /// The value is the path of the first volume.
    case notFirst(String)
    /// The given bundle does not exist, but volumes of it do.
    ///
    /// The value is the path of the first volume.
    case split(String)
    /// The faults of at least one volume, in the order of the volumes.
    case faults([VolumeFault])

    /// A description of the error.
    public var description: String {
        switch self {
        case .notFirst(let first): "it is not the first volume of a bundle; pass \(first)"
        case .split(let first): "there is no such file, but the bundle is split into volumes; pass \(first)"
        case .faults(let faults): faults.map(\.text).joined(separator: "; ")
        }
    }

    /// Whether all faults are missing files.
    public var hasOnlyMissingFiles: Bool {
        switch self {
        case .notFirst: false
        case .split: true
        case .faults(let faults): faults.allSatisfy { $0.kind == .missing }
        }
    }

    /// A hint on how to resolve the error, or `nil` if there is none.
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
