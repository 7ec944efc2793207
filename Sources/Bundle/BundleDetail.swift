import JSONText
import Telemetry

/// A value that is stored as one line in a list of a bundle, such as a problem.
public protocol BundleDetail {
    /// Creates a value from a line without its line feed, or returns `nil` if the line is malformed.
    init?(json bytes: [UInt8], knowing systems: SystemTable)
    /// The line as canonical JSON.
    var json: CanonicalObject { get }
}

extension ClientSummary: BundleDetail {}
extension LocatedProblem: BundleDetail {}
extension QuarantineEntry: BundleDetail {}
