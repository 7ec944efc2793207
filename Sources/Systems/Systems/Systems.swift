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
    public static let table = SystemTable([
        MozillaSystem(),
        GleanSystem(),
        SiftSystem(),
        LeanplumSystem(),
        ActivityStreamSystem(),
        AdjustSystem(),
    ])
}
