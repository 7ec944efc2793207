import Telemetry
import TestSupport
import Testing

@testable import Glean

@Suite struct GleanPseudonymTests {
    @Test("All documented ids are replaced with pseudonyms")
    func ids() throws {
        let table = try #require(GleanSystem().pseudonyms?.table(ofType: "baseline"))
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
