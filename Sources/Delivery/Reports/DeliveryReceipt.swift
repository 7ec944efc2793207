import Bundle
import Bytes
import Files
import JSONText
import SQLite
import Telemetry

/// A statement of the outcome of each record of some bundles, as an in-toto Statement v1.
///
/// Its subjects are the files of the bundles. It contains no credentials, and identifies servers only by address.
///
/// Source: "Receipts", "Delivery receipts".
public struct DeliveryReceipt: Sendable {
    /// The run of the program that made the receipt.
    public enum Run: Sendable {
        /// A job that began at `start` and ended at `end`, with the addresses of the servers for each system.
        case job(start: Timestamp, end: Timestamp, endpoints: [SystemName: Set<CapturedText>])
        /// A query of the ledger without a job.
        case query
    }

    let run: Run
    let origin: Receipt.Origin
    let bundles: [BundleOutcomes]
    var skippedBundles: [SkippedBundle] = []

    /// The number of records with each outcome in all bundles.
    private var counts: [OutcomeGroup: Int] {
        bundles.reduce(into: [:]) { $0.merge($1.counts, uniquingKeysWith: +) }
    }

    /// A sentence such as `of these 12 records 9 were accepted, 2 were refused with 400, 1 is held`.
    public var summary: String {
        let counts = counts
        let total = counts.values.reduce(0, +)
        let phrases = OutcomeName.allCases.flatMap { name in
            var byStatus: [CapturedText: Int] = [:]
            for (group, count) in counts where group.name == name {
                let status = name == .refused ? group.httpStatus.map { " with \($0)" } : nil
                byStatus[status ?? "", default: 0] += count
            }
            return byStatus.sorted { $0.key < $1.key }.map { "\($1) \(name.phrase(isPlural: $1 != 1))\($0)" }
        }
        guard total > 0 else { return "the bundles contain no records" }
        return "of \(total == 1 ? "this 1 record" : "these \(total) records") \(phrases.joined(separator: ", "))"
    }

    /// Returns the receipt as a statement that lists the objects in `records`, or no objects if `records` is `nil`.
    public func statement(listing records: CanonicalObject.Elements? = nil) -> Statement {
        Statement(
            predicateType: Statement.deliveryType, predicate: predicate,
            arrays: records.map { [(JSONKey("records"), $0)] } ?? [], subjects: bundles.flatMap(\.files))
    }

    private var predicate: CanonicalObject {
        var object: CanonicalObject = [
            "bundles": bundles.map(\.json),
            "skipped": skippedBundles.map { ["name": $0.name, "reason": $0.reason] as CanonicalObject },
        ]
        object.set(outcomes: counts)
        switch run {
        case .job(let start, let end, let endpoints):
            object.set("command", "send")
            object.set("start", start.description)
            object.set("end", end.description)
            var servers = CanonicalObject()
            for (system, addresses) in endpoints {
                servers.set(JSONKey(system.description), addresses.sortedStrings)
            }
            object.set("endpoints", servers)
        case .query: object.set("command", "receipt")
        }
        origin.add(to: &object, program: "pingferry-upload")
        return object
    }

    /// Returns the object that describes `record`, a record of the bundle at `bundleIndex`, in the receipt.
    ///
    /// `released` contains the hold codes from which the operator has released the record.
    static func json(
        of record: borrowing Record, inBundle bundleIndex: Int, released: [String], _ outcome: RecordOutcome
    ) -> CanonicalObject {
        var object: CanonicalObject = [
            "bundle": bundleIndex, "id": record.id, "released": released, "sha256": PayloadHash.hex(of: record.payload),
            "system": record.system.description, "time": outcome.time?.description, "type": record.type,
        ]
        outcome.group.add(to: &object)
        return object
    }
}

/// A bundle and the outcomes of its records.
struct BundleOutcomes: Sendable {
    let name: String
    let files: [Receipt.File]
    let digest: String
    /// The signer of the bundle, or `nil` if no signature was verified.
    var signer: Signer?
    /// The number of records with each outcome.
    let counts: [OutcomeGroup: Int]

    fileprivate var json: CanonicalObject {
        var object: CanonicalObject = ["digest": digest, "files": files.map(\.name), "name": name]
        object.set(outcomes: counts)
        if let signer { object.set("signer", signer.json) }
        return object
    }
}

/// A bundle that was skipped because it cannot be used.
struct SkippedBundle: Sendable {
    let name: String
    let reason: String
}

