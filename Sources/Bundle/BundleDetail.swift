import JSONText
import Telemetry

/// A value that is stored as one line in a list of a bundle, such as a problem.
public protocol BundleDetail {
    /// Creates a value from a line without its line feed, or returns `nil` if the line is malformed.
    init?(json bytes: [UInt8], knowing systems: SystemTable)
    /// The value as canonical JSON, which is stored as the line.
    var json: CanonicalObject { get }

    /// Returns whether `line`, which could not be parsed, contains a name that is not in `systems`.
    static func hasUnknownName(_ line: [UInt8], knowing systems: SystemTable) -> Bool
}

extension BundleDetail {
    /// Returns `false`.
    ///
    /// This default is for lists in which an unknown name does not make a line malformed.
    public static func hasUnknownName(_ line: [UInt8], knowing systems: SystemTable) -> Bool { false }
}

extension ClientSummary: BundleDetail {}
extension LocatedProblem: BundleDetail {}
extension Withdrawal: BundleDetail {
    /// Returns whether `line` contains a system or a kind of withdrawal that this version does not know.
    public static func hasUnknownName(_ line: [UInt8], knowing systems: SystemTable) -> Bool {
        guard let fields = try? JSONFields(line), let system = fields.text("system"), let code = fields.text("code")
        else { return false }
        return systems.name(system) == nil || Reason(rawValue: code) == nil
    }
}
extension QuarantineEntry: BundleDetail {
    /// Returns whether `line` contains a kind of store that is not in `systems`.
    public static func hasUnknownName(_ line: [UInt8], knowing systems: SystemTable) -> Bool {
        guard let store = (try? JSONFields(line))?.text("store") else { return false }
        return systems.storeKind(store) == nil
    }
}
