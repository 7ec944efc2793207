import JSONText

/// The names of a bundle's members and the sizes that the format fixes.
///
/// Source: design of the project, section 3.
public enum BundleLayout {
    /// The name of the format in the first member and in the manifest.
    public static let format = "pingferry-bundle"
    /// The version of the format.
    public static let version = 1
    /// The member that says what the file is.
    public static let marker = "pingferry-bundle.json"
    /// The member that lists all others.
    public static let manifest = "manifest.json"
    /// A line for each span of input that could not be understood.
    public static let quarantine = "quarantine.ndjson"
    /// A line for each thing that the operator should know.
    public static let problems = "problems.ndjson"
    /// A line for each client.
    public static let clients = "clients.ndjson"

    /// A segment is closed when the next record would take it past this many bytes.
    public static let segmentSize = 4 << 20
    /// The most bytes of a member that is read into memory: segments, details, the manifest.
    public static let memberLimit = 256 << 20

    /// The name of a segment, counted from 1.
    public static func segment(_ number: Int) -> String {
        let digits = String(number)
        return "records/\(String(repeating: "0", count: max(0, 6 - digits.count)))\(digits).ndjson"
    }

    /// Whether a member holds records.
    public static func isSegment(_ name: String) -> Bool {
        name.hasPrefix("records/") && name.hasSuffix(".ndjson")
    }

    /// Whether a bundle has members of this name.
    public static func isMember(_ name: String) -> Bool {
        [marker, manifest, quarantine, problems, clients].contains(name) || isSegment(name)
            || name.hasPrefix(quarantineFolder)
    }

    /// The name of quarantined bytes.
    public static func quarantined(_ sha256: String) -> String { quarantineFolder + sha256 }

    /// What the names of quarantined bytes begin with.
    public static let quarantineFolder = "quarantine/"

    /// The contents of the first member.
    static var markerContents: [UInt8] {
        var object = CanonicalObject()
        object.set("format", string: format)
        object.set("version", integer: version)
        return object.bytes + [UInt8(ascii: "\n")]
    }
}
