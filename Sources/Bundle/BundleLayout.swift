import Files
import JSONText

/// The names of a bundle's members and the sizes that the format fixes.
///
/// Source: "Bundle", "The file".
public enum BundleLayout {
    /// The name of the format in the first member and in the manifest.
    public static let format = "pingferry-bundle"
    /// The version of the format.
    public static let version = 1
    /// The version of a manifest that lists the inputs: programs that do not know them take no other key for granted, and so
    /// say that they are too old, and not that the bundle is damaged.
    static let inputsVersion = 2
    /// The version of the manifest of a bundle with segments of several frames, for the same reason.
    static let framesVersion = 3
    /// The versions of manifests that are read.
    static let manifestVersions = version...framesVersion
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

    /// The lists of details, in the order of their members.
    public static let lists = [quarantine, problems, clients]

    /// A segment is closed when the next record would take it past this many bytes.
    public static let segmentSize = 4 << 20
    /// A list goes on in another member when the next line would take one past this many bytes.
    public static let detailSize = 4 << 20
    /// The most members with quarantined bytes that are written: the manifest names each, and is read as a whole.
    public static let maxQuarantinedMembers = 1 << 18
    /// The most bytes of a member that is read into memory: segments, details, the manifest.
    public static let memberLimit = 256 << 20

    /// The name of a segment, counted from 1.
    public static func segment(_ number: Int) -> String {
        "records/\(sixDigits(number)).ndjson"
    }

    /// The name of a member with details: the first one has the name of its list, further ones are numbered from 2.
    public static func detail(_ list: String, _ number: Int) -> String {
        number == 1 ? list : "\(list.dropLast(lineSuffix.count)).\(sixDigits(number))\(lineSuffix)"
    }

    /// The list whose details a member holds; nil if it holds none.
    public static func list(of name: String) -> String? {
        lists.first { list in
            if name == list { return true }
            let stem = list.dropLast(lineSuffix.count) + "."
            guard name.hasPrefix(stem), let number = Int(name.dropFirst(stem.count).dropLast(lineSuffix.count)) else {
                return false
            }
            return number > 1 && name == detail(list, number)
        }
    }

    private static let lineSuffix = ".ndjson"

    private static func sixDigits(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }

    /// Whether a member holds records.
    public static func isSegment(_ name: String) -> Bool {
        name.hasPrefix("records/") && name.hasSuffix(".ndjson")
    }

    /// Whether a bundle has members of this name.
    public static func isMember(_ name: String) -> Bool {
        name == marker || name == manifest || list(of: name) != nil || isSegment(name)
            || name.hasPrefix(quarantineFolder)
    }

    /// The member that stands at a path in an archive of an unpacked bundle, such as `./monday/manifest.json`; nil if
    /// none is called so.
    public static func member(atPath path: String) -> String? {
        let parts = Path.parts(of: path)
        return [2, 1].lazy.map { parts.suffix($0).joined(separator: "/") }.first { isMember($0) }
    }

    /// The name of quarantined bytes.
    public static func quarantined(_ sha256: String) -> String { quarantineFolder + sha256 }

    /// The beginning of the names of members with quarantined bytes.
    public static let quarantineFolder = "quarantine/"

    /// The contents of the first member.
    static var markerContents: [UInt8] {
        var object = CanonicalObject()
        object.set("format", string: format)
        object.set("version", integer: version)
        return object.bytes + [UInt8(ascii: "\n")]
    }
}