extension CanonicalObject {
    /// Sets the number of records, and an array with the number of records with each outcome.
    fileprivate mutating func set(outcomes counts: [OutcomeGroup: Int]) {
        set("total", counts.values.reduce(0, +))
        let groups = counts.sorted { $0.key < $1.key }.map { group, count in
            var object: CanonicalObject = ["records": count]
            group.add(to: &object)
            return object
        }
        set("outcomes", groups)
    }
}

extension OutcomeName {
    /// Returns the verb phrase for the outcome in the summary.
    fileprivate func phrase(isPlural: Bool) -> String {
        switch self {
        case .delivered: isPlural ? "were accepted" : "was accepted"
        case .refused: isPlural ? "were refused" : "was refused"
        case .held: isPlural ? "are held" : "is held"
        case .waiting: isPlural ? "wait" : "waits"
        case .inFlight: isPlural ? "are in flight" : "is in flight"
        case .excluded: isPlural ? "are not sent any more" : "is not sent any more"
        }
    }
}

/// The verified bundles that a delivery receipt describes, and the names and hashes of their files.
///
/// The hashes are computed before a job begins, so that a receipt can be made even if a bundle changes during the job.
public struct ReceiptSource: Sendable {
    private let verified: VerifiedBundles
    /// The unique names of the bundles.
    private let names: [String]
    private let skippedBundles: [SkippedBundle]
    /// The files of each bundle.
    private let files: [[Receipt.File]]

    /// Creates a source by computing the hashes of all files of the bundles in `verified`.
    public init(_ verified: VerifiedBundles) throws(UnusableBundleError) {
        let unusable = verified.unusableBundles
        let labels = PathLabels.labels(ofPaths: verified.readers.map(\.path) + unusable.map(\.path))
        names = Array(labels.prefix(verified.readers.count))
        skippedBundles = zip(labels.dropFirst(names.count), unusable).map {
            SkippedBundle(name: $0, reason: "\($1.error)")
        }
        var files: [[Receipt.File]] = []
        for (reader, name) in zip(verified.readers, names) {
            do throws(FileError) {
                let hashes = try reader.fileHashes()
                guard try reader.isUnchanged() else { throw FileError(changedFileAt: reader.path) }
                files.append(zip(reader.fileNames(for: name), hashes).map { Receipt.File(name: $0, sha256: $1) })
            } catch {
                throw UnusableBundleError(path: reader.path, error: .container(ContainerError(at: 0, .file(error))))
            }
        }
        self.files = files
        self.verified = verified
    }

    /// The records of the bundles.
    public var pool: CandidatePool { verified.pool }

    /// Returns the addresses of the servers in `servers` that receive records of the bundles, by system.
    public func endpoints(among servers: ServerTable) -> [SystemName: Set<CapturedText>] {
        let types = Set(pool.candidates.map(\.typeIndex)).map { pool.names.types[$0] }
        return types.reduce(into: [:]) { endpoints, type in
            if let server = servers[type] { endpoints[type.system, default: []].insert(server.endpoint.address) }
        }
    }

    /// Returns the receipt for the records of the pool, where `outcomes` contains their outcomes in the same order.
    public func receipt(_ outcomes: [RecordOutcome], run: DeliveryReceipt.Run, origin: Receipt.Origin)
        -> DeliveryReceipt
    {
        var start = 0
        let bundles = verified.readers.indices.map { index in
            let end = pool.candidates[start...].firstIndex { $0.location.bundleIndex > index } ?? pool.count
            defer { start = end }
            return BundleOutcomes(
                name: names[index], files: files[index], digest: verified.readers[index].manifest.digest,
                signer: verified.readers[index].signer,
                counts: outcomes[start..<end].reduce(into: [:]) { $0[$1.group, default: 0] += 1 })
        }
        return DeliveryReceipt(run: run, origin: origin, bundles: bundles, skippedBundles: skippedBundles)
    }

    /// Calls `body` with the object for each record, in the order of the bundles.
    ///
    /// The records are read from the bundles again, so that memory does not grow with the size of the list.
    ///
    /// - Throws: ``UnusableBundleError`` if a bundle has changed, or an error of `body`.
    public func forEachRecord(_ outcomes: [RecordOutcome], _ body: (CanonicalObject) throws -> Void) throws {
        for (index, outcome) in outcomes.enumerated() {
            let location = pool.location(of: index)
            let record = try verified.source.record(at: location)
            try body(
                DeliveryReceipt.json(
                    of: record, inBundle: Int(location.bundleIndex), released: releasedCodes(of: record, at: index),
                    outcome))
        }
    }

