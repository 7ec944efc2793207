import Foundation
import JSONText
import TestSupport
import Testing

/// The HTTP archives beside the stores of Leanplum's SDK.
enum RequestLogFixtures {
    /// The expected results of an entry.
    struct Expected {
        let system: String?
        let isDelivered: Bool
        let status: Int
        let spelling: String
        let issues: [String]
        /// The canonical JSON of the members of the record, or `nil` if there is no record.
        let record: [String: String]?
    }

    static let names = [
        "charles.har", "devtools.har", "lossy.har", "mitmproxy-surrogates.har", "mitmproxy.har", "mitmproxy.zhar",
        "proxyman.har",
    ]

    /// Values that must not appear in any output: credentials and values of cookies.
    static let secrets = [
        "FIXTURE_BEACON_KEY", Data("FIXTURE_BEACON_KEY".utf8).base64EncodedString(), "FIXTURECOOKIE",
        "prod_FIXTURE", "clientKey", "session=", "Authorization", "authorization", "Basic ",
    ]

    static func path(_ name: String) throws -> String { "\(try folder)/har/\(name)" }

    private static var folder: String { get throws { try SharedCaptures.unpacked("leanplum") } }

    static func expected(_ name: String) throws -> [Expected] {
        let stem = name.replacing(".", with: "-")
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(try folder)/expected-har-\(stem).json"))
        let document = try JSONDocument(Array(data))
        let entries = try #require(document.value(of: "entries", in: document.root))
        return try document.elements(of: entries).map { entry in
            let fields = try JSONFields(document.canonicalBytes(of: entry))
            let record = try #require(document.value(of: "record", in: entry))
            return Expected(
                system: fields.text("system"), isDelivered: fields.boolean("delivered") ?? false,
                status: try #require(fields.integer("status")), spelling: try #require(fields.text("bodySource")),
                issues: try #require(fields.texts("issues")),
                record: document.kind(of: record) == .null ? nil : texts(of: record, in: document))
        }
    }

    private static func texts(of object: JSONNode, in document: JSONDocument) -> [String: String] {
        var texts: [String: String] = [:]
        for position in 0..<document.memberCount(of: object) {
            let member = document.member(at: position, of: object)
            texts[document.string(of: member.key)] = String(
                decoding: document.canonicalBytes(of: member.value), as: UTF8.self)
        }
        return texts
    }
}
