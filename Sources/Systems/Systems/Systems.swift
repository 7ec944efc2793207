import ActivityStream
import Glean
import Leanplum
import Mozilla
import Sift
import Telemetry

/// The one table of the systems: a new system is a room of its own, and a line here.
public enum Systems {
    /// All systems, in the order in which reports list them.
    public static let table = SystemTable([
        MozillaSystem(),
        GleanSystem(),
        SiftSystem(),
        LeanplumSystem(),
        ActivityStreamSystem(),
    ])
}
