import JSONText
import Telemetry

/// How many records there are, by system, by type and by what holds them.
public struct BundleTotals: Sendable, Equatable {
    /// All records.
    public private(set) var records = 0
    /// Records that may be uploaded.
    public private(set) var uploadable = 0
    /// Records by type, written `<system>/<type>`.
    public var types: [String: Int] {
        Dictionary(uniqueKeysWithValues: typeCounts.counts.map { ("\($0.key.system)/\($0.key.type)", $0.value) })
    }
    /// Records by system.
    public var systems: [String: Int] {
        Dictionary(typeCounts.counts.map { ($0.key.system, $0.value) }, uniquingKeysWith: +)
    }
    private var typeCounts = Tally<TypeName>()
    /// Records by the code of what holds them; one that is held twice counts in both.
    public private(set) var holds: [String: Int] = [:]

    private struct TypeName: Hashable, Sendable {
        let system: String
        let type: String
    }

    /// Makes totals of nothing.
    public init() {}

    /// Counts a record.
    public mutating func count(_ record: borrowing RecordSummary) {
        add(1, ofType: record.type, in: record.system.description)
        if record.isUploadable { addUploadable(1) }
        for code in record.holds { addHeld(1, code: code) }
    }

    /// Adds a number of records of one type.
    public mutating func add(_ count: Int, ofType type: String, in system: String) {
        records += count
        typeCounts.add(TypeName(system: system, type: type), count)
    }

    /// Declares a number of the records uploadable.
    public mutating func addUploadable(_ count: Int) { uploadable += count }

    /// Declares a number of the records held for the reason `code`.
    public mutating func addHeld(_ count: Int, code: String) { holds[code, default: 0] += count }

    /// Adds other totals.
    public mutating func add(_ other: BundleTotals) {
        records += other.records
        uploadable += other.uploadable
        typeCounts.add(other.typeCounts)
        holds.merge(other.holds, uniquingKeysWith: +)
    }

    /// The totals as canonical JSON.
    public var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("held", object: CanonicalObject(counts: holds))
        object.set("records", integer: records)
        object.set("system", object: CanonicalObject(counts: systems))
        object.set("type", object: CanonicalObject(counts: types))
        object.set("uploadable", integer: uploadable)
        return object
    }

    /// Reads totals; nil if a part is missing.
    init?(_ fields: JSONFields) {
        guard let records = fields.integer("records"), let uploadable = fields.integer("uploadable"),
            let systems = fields.object("system"), let types = fields.object("type"),
            let holds = fields.object("held")
        else { return nil }
        self.records = records
        self.uploadable = uploadable
        for (name, count) in types.integers {
            guard let slash = name.firstIndex(of: "/") else { return nil }
            let type = TypeName(system: String(name[..<slash]), type: String(name[name.index(after: slash)...]))
            typeCounts.add(type, count)
        }
        guard self.systems == systems.integers else { return nil }
        self.holds = holds.integers
    }
}

extension CanonicalObject {
    /// An object of counts.
    public init(counts: [String: Int]) {
        self.init()
        // In order, for then each comes to stand at the end.
        for (name, count) in counts.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            set(JSONKey(name), integer: count)
        }
    }
}
