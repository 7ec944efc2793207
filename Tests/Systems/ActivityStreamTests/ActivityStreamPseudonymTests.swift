import Telemetry
import TestSupport
import Testing

@testable import ActivityStream

/// Tests that the rules for pseudonyms cover all documented fields.
@Suite struct ActivityStreamPseudonymTests {
    private static let article = "Systems/ActivityStream/ActivityStream.docc/ActivityStreamPings.md"

    @Test("Each field has a rule for single pings and for batches.")
    func fields() throws {
        let table = try #require(ActivityStreamSystem().pseudonyms?.table(ofType: "activity-stream-mobile-events"))
        let batch = try #require(table["payloads"]?.table)
        let frame = try documentedNames(in: Self.article, section: "### 4.1 ", column: 1)
        #expect(Set(frame).isSuperset(of: ["topic", "client_id", "batch-mode", "payloads"]))
        #expect(frame.filter { table[$0] == nil } == [])
        let fields = try ["### 4.3 ", "### 4.4 ", "### 4.6 "].flatMap {
            try documentedNames(in: Self.article, section: $0)
        }
        #expect(fields.count >= 10)
        #expect(fields.filter { table[$0] == nil || batch[$0] == nil } == [])
    }

    @Test("Fields that the server adds are omitted.")
    func server() throws {
        let table = try #require(ActivityStreamSystem().pseudonyms?.table(ofType: "activity-stream-mobile-events"))
        for key in ActivityStreamKeys.serverKeys { #expect(try #require(table["\(key)"]).isDrop) }
    }
}
