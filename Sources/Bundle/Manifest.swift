import Bytes
import Hashing
import JSONText
import Telemetry

/// The last member of a bundle, which contains counts and the hash of every other member.
///
/// Source: "Bundle", "The file".
public struct Manifest: Sendable, Equatable {
    /// A member of the bundle that contains records.
    public struct Segment: Sendable, Equatable {
        /// The name of the member.
        public let path: String
        /// The number of records in the segment.
        public let records: Int
        /// The size of the contents in bytes.
        public let bytes: Int
        /// The SHA-256 hash of the contents.
        public let sha256: ContentHash

        /// The segment as a member, without the number of records.
        var member: Member { Member(path: path, bytes: bytes, sha256: sha256) }
    }

    /// A member of a bundle, such as a list or a segment.
    public struct Member: Sendable, Equatable {
        /// The name of the member.
        public let path: String
        /// The size of the contents in bytes.
        public let bytes: Int
        /// The SHA-256 hash of the contents.
        public let sha256: ContentHash
    }

    /// The version of the program that wrote the bundle.
    public let toolVersion: String
    /// The segments in order.
    public let segments: [Segment]
    /// The members other than segments and the manifest, in order.
    public let otherMembers: [Member]
    /// The record counts of the bundle.
    public let totals: BundleTotals
    /// The number of records that were omitted because they equal another record.
    public let duplicateCount: Int
    /// The ID of the pseudonym key, or `nil` if the contents do not all have pseudonyms of one key.
    public private(set) var pseudonymKeyID: String?
    /// The filters of the command that made the bundle, or `nil` if it had none.
    public private(set) var filters: BundleFilters?
    /// The inputs of the bundle.
    public let inputs: BundleInputs
    /// The digests of the bundles that this bundle continues, or an empty array if this bundle continues no others.
    ///
    /// Source: "Increments".
    public private(set) var parents: [String] = []
    /// The number of records and details that were omitted because the parents or their ancestors contain them.
    public private(set) var omitted = OmittedCounts()
    /// A hash of the names and hashes of all members and of the digests of the parents.
    ///
    /// The digest identifies the contents of the bundle independently of their compression.
    public let digest: String

    /// The number of records, quarantine entries and problems that are omitted because earlier bundles contain them.
    public struct OmittedCounts: Sendable, Equatable {
        /// The number of omitted records.
        public var records = 0
        /// The number of omitted quarantine entries.
        public var quarantine = 0
        /// The number of omitted problems.
        public var problems = 0

        /// Creates counts of zero.
        public init() {}
    }

    /// Returns the digest of a bundle with the given members and parents.
    ///
    /// The digest is the SHA-256 hash of the lines that `sha256sum` prints for `members`, followed by a line for each
    /// of `parents`.
    static func digest(of members: [Member], parents: [String] = []) -> String {
        var hash = SHA256()
        for member in members { hash.update("\(member.sha256.hex)  \(member.path)\n".utf8.span) }
        for parent in parents { hash.update("\(parent)  parent\n".utf8.span) }
        return hash.finalize().hex
    }

    /// All members except the manifest, in file order.
    var allMembers: [Member] {
        otherMembers.prefix(1) + segments.map(\.member) + otherMembers.dropFirst()
    }

    /// Returns the hash of the member at `index` in `allMembers`, or `nil` if there is no such member.
    func sha256(ofMemberAt index: Int) -> ContentHash? {
        if index == 0 { return otherMembers.first?.sha256 }
        if segments.indices.contains(index - 1) { return segments[index - 1].sha256 }
        let other = index - segments.count
        return otherMembers.indices.contains(other) ? otherMembers[other].sha256 : nil
    }

    /// Whether ``digest`` matches the names and hashes of the members and the parents.
    public var hasMatchingDigest: Bool { Self.digest(of: allMembers, parents: parents) == digest }

    /// The manifest as canonical JSON, with a line feed at the end.
    var bytes: [UInt8] {
        var object: CanonicalObject = [
            "digest": digest, "duplicates": duplicateCount, "format": BundleLayout.format, "members": otherMembers,
            "omitted": omitted.json, "parents": parents, "segments": segments, "tool": toolVersion,
            "totals": totals.json, "version": BundleLayout.version,
        ]
        inputs.add(to: &object)
        if let filters { object.set("filters", filters.json) }
        if let pseudonymKeyID { object.set("pseudonymized", pseudonymKeyID) }
        var output = object.bytes
        output.append(UInt8(ascii: "\n"))
        return output
    }
}

