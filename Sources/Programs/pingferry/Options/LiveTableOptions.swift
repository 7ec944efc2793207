import ArgumentParser
import Bytes
import Console
import Export
import Files
import JSONText
import Systems

/// The options of `convert --to bigquery`.
struct LiveTableOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The schemas of the tables: files NAMESPACE/DOCTYPE/DOCTYPE.VERSION.bq in this folder.",
            valueName: "folder"), completion: .directory)
    var schemas: String?

    @Option(
        help: ArgumentHelp(
            """
            A delivery receipt with records, whose times become submission_timestamp. It is null for all other records. \
            (repeatable)
            """, valueName: "file"), completion: .file())
    var deliveries: [String] = []

    @Flag(help: "Write held records, too, and list them in held.ndjson.")
    var held = false

    @Flag(help: "Records without a schema do not change the exit status.")
    var skipUnknown = false

    /// The paths that are read.
    var paths: [String] { [schemas].compactMap(\.self) + deliveries }

    /// Throws a usage error if the options cannot be used with a format.
    func validate(for format: ConvertFormat, isPseudonymized: Bool) throws {
        guard format == .bigquery else {
            for (option, isUsed) in [
                ("--schemas", schemas != nil), ("--deliveries", !deliveries.isEmpty), ("--held", held),
                ("--skip-unknown", skipUnknown),
            ] where isUsed {
                throw ValidationError("\(option) requires --to bigquery, and cannot be used with \(format.rawValue)")
            }
            return
        }
        if schemas == nil { throw ValidationError("--to bigquery requires --schemas") }
        if isPseudonymized {
            throw ValidationError(
                "--to bigquery cannot be used with --pseudonymize, because sample_id of a pseudonym is meaningless")
        }
    }

    /// Opens the schemas and receipts, and creates the output.
    func export(to path: String, replacing: Bool, limit: JobLimit) throws -> LiveTableExport {
        let folder = try SchemaFolder(path: schemas ?? "")
        var times = DeliveryTimes()
        for path in deliveries { try times.read(path) }
        return try LiveTableExport(
            path: path, replacing: replacing, systems: Systems.table, schemas: folder,
            deliveries: deliveries.isEmpty ? nil : times, writesHeldRecords: held, limit: limit)
    }

    /// Returns whether records were not written that the exit status reports.
    func isIncomplete(_ counts: LiveTableCounts) -> Bool {
        !counts.refusals.isEmpty || !skipUnknown && !counts.missingSchemas.isEmpty
    }
}

extension LiveTableCounts {
    /// The number of records in each class, in the order of the classes.
    private var classes: [(name: String, count: Int)] {
        [
            ("other-system", ofOtherSystems), ("held", held), ("no-target", withoutTarget),
            ("refused", refusals.values.reduce(0, +)), ("no-schema", missingSchemas.values.reduce(0, +)),
            ("written", rows.values.reduce(0, +)),
        ]
    }

    /// A phrase such as `5 rows in 2 tables, not written: held 2, no-schema 1`.
    var sentence: String {
        let omitted = classes.dropLast().filter { $0.count > 0 }.map { "\($0.name) \($0.count)" }
        let written = rows.values.reduce(0, +)
        let rowCount = "\(written.counted("row")) in \(rows.count.counted("table"))"
        return omitted.isEmpty ? rowCount : "\(rowCount), not written: \(omitted.joined(separator: ", "))"
    }

    /// Adds the counts to the summary in JSON.
    func add(to object: inout CanonicalObject) {
        var members = CanonicalObject()
        for (name, count) in classes { members.set(JSONKey(name), count) }
        object.set("classes", members)
        object.set("noSchema", Self.list(missingSchemas, "schema"))
        object.set("refused", Self.list(refusals, "reason"))
    }

    /// Returns counts as objects, because keys of the summary contain no spaces or colons.
    private static func list(_ counts: [CapturedText: Int], _ name: JSONKey) -> [CanonicalObject] {
        counts.sorted { $0.key < $1.key }.map { key, count in [name: key.string, "records": count] }
    }

    /// Prints the number of records in each class, of rows of each table, and of records that were not written by reason.
    func printDetails() {
        StandardError.write("pingferry: \(classes.map { "\($0.name) \($0.count)" }.joined(separator: ", "))")
        for (name, counts) in [("rows", rows), ("refused", refusals), ("no-schema", missingSchemas)] {
            for (key, count) in counts.sorted(by: { $0.key < $1.key }) {
                StandardError.write("pingferry: \(name): \(key) \(count)")
            }
        }
        if !missingSchemas.isEmpty {
            StandardError.write("hint: pass newer schemas, or --skip-unknown")
        }
    }
}
