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
    /// The keys of the records of the bundle and its ancestors.
    public let records: IndexKeySet
    /// The keys of the quarantine entries and problems of the bundle and its ancestors.
    public let details: IndexKeySet

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
    private static let wordSize = 8
    private static let keySize = 4 * wordSize
    private static let hashSize = 32

    /// Creates an index of the records and details of a bundle and its ancestors.
    public init(digest: String, ancestors: Set<CapturedText>, records: IndexKeySet, details: IndexKeySet) {
        self.digest = digest
        self.ancestors = ancestors.sortedStrings
        self.records = records
        self.details = details
    }

    /// The contents of an index file.
    public var bytes: [UInt8] {
        var bytes = header.bytes
        bytes.reserveCapacity(
            bytes.count + 1 + (records.keys.count + details.keys.count) * Self.keySize + Self.hashSize)
        bytes.append(UInt8(ascii: "\n"))
        for key in records.keys { bytes.append(key) }
        for key in details.keys { bytes.append(key) }
        bytes += SHA256.hash(bytes.span).bytes
        return bytes
    }

    private var header: CanonicalObject {
        var object = CanonicalObject()
        object.set("ancestors", strings: ancestors)
        object.set("details", integer: details.keys.count)
        object.set("digest", string: digest)
        object.set("format", string: Self.format)
        object.set("records", integer: records.keys.count)
        object.set("version", integer: Self.version)
        return object
    }

    /// Parses the contents of an index file.
    public init(_ bytes: [UInt8]) throws(BundleIndexError) {
        guard bytes.starts(with: Self.prefix),
            let end = bytes.prefix(Self.maxHeaderSize).firstIndex(of: UInt8(ascii: "\n")),
            let fields = try? JSONFields(Array(bytes[..<end])), fields.text("format") == Self.format
        else { throw .notAnIndex }
        guard fields.integer("version") == Self.version else {
            throw .unsupportedVersion(fields.integer("version"))
        }
        let start = end + 1
        let checked = bytes.count - Self.hashSize
        guard checked >= start, SHA256.hash(bytes.span.extracting(..<checked)).bytes[...] == bytes[checked...] else {
            throw .damaged
        }
        guard let digest = fields.text("digest"), let ancestors = fields.texts("ancestors"),
            let recordCount = fields.count("records"), let detailCount = fields.count("details"),
            (0...bytes.count).contains(recordCount), (0...bytes.count).contains(detailCount),
            checked - start == (recordCount + detailCount) * Self.keySize,
            let records = IndexKeySet(sorted: Self.keys(in: bytes, at: start, count: recordCount)),
            let details = IndexKeySet(
                sorted: Self.keys(in: bytes, at: start + recordCount * Self.keySize, count: detailCount))
        else { throw .malformed }
        self.init(digest: digest, ancestors: Set(texts: ancestors), records: records, details: details)
        guard ([digest] + ancestors).allSatisfy({ ContentHash(hex: $0) != nil }), !ancestors.contains(digest),
            header.bytes[...] == bytes[..<end]
        else { throw .malformed }
    }

    private static func keys(in bytes: [UInt8], at offset: Int, count: Int) -> [IndexKey] {
        let span = bytes.span
        return (0..<count).map { number in
            let position = offset + number * keySize
            func word(_ index: Int) -> UInt64 {
                (0..<wordSize).reduce(0) { $0 << 8 | UInt64(span[position + wordSize * index + $1]) }
            }
            return IndexKey(identity: word(0), contentHigh: word(1), contentLow: word(2), rank: word(3))
        }
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
        let lackingRecords = bundles.records.countOfKeys(notIn: records)
        let otherRecords = records.countOfKeys(notIn: bundles.records)
        guard lackingRecords + otherRecords == 0 else {
            return .records(lacking: lackingRecords, additional: otherRecords)
        }
        let lackingDetails = bundles.details.countOfKeys(notIn: details)
        let otherDetails = details.countOfKeys(notIn: bundles.details)
        guard lackingDetails + otherDetails == 0 else {
            return .details(lacking: lackingDetails, additional: otherDetails)
        }
        return nil
    }
}

extension [UInt8] {
    /// Appends the words of a key in big-endian order, so that keys and their bytes have the same order.
    fileprivate mutating func append(_ key: IndexKey) {
        for word in [key.identity, key.contentHigh, key.contentLow, key.rank] {
            for shift in stride(from: 56, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
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

// MARK: - Keys

/// A sorted set of the keys of records or details.
///
/// Of several copies of a record, the set contains the key with the lowest rank.
public struct IndexKeySet: Sendable, Equatable {
    /// The keys in ascending order, without duplicates.
    public private(set) var keys: [IndexKey] = []

    /// Creates an empty set.
    public init() {}

    /// Creates a set of `keys`, which can be in any order and contain duplicates.
    public init(_ keys: [IndexKey]) { formUnion(keys) }

    /// Creates a set, or returns `nil` if `keys` are not in strictly ascending order.
    init?(sorted keys: [IndexKey]) {
        guard zip(keys, keys.dropFirst()).allSatisfy({ $0 < $1 && !$0.identifiesCopy(of: $1) }) else { return nil }
        self.keys = keys
    }

    /// Adds all of `newKeys`, which can be in any order.
    public mutating func formUnion(_ newKeys: [IndexKey]) {
        guard !newKeys.isEmpty else { return }
        let (old, new) = (keys, newKeys.sorted())
        keys = []
        keys.reserveCapacity(old.count + new.count)
        var (oldIndex, newIndex) = (0, 0)
        while oldIndex < old.count || newIndex < new.count {
            let takesOld = newIndex == new.count || (oldIndex < old.count && old[oldIndex] < new[newIndex])
            let key = takesOld ? old[oldIndex] : new[newIndex]
            if takesOld { oldIndex += 1 } else { newIndex += 1 }
            if let last = keys.last, last.identifiesCopy(of: key) { continue }
            keys.append(key)
        }
    }

    /// Returns the finding for the record with the key `key`.
    ///
    /// The result is `sameIDOtherPayload` if the set contains only records with the same ID and another payload. It is
    /// `new` or `sameIDOtherPayload`, too, if the set contains a copy instead of which the record should be kept.
    public func finding(for key: IndexKey) -> DuplicateIndex.Finding {
        let first = firstIndex { $0.identity >= key.identity }
        guard first < keys.count, keys[first].identity == key.identity else { return .new }
        guard let copy = copy(of: key) else { return .sameIDOtherPayload }
        return copy.supersedes(key) ? .duplicate : .new
    }

    /// Returns the key of the copy of the record with the key `key`, or `nil` if there is none.
    private func copy(of key: IndexKey) -> IndexKey? {
        let index = firstIndex { $0 >= key || $0.identifiesCopy(of: key) }
        return index < keys.count && keys[index].identifiesCopy(of: key) ? keys[index] : nil
    }

    /// Returns the number of keys that `other` does not contain.
    fileprivate func countOfKeys(notIn other: IndexKeySet) -> Int { keys.count { other.copy(of: $0) != $0 } }

    /// Returns whether the set contains `key`.
    public func contains(_ key: IndexKey) -> Bool {
        copy(of: key) != nil
    }

    /// Returns the index of the first key that satisfies `predicate`, or the number of keys if no key does.
    ///
    /// All later keys must satisfy `predicate`, too.
    private func firstIndex(where predicate: (IndexKey) -> Bool) -> Int {
        var range = keys.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = predicate(keys[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return range.lowerBound
    }
}
