import Files
import JSONText

/// The names of the members of a bundle, and the sizes that the format fixes.
///
/// Source: "Bundle", "The file".
public enum BundleLayout {
    /// The name of the format, as the first member and the manifest state it.
    public static let format = "pingferry-bundle"
    /// The version of the format.
    public static let version = 1
    /// The version of a manifest that lists inputs.
    ///
    /// The version is higher than that of the format so that older programs report an unsupported version instead of a
    /// damaged bundle.
    static let inputsVersion = 2
    /// The version of a manifest of a bundle whose segments can consist of several frames.
    static let framesVersion = 3
    /// The versions of manifests that can be read.
    static let manifestVersions = version...framesVersion
    /// The name of the first member, which identifies the file as a bundle.
    public static let marker = "pingferry-bundle.json"
    /// The name of the last member, which lists all others.
    public static let manifest = "manifest.json"
    /// The name of the list of quarantined input, with a line for each span.
    public static let quarantine = "quarantine.ndjson"
    /// The name of the list of problems.
    public static let problems = "problems.ndjson"
    /// The name of the list of clients.
    public static let clients = "clients.ndjson"

    /// The names of the members that contain lists of details, in the order of the members.
    public static let lists = [quarantine, problems, clients]

    /// The size, in bytes, that closes a segment: a record that would exceed it starts a new segment.
    public static let segmentSize = 4 << 20
    /// The size, in bytes, that closes a member of a list: a line that would exceed it starts a new member.
    public static let detailSize = 4 << 20
    /// The maximum number of members with quarantined bytes that are written.
    ///
    /// The manifest names each of them and is read into memory as a whole.
    public static let maxQuarantinedMembers = 1 << 18
    /// The maximum size, in bytes, of a member that is read into memory, such as a segment or the manifest.
    public static let memberLimit = 256 << 20

    /// Returns the name of the segment with a number, which starts at 1.
    public static func segment(_ number: Int) -> String {
        "records/\(number.zeroPadded(to: 6)).ndjson"
    }

    /// Returns the name of a member of a list, whose members are numbered from 1.
    public static func detail(_ list: String, _ number: Int) -> String {
        number == 1 ? list : "\(list.dropLast(lineSuffix.count)).\(number.zeroPadded(to: 6))\(lineSuffix)"
    }

    /// Returns the list that the member `name` belongs to, or `nil` if it belongs to none.
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

    /// Returns whether the member `name` contains records.
    public static func isSegment(_ name: String) -> Bool {
        name.hasPrefix("records/") && name.hasSuffix(".ndjson")
    }

    /// Returns whether a bundle can have a member with the given name.
    public static func isMember(_ name: String) -> Bool {
        name == marker || name == manifest || list(of: name) != nil || isSegment(name)
            || name.hasPrefix(quarantineFolder)
    }

    /// Returns the member that a file such as `./monday/manifest.json` represents, or `nil` if there is no such member.
    public static func member(atPath path: String) -> String? {
        let parts = Path.parts(of: path)
        return [2, 1].lazy.map { parts.suffix($0).joined(separator: "/") }.first { isMember($0) }
    }

    /// Returns the name of the member with the quarantined bytes whose SHA-256 hash, in hexadecimal digits, is given.
    public static func quarantined(_ sha256: String) -> String { quarantineFolder + sha256 }

    /// The prefix of the names of members with quarantined bytes.
    public static let quarantineFolder = "quarantine/"

    /// The contents of the first member.
    static var markerContents: [UInt8] {
        var object = CanonicalObject()
        object.set("format", string: format)
        object.set("version", integer: version)
        return object.bytes + [UInt8(ascii: "\n")]
    }
}

extension Int {
    /// Returns the decimal digits, with leading zeros up to `width`.
    func zeroPadded(to width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
    }
}
