import Bytes
import JSONText
import Telemetry

/// The record counts of a bundle, in total and by system, type and hold code.
public struct BundleTotals: Sendable, Equatable {
    /// The number of all records.
    public private(set) var records = 0
    /// The number of records that may be uploaded.
    public private(set) var uploadableCount = 0
    /// The number of records by type, with keys of the form `<system>/<type>`.
    public var types: [CapturedText: Int] {
        Dictionary(
            uniqueKeysWithValues: typeCounts.counts.map { (CapturedText("\($0.key.system)/\($0.key.type)"), $0.value) })
    }
    /// The number of records by system.
    public var systems: [CapturedText: Int] {
        Dictionary(
            typeCounts.counts.map { (CapturedText($0.key.system), $0.value) },
            uniquingKeysWith: { $0.addingSaturated($1) })
    }
    private var typeCounts = Tally<TypeName>()
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
        records = records.addingSaturated(count)
        typeCounts.add(TypeName(system: system, type: type), count)
    }

    /// Counts `count` of the records that were added with ``add(_:ofType:in:)`` as uploadable.
    public mutating func addUploadable(_ count: Int) { uploadableCount = uploadableCount.addingSaturated(count) }

    /// Counts `count` of the records that were added with ``add(_:ofType:in:)`` as held with the hold code `code`.
    public mutating func addHeld(_ count: Int, code: String) {
        holds[code, default: 0] = holds[code, default: 0].addingSaturated(count)
    }

    /// Adds the counts of `other`.
    public mutating func add(_ other: BundleTotals) {
        records = records.addingSaturated(other.records)
        addUploadable(other.uploadableCount)
        typeCounts.add(other.typeCounts)
        holds.merge(other.holds) { $0.addingSaturated($1) }
    }

    /// The totals as canonical JSON.
    public var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("held", object: CanonicalObject(counts: holds))
        object.set("records", integer: records)
        object.set("system", object: CanonicalObject(counts: systems))
        object.set("type", object: CanonicalObject(counts: types))
        object.set("uploadable", integer: uploadableCount)
        return object
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
            typeCounts.add(TypeName(system: system.string, type: type.string), count)
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
            set(JSONKey(name.string), integer: count)
        }
    }
}
