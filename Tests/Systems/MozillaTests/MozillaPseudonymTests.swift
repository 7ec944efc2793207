import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Each field that the normalizer or a document names has a rule.
@Suite struct MozillaPseudonymTests {
    private static let article = "Systems/Mozilla/Mozilla.docc/MozillaTelemetryStores.md"

    /// The fields without a rule, with those inside of groups.
    private func missing(_ fields: [Field], in table: PseudonymTable, _ prefix: String = "") -> [String] {
        fields.flatMap { field -> [String] in
            let name = "\(field.key)"
            guard let rule = table[name] else { return [prefix + name] }
            guard case .fennec(let group) = field.rule, !rule.isDrop else { return [] }
            guard let inner = rule.table else { return [prefix + name] }
            return missing(group.fields, in: inner, "\(prefix)\(name).")
        }
    }

    @Test("each field that the normalizer knows has a rule")
    func normalizer() {
        #expect(missing(CorePing.fields, in: MozillaPseudonyms.core) == [])
        #expect(missing(CorePing.version1, in: MozillaPseudonyms.core) == [])
        #expect(missing(EventPing.focusFields, in: MozillaPseudonyms.events) == [])
        #expect(missing(EventPing.mobileFields, in: MozillaPseudonyms.events) == [])
        // The comparison finds one that is missing.
        #expect(missing(CorePing.fields, in: ["seq": .drop]).contains("clientId"))
    }

    @Test("each field that the format document names has a rule")
    func document() throws {
        let core = try ["### 5.1 ", "### 5.2 "].flatMap { try documentedNames(in: Self.article, section: $0) }
        #expect(core.count >= 20)
        #expect(core.filter { MozillaPseudonyms.core[$0] == nil } == [])
        let events = try documentedNames(in: Self.article, section: "### 6.1 ")
        #expect(events.count >= 11)
        #expect(events.filter { MozillaPseudonyms.events[$0] == nil } == [])
    }

    @Test("each setting that the format document names has a rule")
    func settings() throws {
        let table = try #require(MozillaPseudonyms.events["settings"]?.table)
        let documented = try documentedNames(in: Self.article, section: "### 3.3 ", column: 1)
        // Names that begin with a point go on where the one before them ends.
        let names = documented.map { $0.hasPrefix(".") ? "profile.prefkey.trackingprotection\($0)" : $0 }
        #expect(names.count >= 25)
        // The heading of the column names what all of them stand in.
        #expect(names.filter { table[$0] == nil } == ["settings"])
    }

    @Test("required fields stay, or something documented takes their place")
    func required() {
        for (fields, table) in [
            (CorePing.fields, MozillaPseudonyms.core), (EventPing.mobileFields, MozillaPseudonyms.events),
        ] {
            for field in fields where field.isRequired {
                switch table["\(field.key)"] {
                case .keep(let form, let substitute)?:
                    let isText = if case .string = field.rule { true } else { false }
                    let hasSubstitute = if case .nothing = substitute { false } else { true }
                    #expect(isText == hasSubstitute, "\(field.key): \(form)")
                case .pseudonym?, .list?, .object?: break
                case .drop?, .tuple?, .map?, .json?, nil: Issue.record("\(field.key) is left out")
                }
            }
        }
    }
}
