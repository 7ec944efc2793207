import Bytes
import Hashing
import JSONText
import LiveTables
import Telemetry

/// The tables of a folder of schemas, found by namespace, document type and version.
///
/// Names of records are only looked up, and are never parts of a path, because they can be forged.
public struct TableIndex: Sendable {
    /// The names of the files of the tables, such as `telemetry.core_v7`, in the order of the initializer.
    public let names: [String]
    private let tables: [CapturedText: Int]
    private let documentTypes: Set<CapturedText>

    /// Creates an index of tables, or throws an error if two tables have the same name.
    init(_ tables: [(namespace: String, documentType: String, version: String)]) throws(TableSchemaError) {
        var names: [String] = []
        var found: [CapturedText: Int] = [:]
        var seen: Set<CapturedText> = []
        var documentTypes: Set<CapturedText> = []
        for (index, table) in tables.enumerated() {
            let documentType = Self.documentType(table.namespace, table.documentType)
            let name = "\(documentType)_v\(table.version.replacing("-", with: "_"))"
            guard seen.insert(name) else {
                throw TableSchemaError("another file describes the table \(name), too")
            }
            names.append(name)
            // Most records have the names of the files, which are found without snake case.
            for name in [documentType, "\(table.namespace)/\(table.documentType)"] {
                documentTypes.insert(name)
                found["\(name)/\(table.version)"] = index
            }
        }
        self.names = names
        self.tables = found
        self.documentTypes = documentTypes
    }

    private static func documentType(_ namespace: String, _ type: String) -> String {
        "\(ColumnName.snakeCase(namespace)).\(ColumnName.snakeCase(type))"
    }

    /// Returns whether there is a table of any version.
    func contains(namespace: String, documentType: String) -> Bool {
        documentTypes.contains("\(namespace)/\(documentType)")
            || documentTypes.contains(Self.documentType(namespace, documentType))
    }

    /// Returns the index of a table, or `nil` if there is none.
    func table(namespace: String, documentType: String, version: String) -> Int? {
        tables["\(namespace)/\(documentType)/\(version)"]
            ?? tables["\(Self.documentType(namespace, documentType))/\(version)"]
    }
}

/// The number of records in each class of an export of live tables.
public struct LiveTableCounts: Sendable, Equatable {
    /// The number of rows of each table.
    public internal(set) var rows: [CapturedText: Int] = [:]
    /// The number of records without a schema, by namespace, document type and version.
    public internal(set) var missingSchemas: [CapturedText: Int] = [:]
    /// The number of records that the pipeline would not write to a live table, by reason.
    public internal(set) var refusals: [CapturedText: Int] = [:]
    /// The number of held records that were omitted.
    public internal(set) var held = 0
    /// The number of records without a target.
    public internal(set) var withoutTarget = 0
    /// The number of records of systems whose uploads Mozilla's pipeline does not receive.
    public internal(set) var ofOtherSystems = 0

    /// The maximum number of schemas and reasons that are counted individually, because records can be forged.
    private static let keyLimit = 1000
    private static let others: CapturedText = "others"

    mutating func add(_ other: LiveTableCounts) {
        Self.add(other.rows, to: &rows)
        Self.add(other.missingSchemas, to: &missingSchemas)
        Self.add(other.refusals, to: &refusals)
        held += other.held
        withoutTarget += other.withoutTarget
        ofOtherSystems += other.ofOtherSystems
    }

    private static func add(_ counts: [CapturedText: Int], to all: inout [CapturedText: Int]) {
        // The order decides which keys are counted individually.
        for (key, count) in counts.sorted(by: { $0.key < $1.key }) {
            all[all[key] != nil || all.count < keyLimit ? key : others, default: 0] += count
        }
    }
}

/// The rows of a batch of records.
struct LiveRows: Sendable {
    /// The lines of each table, by its index.
    var texts: [Int: TextBuffer] = [:]
    /// The lines about held records with rows.
    var held: [UInt8] = []
    var counts = LiveTableCounts()
}

/// A builder of rows of live tables from the lines of records.
///
/// The memory is reused for later batches.
///
/// Source: "BigQuery rows".
struct LiveRowBuilder {
    private let systems: SystemTable
    private let schemas: SchemaFolder
    private let deliveries: DeliveryTimes?
    private let writesHeldRecords: Bool
    /// The record with its payload replaced by 0.
    private var envelope = JSONDocument()
    private var payload = JSONDocument()
    private var attributes = JSONDocument()
    private var attributeText = TextBuffer()
    private var transform = RowTransform()
    private var columns: [Int: TableColumns] = [:]

    /// The maximum size of a payload that the server accepts, in bytes.
    private static let sizeLimit = 8 << 20
    private static let unwantedTypes: Set<CapturedText> = ["account-ecosystem", "pageload-domain"]
    /// The client id of installations that discarded their own.
    private static let canary: CapturedText = "c0ffeec0-ffee-c0ff-eec0-ffeec0ffeec0"
    private static let metadata: JSONKey = "metadata"

    init(_ systems: SystemTable, _ schemas: SchemaFolder, _ deliveries: DeliveryTimes?, writesHeldRecords: Bool) {
        self.systems = systems
        self.schemas = schemas
        self.deliveries = deliveries
        self.writesHeldRecords = writesHeldRecords
    }

