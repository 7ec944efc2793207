import ActivityStream
import Adjust
import Glean
import Leanplum
import Mozilla
import Sift
import Telemetry

/// The registry of all systems.
///
/// To add a system, create a module for it and add a line here.
public enum Systems {
    /// All systems, in the order in which reports list them.
    public static let table = table(GleanSystem())

    private static func table(_ glean: GleanSystem) -> SystemTable {
        SystemTable([
            MozillaSystem(),
            glean,
            SiftSystem(),
            LeanplumSystem(),
            ActivityStreamSystem(),
            AdjustSystem(),
        ])
    }

    /// Returns all systems, with the definitions of events and metrics.
    public static func table(with definitions: EventDefinitions) -> SystemTable {
        table(GleanSystem(definitions.glean))
    }
}

/// The definitions of events and metrics by apps and libraries, in files in the format of `glean_parser dump`.
///
/// Only Glean has such files.
public struct EventDefinitions: Sendable {
    /// The name of the option that specifies a file.
    public static let optionName = "glean-definitions"
    /// The command that writes a file.
    public static let command = "glean_parser dump metrics.yaml"
    /// The maximum size of a file in bytes.
    public static let maximumFileSize = 64 << 20

    fileprivate var glean = GleanDefinitions()

    /// Creates an empty collection.
    public init() {}

    /// Adds the definitions in the contents of a file.
    ///
    /// - Returns: An error for each definition that is ignored because it is invalid or contradicts an earlier one.
    /// - Throws: An error if the contents cannot be used at all.
    public mutating func read(_ bytes: [UInt8]) throws(DefinitionsError) -> [DefinitionsError] {
        try glean.read(bytes)
    }
}
