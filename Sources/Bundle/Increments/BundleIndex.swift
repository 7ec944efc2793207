import Bytes
import Hashing
import JSONText
import Telemetry

/// The keys of all records and details of a bundle and of its ancestors.
///
/// With an index, an increment can be made without the earlier bundles.
///
/// ```swift
/// let index = BundleIndex(digest: manifest.digest, ancestors: [], records: records, details: details)
/// let bytes = index.bytes
/// let copy = try BundleIndex(bytes)
/// ```
///
/// Source: "Increments", section "The index".
public struct BundleIndex: Sendable, Equatable {
    /// The digest of the bundle.
    public let digest: String
    /// The digests of the parents of the bundle, of their parents, and so on, in ascending order.
    public let ancestors: [String]
    /// The `CopyRank.indexNumber` of the best copy of each record of the bundle and its ancestors.
    public let records: [RecordKey: UInt64]
    /// The hashes of the quarantine entries and problems of the bundle and its ancestors.
    public let details: Set<Digest16>

    /// The maximum size, in bytes, of an index.
    public static let maxSize = 4 << 30
    /// The first bytes of each index.
    public static let prefix = Array(#"{"ancestors":["#.utf8)
    /// The maximum size, in bytes, of the header.
    ///
    /// The limit bounds the memory for parsing the JSON of the header. It allows 250,000 ancestors.
    private static let maxHeaderSize = 16 << 20
    private static let format = "pingferry-index"
    private static let version = 1
    /// The size, in bytes, of the key of a record and the number of its rank.
    private static let recordSize = 40
    private static let detailSize = 16
    private static let hashSize = 32

    /// Creates an index of the records and details of a bundle and its ancestors.
    public init(
        digest: String, ancestors: Set<CapturedText>, records: [RecordKey: UInt64], details: Set<Digest16>
    ) {
        self.digest = digest
        self.ancestors = ancestors.sortedStrings
        self.records = records
        self.details = details
    }

    /// The contents of an index file.
    public var bytes: [UInt8] {
        var bytes = header.bytes
        let keysSize = records.count * Self.recordSize + details.count * Self.detailSize
        bytes.reserveCapacity(bytes.count + 1 + keysSize + Self.hashSize)
        bytes.append(UInt8(ascii: "\n"))
        for (key, rank) in records.sorted(by: { $0.key < $1.key }) {
            bytes.append(key.identity)
            bytes.append(key.content)
            bytes.append(bigEndian: rank)
        }
        for detail in details.sorted() { bytes.append(detail) }
        bytes += SHA256.hash(bytes.span).bytes
        return bytes
    }

    private var header: CanonicalObject {
        [
            "ancestors": ancestors, "details": details.count, "digest": digest, "format": Self.format,
            "records": records.count, "version": Self.version,
        ]
    }

    /// Parses the contents of an index file.
    public init(_ bytes: [UInt8]) throws(BundleIndexError) {
        guard bytes.starts(with: Self.prefix),
            let end = bytes.prefix(Self.maxHeaderSize).firstIndex(of: UInt8(ascii: "\n")),
            let fields = try? JSONFields(Array(bytes[..<end])), fields.text("format") == Self.format
        else { throw .notAnIndex }
        guard fields.integer("version") == Self.version else { throw .unsupportedVersion(fields.integer("version")) }
        let start = end + 1
        let checked = bytes.count - Self.hashSize
        guard checked >= start, SHA256.hash(bytes.span.extracting(..<checked)).bytes[...] == bytes[checked...] else {
            throw .damaged
        }
        guard let digest = fields.text("digest"), let ancestors = fields.texts("ancestors"),
            let recordCount = fields.count("records"), let detailCount = fields.count("details"),
            (0...bytes.count).contains(recordCount), (0...bytes.count).contains(detailCount),
            checked - start == recordCount * Self.recordSize + detailCount * Self.detailSize,
            let records = Self.records(in: bytes.span.extracting(start..<start + recordCount * Self.recordSize)),
            let details = Self.details(in: bytes.span.extracting(start + recordCount * Self.recordSize..<checked))
        else { throw .malformed }
        self.init(digest: digest, ancestors: Set(texts: ancestors), records: records, details: details)
        guard ([digest] + ancestors).allSatisfy({ ContentHash(hex: $0) != nil }), !ancestors.contains(digest),
            header.bytes[...] == bytes[..<end]
        else { throw .malformed }
    }

    /// Reads the keys of records, or returns `nil` if they are not in strictly ascending order.
    private static func records(in bytes: Span<UInt8>) -> [RecordKey: UInt64]? {
        var records = [RecordKey: UInt64](minimumCapacity: bytes.count / recordSize)
        var last: RecordKey?
        for offset in stride(from: 0, to: bytes.count, by: recordSize) {
            let key = RecordKey(
                identity: Digest16(bytes.bytes, at: offset), content: Digest16(bytes.bytes, at: offset + 16))
            if let last, last >= key { return nil }
            last = key
            records[key] = bytes.word(at: offset + 32).byteSwapped
        }
        return records
    }

    /// Reads the hashes of details, or returns `nil` if they are not in strictly ascending order.
    private static func details(in bytes: Span<UInt8>) -> Set<Digest16>? {
        var details = Set<Digest16>(minimumCapacity: bytes.count / detailSize)
        var last: Digest16?
        for offset in stride(from: 0, to: bytes.count, by: detailSize) {
            let detail = Digest16(bytes.bytes, at: offset)
            if let last, last >= detail { return nil }
            last = detail
            details.insert(detail)
        }
        return details
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ digest: Digest16) {
        append(bigEndian: digest.high)
        append(bigEndian: digest.low)
    }

    /// Appends a word in big-endian order, so that keys and their bytes have the same order.
    fileprivate mutating func append(bigEndian word: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
}

// MARK: - Comparison with bundles

extension BundleIndex {
    /// A difference between an index and the bundles to which it should belong.
    public enum Mismatch: Sendable, Equatable, CustomStringConvertible {
        /// None of the bundles has the digest of the index.
        case digest(String)
        /// The bundle with this digest is an ancestor in the index, and is not given.
        case missingAncestor(String)
        /// The bundle with this digest is given, and the index does not mention it.
        case otherBundle(String)
        /// The index lacks keys of records, or has keys of records that are not in the bundles.
        case records(lacking: Int, additional: Int)
        /// The index lacks keys of quarantine entries or problems, or has keys of some that are not in the bundles.
        case details(lacking: Int, additional: Int)

        /// A description in one line without a full stop.
        public var description: String {
            switch self {
            case .digest(let digest): "not the index of these bundles, but of the bundle with the digest \(digest)"
            case .missingAncestor(let digest): "it covers the bundle with the digest \(digest), which is not given"
            case .otherBundle(let digest): "it does not cover the bundle with the digest \(digest)"
            case .records(let lacking, let additional):
                "its keys are not those of the records of the bundles: \(lacking) missing, \(additional) of other records"
            case .details(let lacking, let additional):
                """
                its keys are not those of the quarantine entries and problems of the bundles: \(lacking) missing, \
                \(additional) of others
                """
            }
        }
    }

    /// Returns the first difference between the index and `bundles`, or `nil` if it is the index of exactly these
    /// bundles.
    ///
    /// `bundles` must contain only bundles that were read, and no indexes.
    public func mismatch(with bundles: EarlierBundles) -> Mismatch? {
        let given = bundles.knownDigests
        guard given.contains(digest) else { return .digest(digest) }
        if let missing = ancestors.first(where: { !given.contains($0) }) { return .missingAncestor(missing) }
        let covered = Set(texts: ancestors + [digest])
        if let other = given.sortedStrings.first(where: { !covered.contains($0) }) { return .otherBundle(other) }
        let lackingRecords = bundles.records.count { records[$0.key] != $0.value }
        let otherRecords = records.count { bundles.records[$0.key] != $0.value }
        guard lackingRecords + otherRecords == 0 else {
            return .records(lacking: lackingRecords, additional: otherRecords)
        }
        let lackingDetails = bundles.details.subtracting(details).count
        let otherDetails = details.subtracting(bundles.details).count
        guard lackingDetails + otherDetails == 0 else {
            return .details(lacking: lackingDetails, additional: otherDetails)
        }
        return nil
    }
}

/// The reason why a file cannot be used as the index of a bundle.
public enum BundleIndexError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file does not begin with the header of an index.
    case notAnIndex
    /// The version of the format is not supported.
    ///
    /// The value is `nil` if the version is not an integer.
    case unsupportedVersion(Int?)
    /// The checksum does not match the contents.
    case damaged
    /// The checksum matches, but the contents do not have the form of an index.
    case malformed

    /// A description of the error in one line, without a full stop.
    public var description: String {
        switch self {
        case .notAnIndex: "not an index that was written with bundle --index"
        case .unsupportedVersion(let version):
            "index format version \(version.map(String.init) ?? "unknown") is not supported"
        case .damaged: "damaged: its checksum does not match its contents"
        case .malformed: "not a valid index: its header or the order of its keys is wrong"
        }
    }

    /// A hint on how to resolve the error.
    public var remedy: String {
        switch self {
        case .unsupportedVersion: FormatVersion.remedy
        case .notAnIndex, .damaged, .malformed: "use another copy, or pass the earlier bundles with --since-bundle"
        }
    }
}
