import Bytes
import Files
import JSONText

/// A version of the format of a bundle, an index, a receipt or a ledger.
public enum FormatVersion {
    /// A hint for a file whose version is higher or lower than the supported version.
    public static let remedy = "use a version of this program that supports this version of the format"
}

/// The names of the members of a bundle, and the sizes that the format fixes.
///
/// Source: "Bundle", "The file".
public enum BundleLayout {
    /// The name of the format in the first member and in the manifest.
    public static let format = "pingferry-bundle"
    /// The version of the format in the first member and in the manifest.
    public static let version = 1
    /// The maximum number of parents of a bundle.
    public static let maxParentCount = 4096
    /// The name of the first member, which identifies the file as a bundle.
    public static let marker = "pingferry-bundle.json"
    /// The name of the last member, which lists all other members.
    public static let manifest = "manifest.json"
    /// The name of the list of quarantined input.
    public static let quarantine = "quarantine.ndjson"
    /// The name of the list of problems.
    public static let problems = "problems.ndjson"
    /// The name of the list of clients.
    public static let clients = "clients.ndjson"

    /// The name of the list of withdrawals, which a bundle without withdrawals does not have.
    public static let withdrawals = "withdrawals.ndjson"

    /// The names of the members that contain lists of details, in the order of the members.
    public static let listNames = [quarantine, problems, clients, withdrawals]

    /// The maximum size, in bytes, of a segment.
    ///
    /// A segment is one zstd frame, so that damage of a few bytes costs at most this many bytes of records. A segment
    /// with a single record can be larger.
    public static let maxSegmentSize = 256 << 10
    /// The maximum size, in bytes, of a member that contains a part of a list.
    ///
    /// A member with a single line can be larger.
    public static let maxListMemberSize = 4 << 20
    /// The maximum number of members with quarantined bytes in a bundle that this program writes.
    ///
    /// The number is limited, because the manifest names each member and is read into memory completely.
    public static let maxQuarantinedMembers = 1 << 18
    /// The maximum size, in bytes, of a member.
    public static let memberSizeLimit = 256 << 20
    /// The maximum size, in bytes, of the manifest, which has room for ``ContainerReader/maxMemberCount`` members.
    static let manifestSizeLimit = 128 << 20

    /// Returns the maximum size, in bytes, of the contents of the member `name`, whose frame has `compressedSize`
    /// bytes.
    ///
    /// Such contents are read into memory, so a small file must not expand to an arbitrary size. A genuine manifest
    /// compresses to a sixth of its size, because it consists mostly of hashes. A genuine segment with one large record
    /// can compress much better, so the limit allows for the largest record that this program makes of a capture.
    ///
    /// Source: "Bundle", "Limits".
    static func contentLimit(ofMember name: String, compressedSize: Int) -> Int {
        // Quarantined bytes are not parsed.
        if name.hasPrefix(quarantineFolder) { return memberSizeLimit }
        return name == manifest
            ? min(manifestSizeLimit, 1 << 20 + 32 * compressedSize)
            : min(memberSizeLimit, 96 << 20 + 64 * compressedSize)
    }

    /// Returns the name of the segment with the given number.
    ///
    /// Numbers start at 1.
    public static func segmentName(_ number: Int) -> String {
        "records/\(number.zeroPadded(to: 6)).ndjson"
    }

    /// Returns the name of a member that contains a part of the list named `list`.
    ///
    /// The members of a list are numbered from 1.
    public static func listMemberName(of list: String, number: Int) -> String {
        number == 1 ? list : "\(list.dropLast(ndjsonSuffix.count)).\(number.zeroPadded(to: 6))\(ndjsonSuffix)"
    }

    /// Returns the name of the list that the member `name` belongs to, or `nil` if it belongs to no list.
    public static func listName(ofMember name: String) -> String? {
        listNames.first { list in
            if name == list { return true }
            let stem = list.dropLast(ndjsonSuffix.count) + "."
            guard name.hasPrefix(stem), let number = Int(name.dropFirst(stem.count).dropLast(ndjsonSuffix.count)) else {
                return false
            }
            return number > 1 && name == listMemberName(of: list, number: number)
        }
    }

    private static let ndjsonSuffix = ".ndjson"

    /// Returns whether the member `name` contains records.
    public static func isSegment(_ name: String) -> Bool {
        name.hasPrefix("records/") && name.hasSuffix(ndjsonSuffix)
    }

    /// Returns whether a bundle can have a member named `name`.
    public static func isMember(_ name: String) -> Bool {
        name == marker || name == manifest || listName(ofMember: name) != nil || isSegment(name)
            || name.hasPrefix(quarantineFolder)
    }

    /// Returns the name of the member that was extracted to `path`, such as `./monday/manifest.json`, or `nil` if the
    /// path does not end with the name of a member.
    public static func memberName(atPath path: String) -> String? {
        let parts = Path.parts(of: path)
        return [2, 1].lazy.map { parts.suffix($0).joined(separator: "/") }.first { isMember($0) }
    }

    /// Returns the name of the member for quarantined bytes with the given hexadecimal SHA-256 hash.
    public static func quarantineMemberName(sha256: String) -> String { quarantineFolder + sha256 }

    /// The name prefix of members that contain quarantined bytes.
    public static let quarantineFolder = "quarantine/"

    /// The contents of the first member.
    static var markerContents: [UInt8] {
        let object: CanonicalObject = ["format": format, "version": version]
        return object.bytes + [UInt8(ascii: "\n")]
    }
}
