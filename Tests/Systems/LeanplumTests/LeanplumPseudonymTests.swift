import Telemetry
import TestSupport
import Testing

@testable import Leanplum

/// Tests that the rules for pseudonyms cover all documented members.
@Suite struct LeanplumPseudonymTests {
    private static let article = "Systems/Leanplum/Leanplum.docc/LeanplumStores.md"

    private func request() throws -> PseudonymTable {
        let table = try #require(LeanplumSystem().pseudonyms?.table(ofType: "multi"))
        return try #require(table["data"]?.table)
    }

    @Test("Each member of a request has a rule.")
    func members() throws {
        let request = try request()
        let common = try documentedNames(in: Self.article, section: "### B.1 ")
        #expect(common.count >= 12)
        #expect(common.filter { request[$0] == nil } == [])
        // The tables of the document also contain actions and values.
        let values: Set = [
            "track", "enter_region", "exit_region", "ip", "cell", "gps", "sdkLog", "sdkError", "sdkStartLatency",
            "sdkCount",
            "lat", "0.000000", "real", "1497595093.902000", "inf", "nan", "zh-Hant-TW_TW", "en-US_US", "zh_TW",
            "iPhone9",
        ]
        let byAction = try documentedNames(in: Self.article, section: "### B.2 ", column: 1)
        #expect(byAction.count >= 60)
        #expect(byAction.filter { !values.contains($0) && request[$0] == nil } == [])
    }

    @Test("Each key in the code has a rule, and documented attributes and events are kept.")
    func keys() throws {
        let request = try request()
        let keys =
            LeanplumFields.nestedKeys + LeanplumFields.credentialKeys + [
                LeanplumKeys.retryCount, LeanplumKeys.requestID,
            ]
        #expect(keys.filter { request["\($0)"] == nil } == [])
        let attributes = try #require(request["userAttributes"]?.table)
        #expect(LeanplumVocabulary.attributes.keys.filter { attributes[$0] == nil } == [])
        guard case .keep(.oneOf(let events), .pseudonym)? = request["event"] else {
            Issue.record("events")
            return
        }
        #expect(events.isSuperset(of: LeanplumVocabulary.events.keys))
    }
}
