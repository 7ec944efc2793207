import Foundation
import JSONText
import TestSupport
import Testing

/// The stores and keyed archives of Sift's SDK with expected results.
enum SiftFixtures {
    /// The path of the folder with all captures.
    static var path: String { get throws { try SharedCaptures.unpacked("sift") } }

    /// The sets of stores, by generation of the SDK, and the unusual ones.
    static let sets = [
        "current", "current-xml", "gen5-2.1.1", "interim-2021-09", "gen4-2.1.0", "gen3-1.0.1", "gen2-0.9.2",
        "gen1-0.1.2", "interim-2016-08", "edge", "mixed",
    ]

    /// An unusual file and its expected result.
    struct Hostile: Sendable, CustomTestStringConvertible {
        let file: String
        let expect: String
        let codes: [String]
        let times: [UInt64]?

        var testDescription: String { file }
        var isUploader: Bool { file.hasPrefix("uploader-") }
    }

    /// The unusual files that are archives of the SDK, or look like them.
    static var hostile: [Hostile] {
        get throws {
            let text = try Data(contentsOf: URL(fileURLWithPath: "\(try path)/hostile/manifest.json"))
            let entries = try #require(try JSONSerialization.jsonObject(with: text) as? [[String: Any]])
            return try entries.map { entry in
                Hostile(
                    file: try #require(entry["file"] as? String), expect: try #require(entry["expect"] as? String),
                    codes: try #require(entry["codes"] as? [String]),
                    times: (entry["times"] as? [NSNumber])?.map(\.uint64Value))
            }
        }
    }
}

extension JSONDocument {
    /// Returns whether two values of different documents are equal.
    ///
    /// Numbers are compared by value, and integers exactly.
    func value(_ node: JSONNode, isSameAs other: JSONNode, of document: JSONDocument) -> Bool {
        guard kind(of: node) == document.kind(of: other), count(of: node) == document.count(of: other) else {
            return false
        }
        switch kind(of: node) {
        case .number:
            let (mine, others) = (string(of: node), document.string(of: other))
            // The oracle writes 1.0 for numbers whose canonical form is 1.
            return mine == others || (mine + others).contains { "e.".contains($0) } && Double(mine) == Double(others)
        case .string: return string(of: node) == document.string(of: other)
        case .array:
            return zip(elements(of: node), document.elements(of: other))
                .allSatisfy { value($0, isSameAs: $1, of: document) }
        case .object:
            return (0..<count(of: node)).allSatisfy { place in
                let (mine, others) = (member(at: place, of: node), document.member(at: place, of: other))
                return string(of: mine.key) == document.string(of: others.key)
                    && value(mine.value, isSameAs: others.value, of: document)
            }
        default: return true
        }
    }
}