extension Manifest.Member: CanonicalValue {
    /// Appends the entry of the member in the manifest.
    public func appendJSON(to output: inout [UInt8]) {
        (["bytes": bytes, "path": path, "sha256": sha256.hex] as CanonicalObject).appendJSON(to: &output)
    }
}

extension Manifest.Segment: CanonicalValue {
    /// Appends the entry of the segment in the manifest.
    public func appendJSON(to output: inout [UInt8]) {
        let object: CanonicalObject = ["bytes": bytes, "path": path, "records": records, "sha256": sha256.hex]
        object.appendJSON(to: &output)
    }
}

extension Manifest {
    /// Parses a manifest.
    public init(_ bytes: [UInt8]) throws(BundleError) {
        guard let fields = try? JSONFields(bytes), fields.text("format") == BundleLayout.format else {
            throw BundleError.badManifest("it is not a manifest of a bundle")
        }
        guard fields.integer("version") == BundleLayout.version else {
            throw BundleError.unsupportedVersion(fields.integer("version"))
        }
        guard let toolVersion = fields.text("tool"), let duplicateCount = fields.count("duplicates"),
            let digest = fields.text("digest"), let totals = fields.object("totals").flatMap(BundleTotals.init),
            let segments = fields.objects("segments"), let members = fields.objects("members")
        else { throw BundleError.badManifest("a key is missing or has another type, or a count is out of range") }
        self.toolVersion = toolVersion
        self.duplicateCount = duplicateCount
        self.digest = digest
        self.totals = totals
        pseudonymKeyID = fields.text("pseudonymized")
        if let keyID = pseudonymKeyID, !Self.isKeyID(keyID) {
            throw BundleError.badManifest("the id of its pseudonym key is not 8 lowercase hexadecimal digits")
        }
        inputs = try BundleInputs(ofManifest: fields, isPseudonymized: pseudonymKeyID != nil)
        filters = try BundleFilters(fields)
        if let filters {
            guard pseudonymKeyID == nil ? !filters.hidesClientIDs : filters == filters.withoutClientIDs else {
                throw BundleError.badManifest("its filters must state client ids exactly if it has no pseudonyms")
            }
        }
        (parents, omitted) = try Self.ancestry(fields)
        otherMembers = try members.map { (fields) throws(BundleError) in try Self.member(fields) }
        self.segments = try segments.map { (fields) throws(BundleError) in
            let member = try Self.member(fields)
            let records = try fields.requiredCount("records", "the number of records of a segment")
            return Segment(path: member.path, records: records, bytes: member.bytes, sha256: member.sha256)
        }
        guard CountRange.contains(self.segments.lazy.map(\.records).saturatedSum),
            CountRange.contains(allMembers.lazy.map(\.bytes).saturatedSum)
        else { throw BundleError.badManifest("the sum of its counts or sizes is out of range") }
    }

    private static func isKeyID(_ text: String) -> Bool {
        text.utf8.count == 8
            && text.utf8.allSatisfy { $0.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
    }

    private static func ancestry(_ fields: JSONFields) throws(BundleError) -> ([String], OmittedCounts) {
        guard let parents = fields.texts("parents"), let omitted = fields.object("omitted") else {
            throw .badManifest("its parents or the numbers of omitted contents are missing")
        }
        guard parents.count <= BundleLayout.maxParentCount, Set(parents).count == parents.count,
            parents.allSatisfy({ ContentHash(hex: $0) != nil })
        else { throw .badManifest("its parents are not at most \(BundleLayout.maxParentCount) different digests") }
        let counts = try OmittedCounts(omitted)
        guard !parents.isEmpty || counts == OmittedCounts() else {
            throw .badManifest("it omits contents, but has no parents")
        }
        return (parents, counts)
    }

    private static func member(_ fields: JSONFields) throws(BundleError) -> Member {
        guard let path = fields.text("path"), let sha256 = fields.text("sha256").flatMap(ContentHash.init(hex:)) else {
            throw BundleError.badManifest("a member has no path or hash")
        }
        let bytes = try fields.requiredCount("bytes", "the size of a member")
        return Member(path: path, bytes: bytes, sha256: sha256)
    }
}

extension JSONFields {
    /// Returns the number for `key`, or throws an error that states whether the number is missing or out of range.
    ///
    /// The error calls the number `name`.
    fileprivate func requiredCount(_ key: JSONKey, _ name: String) throws(BundleError) -> Int {
        if let count = count(key) { return count }
        let fault = hasMember(key) ? "is not an integer from 0 to \(CountRange.maximum)" : "is missing"
        throw .badManifest("\(name) \(fault)")
    }
}

extension Manifest.OmittedCounts {
    /// The counts as canonical JSON.
    public var json: CanonicalObject {
        ["problems": problems, "quarantine": quarantine, "records": records]
    }