    /// Returns the rows of a batch.
    mutating func rows(of batch: RecordBatch) throws -> LiveRows {
        var rows = LiveRows()
        for entry in batch.entries { try addRow(of: entry, in: batch.text, to: &rows) }
        envelope.reset()
        payload.reset()
        return rows
    }

    private mutating func addRow(
        of entry: RecordBatch.Entry, in text: [UInt8], to rows: inout LiveRows
    ) throws {
        guard let format = systems[entry.summary.system]?.liveTables else { return rows.counts.ofOtherSystems += 1 }
        let isWritten =
            entry.summary.isUploadable || writesHeldRecords && !entry.summary.holds.contains(Hold.pseudonymized.code)
        guard isWritten else { return rows.counts.held += 1 }
        _ = try envelope.readValue(in: text, range: entry.envelope, policy: RowBuilder.readingPolicy)
        guard let target = envelope.value(of: RecordKeys.target, in: envelope.root),
            let path = envelope.text(RecordKeys.path, in: target)
        else { return rows.counts.withoutTarget += 1 }
        do {
            guard entry.payload.count <= Self.sizeLimit else { throw RowRefusal("larger than 8 MiB") }
            var message = try PipelineMessage(path: path, headers: headers(of: target))
            message.submissionTimestamp = deliveries.flatMap { deliveryTime(of: entry, in: text, from: $0) }
            _ = try payload.readValue(in: text, range: entry.payload, policy: RowBuilder.readingPolicy)
            guard let table = try findTable(of: &message, format) else {
                let version = message.version.map { "/\($0)" } ?? ""
                let name = "\(message.namespace)/\(message.documentType)\(version)"
                return rows.counts.missingSchemas[name, default: 0] += 1
            }
            try makeRow(of: message, table)
            rows.texts[table, default: TextBuffer()].append(copying: transform.row)
            rows.texts[table, default: TextBuffer()].append(UInt8(ascii: "\n"))
            rows.counts.rows[schemas.index.names[table], default: 0] += 1
            if !entry.summary.isUploadable { addHolds(of: message, table, to: &rows.held) }
        } catch let refusal as RowRefusal {
            rows.counts.refusals[refusal.reason, default: 0] += 1
        }
    }

    private func headers(of target: JSONNode) -> [CapturedText: String] {
        guard let headers = envelope.value(of: RecordKeys.headers, in: target) else { return [:] }
        var found: [CapturedText: String] = [:]
        for member in envelope.members(of: headers) {
            found[envelope.string(of: member.key)] = envelope.string(of: member.value)
        }
        return found
    }

    private func deliveryTime(of entry: RecordBatch.Entry, in text: [UInt8], from deliveries: DeliveryTimes) -> String?
    {
        envelope.text(RecordKeys.id, in: envelope.root).flatMap { id in
            deliveries.time(
                system: entry.summary.system, type: entry.summary.type, id: id,
                payloadHash: PayloadHash.hex(of: Array(text[entry.payload])))
        }
    }

    /// Processes the payload as the decoder of the pipeline does, and returns the table of the row.
    ///
    /// Returns `nil` if there is no schema.
    ///
    /// - Throws: ``RowRefusal`` if the pipeline rejects the message.
    private mutating func findTable(
        of message: inout PipelineMessage, _ format: any LiveTableFormat
    ) throws(RowRefusal) -> Int? {
        message.readReservedKeys(of: payload)
        message.normalizeClientID(of: &payload)
        if Self.unwantedTypes.contains(message.documentType) {
            throw RowRefusal("unwanted: \(message.documentType)")
        }
        if let reason = format.rejection(of: message, payload: payload) { throw RowRefusal(reason) }
        if message.clientID.map({ CapturedText($0) }) == Self.canary { throw RowRefusal("canary client id") }
        format.redact(&payload, of: message)
        guard schemas.index.contains(namespace: message.namespace, documentType: message.documentType) else {
            return nil
        }
        return schemas.index.table(
            namespace: message.namespace, documentType: message.documentType,
            version: try message.version(in: payload))
    }

    /// Transforms the attributes and the payload into a row.
    private mutating func makeRow(of message: PipelineMessage, _ table: Int) throws {
        if columns[table] == nil { columns[table] = try schemas.columns(of: table) }
        guard let columns = columns[table] else { return }
        var message = message
        message.readAttributes(of: payload)
        attributeText.removeAll()
        message.writeAttributes(to: &attributeText)
        try attributes.read(attributeText.bytes)
        transform.removeAll()
        try transform.add(attributes, columns, ignoring: [Self.metadata])
        try transform.add(payload, columns, ignoring: PipelineMessage.reservedKeys)
        let metadata = attributes.value(of: Self.metadata, in: attributes.root).map { (attributes, $0) }
        try transform.finish(columns, metadata: metadata)
    }

    private func addHolds(of message: PipelineMessage, _ table: Int, to output: inout [UInt8]) {
        let holds = envelope.value(of: RecordKeys.held, in: envelope.root).map { envelope.elements(of: $0) } ?? []
        let line: CanonicalObject = [
            "document_id": message.documentID, "held": holds.map { envelope.string(of: $0) },
            "table": schemas.index.names[table],
        ]
        output += line.bytes
        output.append(UInt8(ascii: "\n"))
    }
}
