import Files
import Foundation
import JSONText
import Telemetry
import TestSupport
import Testing

/// A Leanplum case: a capture and its expected results.
struct LeanplumCase: CustomTestStringConvertible, Sendable {
    let name: String

    /// The path of the folder with all cases.
    let folder: String

    /// The path of the capture.
    var path: String { "\(folder)/\(name)" }
    var testDescription: String { name }

    /// All cases.
    static var all: [LeanplumCase] { get throws { try list.get() } }

    private static let list = Result {
        let folder = try SharedCaptures.unpacked("leanplum")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let prefixes = ["sqlite-", "hostile-", "plist-", "userdefaults"]
        return names.filter { name in prefixes.contains { name.hasPrefix($0) } }.sorted().map {
            LeanplumCase(name: $0, folder: folder)
        }
    }

    static func named(_ name: String) throws -> LeanplumCase {
        try #require(try all.first { $0.name == name })
    }

    func oracle() throws -> LeanplumOracle {
        try LeanplumOracle("\(folder)/expected-\(name).json")
    }
}

/// The expected results of a case.
///
/// Numbers are compared as text, without conversion to floating point.
struct LeanplumOracle {
    /// The canonical JSON of the members of each record, by key.
    let records: [[String: String]]
    /// The canonical JSON of all requests, including those that are in no record.
    let requests: [String]
    /// The codes of the items in quarantine, in order.
    let rejects: [String]
    let isDamaged: Bool
    /// The number of requests after the damage.
    let salvageable: Int

    init(_ path: String) throws {
        let document = try JSONDocument(try InputFile(path: path).contents(limit: 64 << 20))
        func list(_ key: JSONKey, in node: JSONNode) -> [JSONNode] {
            document.value(of: key, in: node).map { document.elements(of: $0) } ?? []
        }
        func text(_ node: JSONNode) -> String { String(decoding: document.canonicalBytes(of: node), as: UTF8.self) }
        func word(_ key: JSONKey, in node: JSONNode) -> String? {
            document.value(of: key, in: node).flatMap {
                document.kind(of: $0) == .string ? document.string(of: $0) : nil
            }
        }
        records = list("records", in: document.root).map { record in
            let members = (0..<document.memberCount(of: record)).map { document.member(at: $0, of: record) }
            return Dictionary(uniqueKeysWithValues: members.map { (document.string(of: $0.key), text($0.value)) })
        }
        let requests = list("requests", in: document.root)
        self.requests = try requests.map { text(try #require(document.value(of: "args", in: $0))) }
        salvageable = list("salvageableRowids", in: document.root).count
        let error = word("error", in: document.root)
        isDamaged = error != nil
        // A missing item has no bytes. A request without an action is in no record, and is therefore kept separately.
        var skipped = list("skipped", in: document.root).compactMap { entry in
            word("reason", in: entry).map { (Self.index(entry, in: document), $0) }
        }
        skipped += requests.compactMap { request in
            let isNamed = list("issues", in: request).contains { document.string(of: $0) == "missing_action" }
            let source = document.value(of: "source", in: request)
            return isNamed ? source.map { (Self.index($0, in: document), "missing_action") } : nil
        }
        rejects =
            skipped.sorted { $0.0 < $1.0 }.map(\.1).filter { $0 != "missing_item" } + (error.map { [$0] } ?? [])
    }

    private static func index(_ node: JSONNode, in document: JSONDocument) -> Int {
        document.value(of: "index", in: node).flatMap { Int(document.string(of: $0)) } ?? -1
    }
}

extension Record {
    /// The canonical JSON of the requests in a Leanplum record.
    var requests: [String] {
        get throws {
            let document = try JSONDocument(payload)
            let list = try #require(document.value(of: "data", in: document.root))
            return document.elements(of: list).map {
                String(decoding: document.canonicalBytes(of: $0), as: UTF8.self)
            }
        }
    }
}