    /// Returns the hold codes of `record`, the record at `index` of the pool, from which the operator has released it.
    private func releasedCodes(of record: borrowing Record, at index: Int) -> [String] {
        guard !record.held.isEmpty else { return [] }
        let remaining = pool.traits(of: index).holds
        var released: [CapturedText] = []
        for code in record.held.map({ CapturedText($0.code) })
        where !remaining.contains(code) && !released.contains(code) {
            released.append(code)
        }
        return released.map(\.string)
    }
}

/// The outcome of a record in a delivery receipt: its status, and the answer that settled it.
public struct RecordOutcome: Sendable, Equatable {
    let status: RecordStatus
    /// The HTTP status of the answer that settled the record.
    ///
    /// The value is `nil` if the ledger does not list the record as delivered or refused, or if other requests had
    /// delivered all of its events.
    var httpStatus: Int?
    /// The time at which the record was settled, in whole seconds, or `nil` if it is not settled or the stored time is
    /// invalid.
    var time: Timestamp?

    /// The group in which a delivery receipt counts the record.
    var group: OutcomeGroup {
        OutcomeGroup(name: status.name, reason: status.receiptReason, httpStatus: httpStatus)
    }
}

/// The parts of an outcome by which a delivery receipt groups records to count them.
struct OutcomeGroup: Sendable, Hashable {
    /// The name of the status of the records.
    let name: OutcomeName
    /// The hold codes of held records, the code and detail of waiting records, or `nil` for other records.
    @OptionalCapturedText private(set) var reason: String?
    /// The HTTP status of the answer, or `nil` if no answer settled the records.
    let httpStatus: Int?

    /// Sets the members that describe the outcome.
    func add(to object: inout CanonicalObject) {
        object.set("outcome", name.rawValue)
        object.set("reason", reason)
        object.set("status", httpStatus)
    }
}

/// The names of statuses, in the order in which a summary lists them.
enum OutcomeName: String, Sendable, CaseIterable {
    case delivered, refused, held, waiting
    case inFlight = "in-flight"
    case excluded
}

extension OutcomeGroup: Comparable {
    /// Returns whether `left` is listed before `right`.
    static func < (left: OutcomeGroup, right: OutcomeGroup) -> Bool {
        (left.name.rawValue, left.httpStatus ?? 0, CapturedText(left.reason ?? ""))
            < (right.name.rawValue, right.httpStatus ?? 0, CapturedText(right.reason ?? ""))
    }
}

extension RecordStatus {
    /// The name of the status in a delivery receipt.
    fileprivate var name: OutcomeName {
        switch self {
        case .delivered: .delivered
        case .excluded: .excluded
        case .refused: .refused
        case .held: .held
        case .inFlight: .inFlight
        case .waiting: .waiting
        }
    }

    /// The reason in a delivery receipt, without text from the server, or `nil` if the status needs no reason.
    fileprivate var receiptReason: String? {
        switch self {
        case .delivered, .excluded, .refused, .inFlight: nil
        case .held(let codes): codes.joined(separator: ", ")
        case .waiting(let reason): reason.detail.map { "\(reason.code): \($0)" } ?? reason.code
        }
    }
}

extension LedgerView {
    /// Returns the outcomes of all records of `pool` at one moment, in the order of the pool.
    public func recordOutcomes(of pool: CandidatePool, today: Int) throws(LedgerError) -> [RecordOutcome] {
        try read { db in
            let status = PoolStatus(
                of: pool, try db.ledgerState(of: pool, today: today), try db.recordedReasons(of: pool))
            return try zip(pool.candidates, status.records).map { candidate, status in
                switch status {
                case .delivered, .refused: try db.outcome(status, settling: candidate.key)
                case .excluded, .held, .inFlight, .waiting: RecordOutcome(status: status)
                }
            }
        }
    }
}

extension Database {
    /// Returns the outcome of a record with the answer that settled it, if there is one.
    fileprivate func outcome(_ status: RecordStatus, settling key: RecordKey) throws -> RecordOutcome {
        var outcome = RecordOutcome(status: status)
        try rows("SELECT status, time FROM settled WHERE identity = ? AND content = ?", key.columns) {
            row in
            // A list whose events were delivered by other requests has the status 0.
            outcome.httpStatus = row[0] == 0 ? nil : row[0]
            outcome.time = Timestamp(seconds: row[1])
        }
        return outcome
    }
}
