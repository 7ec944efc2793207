import JSONText
import Telemetry

/// A value that is stored as one line in a list of a bundle, such as a problem.
public protocol BundleDetail {
    /// Creates a value from a line without its line feed, or returns `nil` if the line is malformed.
    init?(json bytes: [UInt8], knowing systems: SystemTable)
    /// The line as canonical JSON.
    var json: CanonicalObject { get }

    /// Returns whether a malformed line contains a name that only a newer version of the program supports.
    static func hasUnknownName(_ line: [UInt8], knowing systems: SystemTable) -> Bool
}

extension BundleDetail {
    /// Returns `false`, for lines that contain no such names.
    public static func hasUnknownName(_ line: [UInt8], knowing systems: SystemTable) -> Bool { false }
}

extension ClientSummary: BundleDetail {}
extension LocatedProblem: BundleDetail {}
extension QuarantineEntry: BundleDetail {
    /// Returns whether the kind of the store is unknown.
    public static func hasUnknownName(_ line: [UInt8], knowing systems: SystemTable) -> Bool {
        guard let store = (try? JSONFields(line))?.text("store") else { return false }
        return systems.storeKind(store) == nil
    }
}
