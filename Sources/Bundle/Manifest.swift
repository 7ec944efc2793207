import Hashing
import JSONText
import Telemetry

/// The last member of a bundle: counts, and the hash of every other member.
///
/// Source: "Bundle", "The file".
public struct Manifest: Sendable, Equatable {
    /// A segment of records.
    public struct Segment: Sendable, Equatable {
        /// The member's name.
        public let path: String
        /// How many records it has.
        public let records: Int
        /// Its size in bytes.
        public let bytes: Int
        /// SHA-256 of its contents.
        public let sha256: ContentHash

        /// The segment without the number of its records.
        var member: Member { Member(path: path, bytes: bytes, sha256: sha256) }
    }

    /// A member of any kind.
    public struct Member: Sendable, Equatable {
        /// The member's name.
        public let path: String
        /// Its size in bytes.
        public let bytes: Int
        /// SHA-256 of its contents.
        public let sha256: ContentHash
    }

    /// The version of the program that wrote the bundle.
    public let tool: String
    /// The segments in order.
    public let segments: [Segment]
    /// The other members, this one apart, in order.
    public let members: [Member]
    /// The records counted.
    public let totals: BundleTotals
    /// How many records were left out because an equal one was there.
    public let duplicates: Int
    /// The id of the key that the pseudonyms of all records were made with; nil for a bundle of records as they were found, or
    /// with some of those among them.
    public private(set) var pseudonymized: String?
    /// What the bundle was made of; nil if it was made by a version of the program that did not tell.
    public private(set) var inputs: GivenInputs?
    /// Whether there are segments that consist of several frames.
    public private(set) var hasSplitSegments = false
    /// The fingerprint of the bundle, which does not depend on compression: a hash over the hashes of its members.
    public let digest: String

    /// SHA-256 over a line `<sha256>  <path>` for each member but the manifest, in their order: what `sha256sum` prints
    /// for them.
    static func digest(of members: [Member]) -> String {
        var hash = SHA256()
        for member in members { hash.update("\(member.sha256.hex)  \(member.path)\n".utf8.span) }
        return hash.finalize().hex
    }

    /// What it lists, in the order of the members: the first of the others stands in front of the segments.
    var allMembers: [Member] {
        members.prefix(1) + segments.map(\.member) + members.dropFirst()
    }

    /// The hash of a member, by its index among all of them.
    func sha256(ofMemberAt index: Int) -> ContentHash? {
        if index == 0 { return members.first?.sha256 }
        if segments.indices.contains(index - 1) { return segments[index - 1].sha256 }
        let other = index - segments.count
        return members.indices.contains(other) ? members[other].sha256 : nil
    }

    /// Whether the digest is that of the hashes: none of them was altered by accident then.
    public var provesItself: Bool { Self.digest(of: allMembers) == digest }

    /// The hashes of all members by their names.
    public var hashes: [String: ContentHash] {
        Dictionary(allMembers.map { ($0.path, $0.sha256) }) { first, _ in first }
    }

    /// The manifest as the member's contents.
    ///
    /// Written in one go, in the order of the keys: it may name 100,000 members, and each part that is put together before
    /// would be held twice.
    var bytes: [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(1024 + Self.typicalEntrySize * (segments.count + members.count))
        output += #"{"digest":"#.utf8
        output.append(jsonString: digest)
        output += #","duplicates":\#(duplicates),"format":"#.utf8
        output.append(jsonString: BundleLayout.format)
        if let inputs {
            var object = CanonicalObject()
            inputs.add(to: &object)
            output.append(UInt8(ascii: ","))
            output += object.bytes.dropFirst().dropLast()
        }
        Self.append("members", members.lazy.map { ($0, Int?.none) }, to: &output)
        if let pseudonymized {
            output += #","pseudonymized":"#.utf8
            output.append(jsonString: pseudonymized)
        }
        Self.append("segments", segments.lazy.map { ($0.member, $0.records) }, to: &output)
        output += #","tool":"#.utf8
        output.append(jsonString: tool)
        output += #","totals":"#.utf8
        output += totals.json.bytes
        output += ",\"version\":\(version)}\n".utf8
        return output
    }

    /// The version of the manifest.
    private var version: Int {
        if hasSplitSegments { return BundleLayout.framesVersion }
        return inputs == nil ? BundleLayout.version : BundleLayout.inputsVersion
    }

    /// How many bytes most entries of the lists have at most.
    private static let typicalEntrySize = 192

    private static func append(
        _ list: String, _ entries: some Sequence<(member: Member, records: Int?)>, to output: inout [UInt8]
    ) {
        output += ",\"\(list)\":[".utf8
        for (number, (member, records)) in entries.enumerated() {
            if number > 0 { output.append(UInt8(ascii: ",")) }
            output += #"{"bytes":\#(member.bytes),"path":"#.utf8
            output.append(jsonString: member.path)
            if let records { output += #","records":\#(records)"#.utf8 }
            output += #","sha256":"#.utf8
            output.append(jsonString: member.sha256.hex)
            output.append(UInt8(ascii: "}"))
        }
        output.append(UInt8(ascii: "]"))
    }
}

extension Manifest {
    /// Reads the member's contents.
    /// - Throws: ``BundleError`` if it is no manifest, or of a version that this program does not know.
    public init(_ bytes: [UInt8]) throws(BundleError) {
        guard let fields = try? JSONFields(bytes), fields.text("format") == BundleLayout.format else {
            throw BundleError.badManifest("it is not one")
        }
        guard let version = fields.integer("version"), BundleLayout.manifestVersions.contains(version) else {
            throw BundleError.version(fields.integer("version"))
        }
        guard let tool = fields.text("tool"), let duplicates = fields.integer("duplicates"),
            let digest = fields.text("digest"), let totals = fields.object("totals").flatMap(BundleTotals.init),
            let segments = fields.objects("segments"), let members = fields.objects("members")
        else { throw BundleError.badManifest("a key is missing or of another type") }
        self.tool = tool
        self.duplicates = duplicates
        self.digest = digest
        self.totals = totals
        pseudonymized = fields.text("pseudonymized")
        inputs = try GivenInputs(ofManifest: fields, isPseudonymized: pseudonymized != nil)
        hasSplitSegments = version == BundleLayout.framesVersion
        guard hasSplitSegments || (inputs == nil) == (version == BundleLayout.version) else {
            throw BundleError.badManifest("it has no inputs, or is of a version that has none")
        }
        self.members = try members.map { (fields) throws(BundleError) in try Self.member(fields) }
        self.segments = try segments.map { (fields) throws(BundleError) in
            let member = try Self.member(fields)
            guard let records = fields.integer("records") else {
                throw BundleError.badManifest("segment without count")
            }
            return Segment(path: member.path, records: records, bytes: member.bytes, sha256: member.sha256)
        }
    }

    private static func member(_ fields: JSONFields) throws(BundleError) -> Member {
        guard let path = fields.text("path"), let bytes = fields.integer("bytes"),
            let sha256 = fields.text("sha256").flatMap(ContentHash.init(hex:))
        else { throw BundleError.badManifest("a member without path, size or hash") }
        return Member(path: path, bytes: bytes, sha256: sha256)
    }
}
