import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Mozilla

@Suite struct MozillaPseudonymTests {
    private static let article = "Systems/Mozilla/Mozilla.docc/MozillaTelemetryStores.md"

    private let core = CorePing.fields.pseudonyms
    private let events = EventPing.mobileFields.pseudonyms

    @Test("each field that the format document names has a rule")
    func document() throws {
        let ofCore = try ["### 5.1 ", "### 5.2 "].flatMap { try documentedNames(in: Self.article, section: $0) }
        #expect(ofCore.count >= 20)
        #expect(ofCore.filter { core[$0] == nil } == [])
        let ofEvents = try documentedNames(in: Self.article, section: "### 6.1 ")
        #expect(ofEvents.count >= 11)
        #expect(ofEvents.filter { events[$0] == nil } == [])
    }

    @Test("each setting that the format document names has a rule")
    func settings() throws {
        let table = try #require(events["settings"]?.table)
        let documented = try documentedNames(in: Self.article, section: "### 3.3 ", column: 1)
        // Names that begin with a point go on where the one before them ends.
        let names = documented.map { $0.hasPrefix(".") ? "profile.prefkey.trackingprotection\($0)" : $0 }
        #expect(names.count >= 25)
        // The heading of the column names what all of them stand in.
        #expect(names.filter { table[$0] == nil } == ["settings"])
    }

    @Test("required fields stay, or something documented takes their place")
    func required() {
        for field in CorePing.fields.sorted + EventPing.mobileFields.sorted where field.presence == .required {
            switch field.pseudonym {
            case .keep(let form, let substitute):
                let isText = if case .string = field.form { true } else { false }
                let hasSubstitute = if case .nothing = substitute { false } else { true }
                #expect(isText == hasSubstitute, "\(field.key): \(form)")
            case .pseudonym, .list, .object: break
            case .drop, .tuple, .map, .json: Issue.record("\(field.key) is left out")
            }
        }
    }
}
