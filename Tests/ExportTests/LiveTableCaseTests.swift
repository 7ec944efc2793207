import Bytes
import Files
import Foundation
import JSONText
import LiveTables
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Export

/// The executable cases of "BigQuery rows", section 11, with small schemas and, where they exist, those of Mozilla.
@Suite struct LiveTableCaseTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let document: JSONDocument
        let testDescription: String

        func node(_ keys: JSONKey...) -> JSONNode? {
            var node: JSONNode? = document.root
            for key in keys { node = node.flatMap { document.value(of: key, in: $0) } }
            return node
        }
    }

    private static let policy = JSONReadingPolicy(unpairedSurrogates: .keep)
    private static let folder = fixture("bigquery")
    /// The folders of schemas, which are those of the tests and, if it exists, that of Mozilla's.
    static let schemaFolders = ["\(folder)/schemas", "\(repository)/../shared/formats/schemas/bq"].filter {
        FileManager.default.fileExists(atPath: $0)
    }

    static let cases: [Case] = {
        let text = (try? Data(contentsOf: URL(fileURLWithPath: "\(folder)/cases.ndjson"))) ?? Data()
        return text.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard let document = try? JSONDocument(Array(line), policy: policy),
                let name = document.value(of: "case", in: document.root)
            else { return nil }
            return Case(document: document, testDescription: document.string(of: name))
        }
    }()

    @Test func allCasesAreRead() { #expect(Self.cases.count == 75) }

    @Test(arguments: cases.filter { $0.node("given", "names") != nil })
    func names(example: Case) throws {
        let document = example.document
        let names = document.elements(of: try #require(example.node("given", "names")))
        let expected = document.elements(of: try #require(example.node("expected"))).map { document.string(of: $0) }
        let found = names.map { node in
            var name: [UInt8] = []
            ColumnName.append(columnFor: document.bytes(of: node), to: &name)
            return String(decoding: name, as: UTF8.self)
        }
        #expect(found == expected)
    }

    @Test(arguments: cases.filter { $0.node("given", "fields") != nil })
    func fragments(example: Case) throws {
        let document = example.document
        func source(_ keys: JSONKey...) throws -> [UInt8] {
            var node = document.root
            for key in keys { node = try #require(document.value(of: key, in: node)) }
            return document.bytes(of: node).copied()
        }
        let columns = try TableSchema.columns(in: try source("given", "fields"))
        var transform = RowTransform()
        do {
            try transform.add(try JSONDocument(try source("given", "json"), policy: Self.policy), columns)
            try transform.finish(columns)
        } catch let refusal as RowRefusal {
            let expected = try #require(example.node("expected", "refused"))
            #expect(refusal.reason == document.string(of: expected))
            return
        }
        let row = try #require(example.node("expected", "row"))
        #expect(String(readingUTF8: transform.row) == String(decoding: document.canonicalBytes(of: row), as: UTF8.self))
        let rest = try #require(example.node("expected", "rest"))
        #expect(String(readingUTF8: transform.rest) == document.string(of: rest))
    }

    @Test("Random changes of schemas and payloads lead to canonical rows or errors")
    func changedFragments() throws {
        var generator = SeededGenerator(seed: 66)
        var transform = RowTransform()
        var rowCount = 0
        for example in Self.cases {
            guard let fields = example.node("given", "fields"), let json = example.node("given", "json") else {
                continue
            }
            let (schema, payload) = (
                example.document.canonicalBytes(of: fields), example.document.canonicalBytes(of: json)
            )
            for _ in 0..<300 {
                let changed = [schema, payload].map { bytes in
                    var bytes = bytes
                    for _ in 0..<Int.random(in: 0...2, using: &generator) {
                        let index = Int.random(in: bytes.indices, using: &generator)
                        bytes[index] = bytes.randomElement(using: &generator) ?? 0
                    }
                    return bytes
                }
                guard let columns = try? TableSchema.columns(in: changed[0]),
                    let document = try? JSONDocument(changed[1]), document.kind(of: document.root) == .object
                else { continue }
                transform.removeAll()
                do throws(RowRefusal) {
                    try transform.add(document, columns)
                    try transform.finish(columns)
                } catch {
                    continue
                }
                rowCount += 1
                let row = transform.row.copied()
                let parsed = try JSONDocument(row)
                #expect(parsed.canonicalBytes(of: parsed.root) == row)
                _ = try JSONDocument(transform.rest.copied())
            }
        }
        #expect(rowCount > 1000)
    }

    @Test(arguments: schemaFolders, cases.filter { $0.node("given", "payload") != nil })
    func records(schemas: String, example: Case) throws {
        let document = example.document
        let record = try Self.record(of: example)
        var line: [UInt8] = []
        let layout = record.write(to: &line)
        var batch = RecordBatch(firstNumber: 1)
        batch.add(RecordSummary(record), line: line[...], payload: line[layout.payload])
        var builder = LiveRowBuilder(
            Systems.table, try SchemaFolder(path: schemas), nil,
            writesHeldRecords: example.node("given", "--held") != nil)
        let rows = try builder.rows(of: batch)
        let expected = document.member(at: 0, of: try #require(example.node("expected")))
        switch document.string(of: expected.key) {
        case "refused":
            #expect(rows.counts.refusals == [CapturedText(document.string(of: expected.value)): 1])
        case "no-schema": #expect(rows.counts.missingSchemas.values.reduce(0, +) == 1)
        case "held": #expect(rows.counts.held == 1)
        case "no-target": #expect(rows.counts.withoutTarget == 1)
        case "other-system": #expect(rows.counts.ofOtherSystems == 1)
        case let table:
            #expect(rows.counts == LiveTableCounts(rows: [CapturedText(table): 1]))
            let text = try #require(rows.texts.values.first)
            let row = try JSONDocument(text.bytes, policy: Self.policy)
            #expect(
                Self.matches(row, row.root, document, expected.value), "\(String(decoding: text.bytes, as: UTF8.self))")
        }
    }

    private static func record(of example: Case) throws -> Record {
        let document = example.document
        func text(_ node: JSONNode?) -> String? { node.map { document.string(of: $0) } }
        let path = text(example.node("given", "path") ?? example.node("given", "target", "path"))
        let isTelemetry = path?.hasPrefix("/submit/telemetry/") ?? true
        let system = text(example.node("given", "system")) ?? (isTelemetry ? "mozilla" : "glean")
        var target = path.map { Target(path: $0) }
        if let headers = example.node("given", "target", "headers") {
            for position in 0..<document.memberCount(of: headers) {
                let member = document.member(at: position, of: headers)
                target?.headers[document.string(of: member.key)] = document.string(of: member.value)
            }
        }
        let holds = example.node("given", "held").map { document.elements(of: $0) } ?? []
        return Record(
            system: SystemName(system), type: "case", id: "case", target: target,
            payload: document.canonicalBytes(of: try #require(example.node("given", "payload"))),
            source: Source(capture: "", path: "", store: .ndjsonLine, index: 0),
            held: holds.map { Hold(text: document.string(of: $0)) })
    }

    /// Returns whether a value has the expected members, of which null means absent.
    ///
    /// Values other than objects must be equal.
    private static func matches(
        _ document: JSONDocument, _ found: JSONNode, _ expectations: JSONDocument, _ expected: JSONNode
    ) -> Bool {
        guard expectations.kind(of: expected) == .object, document.kind(of: found) == .object else {
            return document.canonicalBytes(of: found) == expectations.canonicalBytes(of: expected)
        }
        return (0..<expectations.memberCount(of: expected)).allSatisfy { position in
            let member = expectations.member(at: position, of: expected)
            let value = document.value(of: JSONKey(expectations.string(of: member.key)), in: found)
            guard let value else {
                return expectations.kind(of: member.value) == .null
            }
            return document.kind(of: value) == .null && expectations.kind(of: member.value) == .null
                || matches(document, value, expectations, member.value)
        }
    }
}
