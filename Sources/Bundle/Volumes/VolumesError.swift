/// Why volumes cannot be read as a bundle.
public enum VolumesError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A volume was given that is not the first; the path of the first.
    case notFirst(String)
    /// A bundle was given of which there are only volumes; the path of the first.
    case split(String)
    /// What is wrong with each volume, in their order; at least one.
    case faults([VolumeFault])

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .notFirst(let first): "it is not the first volume of a bundle; give \(first)"
        case .split(let first): "there is no such file, but volumes of it; give \(first)"
        case .faults(let faults): faults.map(\.text).joined(separator: "; ")
        }
    }

    /// Whether nothing is wrong but that something is not there.
    public var isMissing: Bool {
        switch self {
        case .notFirst: false
        case .split: true
        case .faults(let faults): faults.allSatisfy { $0.kind == .missing }
        }
    }

    /// What the user can do about it, where there is something.
    var remedy: String? {
        switch self {
        case .notFirst, .split: nil
        case .faults(let faults):
            if faults.contains(where: { $0.code == "bad-list" }) {
                "use another copy of the list, or remove it: the volumes are read without it too"
            } else if isMissing {
                "put all volumes of the bundle into one folder"
            } else {
                "use other copies of these volumes, or read what is left of the bundle with convert --salvage"
            }
        }
    }
}
