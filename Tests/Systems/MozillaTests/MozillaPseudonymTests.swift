import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Mozilla

@Suite struct MozillaPseudonymTests {
    private static let article = "Systems/Mozilla/Mozilla.docc/MozillaTelemetryStores.md"

    private let core = CorePing.fields.pseudonyms
    private let events = EventPing.mobileFields.pseudonyms

    @Test("Each documented field has a pseudonym rule")
    func document() throws {
        let coreNames = try ["### 5.1 ", "### 5.2 "].flatMap { try documentedNames(in: Self.article, section: $0) }
        #expect(coreNames.count >= 20)
        #expect(coreNames.filter { core[$0] == nil } == [])
        let eventNames = try documentedNames(in: Self.article, section: "### 6.1 ")
        #expect(eventNames.count >= 11)
        #expect(eventNames.filter { events[$0] == nil } == [])
    }

    @Test("Each documented setting has a pseudonym rule")
    func settings() throws {
        let table = try #require(events["settings"]?.table)
        let documented = try documentedNames(in: Self.article, section: "### 3.3 ", column: 1)
        // Names that start with a point continue the previous name.
        let names = documented.map { $0.hasPrefix(".") ? "profile.prefkey.trackingprotection\($0)" : $0 }
        #expect(names.count >= 25)
        // The heading of the column contains the name of the member with all settings.
        #expect(names.filter { table[$0] == nil } == ["settings"])
    }

    @Test("Required fields are kept or replaced with a documented value")
    func required() {
        for field in CorePing.fields.sorted + EventPing.mobileFields.sorted where field.presence == .required {
            switch field.pseudonym {
            case .keep(_, let substitute), .time(_, let substitute):
                let isText = if case .string = field.form { true } else { false }
                let hasSubstitute = if case .nothing = substitute { false } else { true }
                #expect(isText == hasSubstitute, "\(field.key)")
            case .pseudonym, .list, .object: break
            case .drop, .tuple, .map, .json: Issue.record("\(field.key) is left out")
            }
        }
    }
}
