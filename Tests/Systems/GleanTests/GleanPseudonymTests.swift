import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Glean

/// Each key of the schema has a rule.
@Suite struct GleanPseudonymTests {
    /// The places of the schema that no rule reaches, or whose rule is for values of another shape.
    private func missing(_ schema: SchemaRule, _ rule: PseudonymRule, _ place: String) -> [String] {
        if rule.isDrop { return [] }
        switch schema {
        case .free, .boolean, .integer, .share, .string, .text:
            switch rule {
            case .keep, .pseudonym, .json: return []
            case .drop, .object, .list, .tuple, .map: return [place]
            }
        case .structure: return [place]
        case .orNull(let schema): return missing(schema, rule, place)
        case .list(let schema):
            guard case .list(let rule) = rule else { return [place] }
            return missing(schema, rule, place + "[]")
        case .object(let keys), .open(let keys):
            guard case .object(let table) = rule else { return [place] }
            return keys.sorted.flatMap { key in
                let name = "\(place).\(key.key)"
                return table["\(key.key)"].map { missing(key.rule, $0, name) } ?? [name]
            }
        case .map(_, _, let schema):
            switch rule {
            case .map(_, let rule): return missing(schema, rule, place + ".*")
            // The members that are documented have rules of their own.
            case .object(let table): return table.fields.flatMap { missing(schema, $0.rule, "\(place).\($0.key)") }
            case .keep, .pseudonym, .drop, .list, .tuple, .json: return [place]
            }
        }
    }

    @Test("each key of the schema has a rule for values of its shape")
    func schema() throws {
        let table = try #require(GleanPseudonyms.format.table(ofType: "baseline"))
        #expect(missing(GleanSchema.whole, .object(table), "ping") == [])
        // The comparison finds what is missing.
        #expect(
            missing(GleanSchema.whole, .object(["events": .drop, "metrics": .drop, "$schema": .drop]), "ping").count
                == 2)
        #expect(missing(GleanSchema.whole, .list(.drop), "ping") == ["ping"])
    }

    @Test("the ids that the format document names become pseudonyms")
    func ids() throws {
        let table = try #require(GleanPseudonyms.format.table(ofType: "baseline"))
        let paths = [
            ["client_info", "client_id"], ["client_info", "session_id"], ["events", "session", "session_id"],
            ["events", "extra", "session_id"],
            ["metrics", "string", "glean.client.annotation.experimentation_id"],
        ]
        for path in paths {
            let rule = path.reduce(PseudonymRule.object(table)) { rule, key in rule.table?[key] ?? .drop }
            guard case .pseudonym = rule else {
                Issue.record("\(path)")
                continue
            }
        }
    }
}