    /// Creates counts from a JSON object of a manifest.
    init(_ fields: JSONFields) throws(BundleError) {
        records = try fields.requiredCount("records", "the number of omitted records")
        quarantine = try fields.requiredCount("quarantine", "the number of omitted quarantine entries")
        problems = try fields.requiredCount("problems", "the number of omitted problems")
    }
}

// MARK: - Totals

/// The record counts of a bundle, in total and by system, type and hold code.
public struct BundleTotals: Sendable, Equatable {
    /// The number of all records.
    public private(set) var records = 0
    /// The number of records that may be uploaded.
    public private(set) var uploadableCount = 0
    /// The number of records by type, with keys of the form `<system>/<type>`.
    public var types: [CapturedText: Int] {
        Dictionary(
            uniqueKeysWithValues: typeCounts.map { (CapturedText("\($0.key.system)/\($0.key.type)"), $0.value) })
    }
    /// The number of records by system.
    public var systems: [CapturedText: Int] {
        Dictionary(
            typeCounts.map { (CapturedText($0.key.system), $0.value) },
            uniquingKeysWith: { $0.addingSaturated($1) })
    }
    private var typeCounts: [TypeName: Int] = [:]
    /// The number of held records by hold code, which identifies the reason for the hold.
    ///
    /// A record with two hold codes is counted for both codes.
    public private(set) var holds: [CapturedText: Int] = [:]

    private struct TypeName: Hashable, Sendable {
        @CapturedText var system: String
        @CapturedText var type: String
    }

    /// Creates totals of zero records.
    public init() {}

    /// Counts a record.
    public mutating func count(_ record: borrowing RecordSummary) {
        add(1, ofType: record.type, in: record.system.description)
        if record.isUploadable { addUploadable(1) }
        for code in record.holds { addHeld(1, code: code) }
    }

    /// Adds `count` records of the type `type` of `system`.
    public mutating func add(_ count: Int, ofType type: String, in system: String) {
        records.addSaturated(count)
        typeCounts[TypeName(system: system, type: type), default: 0].addSaturated(count)
    }

    /// Counts `count` of the records that were added with ``add(_:ofType:in:)`` as uploadable.
    public mutating func addUploadable(_ count: Int) { uploadableCount.addSaturated(count) }

    /// Counts `count` of the records that were added with ``add(_:ofType:in:)`` as held with the hold code `code`.
    public mutating func addHeld(_ count: Int, code: String) {
        holds[code, default: 0].addSaturated(count)
    }

    /// Adds the counts of `other`.
    public mutating func add(_ other: BundleTotals) {
        records.addSaturated(other.records)
        addUploadable(other.uploadableCount)
        typeCounts.merge(other.typeCounts) { $0.addingSaturated($1) }
        holds.merge(other.holds) { $0.addingSaturated($1) }
    }

    /// The totals as canonical JSON.
    public var json: CanonicalObject {
        [
            "held": CanonicalObject(counts: holds), "records": records, "system": CanonicalObject(counts: systems),
            "type": CanonicalObject(counts: types), "uploadable": uploadableCount,
        ]
    }

    /// Creates totals from a JSON object of a manifest.
    ///
    /// Returns `nil` if the object is malformed, or if its counts by system contradict its counts by type.
    init?(_ fields: JSONFields) {
        guard let records = fields.count("records"), let uploadableCount = fields.count("uploadable"),
            let systems = fields.object("system")?.counts, let types = fields.object("type")?.counts,
            let holds = fields.object("held")?.counts, CountRange.contains(types.values.saturatedSum)
        else { return nil }
        self.records = records
        self.uploadableCount = uploadableCount
        // The order does not matter, because each name has its own count.
        for (name, count) in types {
            guard let (system, type) = name.split(atFirst: UInt8(ascii: "/")) else { return nil }
            typeCounts[TypeName(system: system.string, type: type.string)] = count
        }
        guard self.systems == systems else { return nil }
        self.holds = holds
    }
}

extension CanonicalObject {
    /// Creates an object that maps names to counts.
    public init(counts: [CapturedText: Int]) {
        self.init()
        // The names are sorted first, because appending members is faster than inserting them.
        for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
            set(JSONKey(name.string), count)
        }
    }
}

extension Dictionary: CanonicalValue where Key == CapturedText, Value == Int {
    /// Appends an object that maps the names to the counts.
    public func appendJSON(to output: inout [UInt8]) { CanonicalObject(counts: self).appendJSON(to: &output) }
}
