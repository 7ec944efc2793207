import JSONText
import Telemetry

/// A value that is one line of a bundle's details.
public protocol BundleDetail {
    /// Reads a line; nil if it is none.
    /// - Parameter systems: whose stores it may be of.
    init?(json bytes: [UInt8], knowing systems: SystemTable)
    /// The line as canonical JSON.
    var json: CanonicalObject { get }
}

extension ClientSummary: BundleDetail {}
extension PlacedProblem: BundleDetail {}
extension Quarantined: BundleDetail {}
