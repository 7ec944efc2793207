import Telemetry
import TestSupport
import Testing

@testable import Sift

/// Tests that each documented member of a list request has a pseudonym rule.
@Suite struct SiftPseudonymTests {
    private static let article = "Systems/Sift/Sift.docc/SiftStores.md"

    private func event() throws -> PseudonymTable {
        let table = try #require(SiftPseudonyms.format.table(ofType: "mobile_events"))
        return try #require(table["data"]?.table)
    }

    @Test("Each member of an event has a rule")
    func members() throws {
        let event = try event()
        let documented = try documentedNames(in: Self.article, section: "### 6.1 ")
        #expect(documented.count == 10)
        #expect(Set(documented) == Set(SiftEvent.fields.sorted.map(\.key.description)))
        #expect(documented.filter { event[$0] == nil } == [])
    }

    @Test(
        "Each entry of the app state and the device properties has a rule",
        arguments: [("### 5.1 ", "ios_app_state", 14), ("### 5.3 ", "ios_device_properties", 65)])
    func entries(section: String, state: String, minimumCount: Int) throws {
        let table = try #require(try event()[state]?.table)
        let documented = try documentedNames(in: Self.article, section: section)
        #expect(documented.count >= minimumCount)
        #expect(documented.filter { table[$0] == nil } == [])
    }

    @Test("Locations and sensor readings are dropped")
    func locations() throws {
        let table = try #require(try event()["ios_app_state"]?.table)
        for (section, entry) in [
            ("#### 5.1.1 ", "location"), ("#### 5.1.2 ", "heading"), ("#### 5.1.3 ", "motion"),
        ] {
            #expect(try documentedNames(in: Self.article, section: section).count >= 5)
            #expect(try #require(table[entry]).isDrop)
        }
        for entry in ["network_addresses", "raw_accelerometer", "raw_gyro", "raw_magnetometer"] {
            #expect(try #require(table[entry]).isDrop)
        }
    }
}
