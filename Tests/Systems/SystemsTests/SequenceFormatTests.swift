import ActivityStream
import Adjust
import Foundation
import Glean
import JSONText
import Leanplum
import Mozilla
import Sift
import Systems
import Telemetry
import TestSupport
import Testing

/// Tests of the sequence numbers of uploads.
@Suite struct SequenceFormatTests {
    /// A payload and its sequence number.
    struct Case: Sendable, CustomTestStringConvertible {
        let system: SystemName
        let type: String
        let payload: String
        let number: SequenceNumber

        init(_ system: SystemName, _ type: String, _ payload: String, _ number: SequenceNumber) {
            (self.system, self.type, self.payload, self.number) = (system, type, payload, number)
        }

        var testDescription: String { "\(system) \(type) \(payload)" }
    }

    private static let cases = [
        Case(.mozilla, "core", #"{"seq":212,"v":7}"#, .number(212)),
        Case(.mozilla, "focus-event", #"{"seq":0}"#, .number(0)),
        Case(.mozilla, "core", #"{"seq":7.0}"#, .number(7)),
        Case(.mozilla, "core", #"{"seq":1.2e1}"#, .number(12)),
        Case(.mozilla, "core", #"{"seq":9223372036854775807}"#, .number(.max)),
        Case(.mozilla, "core", #"{"seq":9223372036854775808}"#, .invalid),
        Case(.mozilla, "core", #"{"seq":1e400}"#, .invalid),
        Case(.mozilla, "core", #"{"seq":7.5}"#, .invalid),
        Case(.mozilla, "core", #"{"seq":-1}"#, .invalid),
        Case(.mozilla, "core", #"{"seq":"7"}"#, .invalid),
        Case(.mozilla, "core", #"{"seq":null}"#, .invalid),
        Case(.mozilla, "core", #"{"Seq":7,"x":{"seq":7}}"#, .missing),
        Case(.mozilla, "core", "[]", .missing),
        Case(.glean, "baseline", #"{"ping_info":{"seq":41},"seq":3}"#, .number(41)),
        Case(.glean, "events", #"{"ping_info":{}}"#, .missing),
        Case(.glean, "events", #"{"ping_info":7}"#, .missing),
        Case(.glean, "events", #"{"seq":7}"#, .missing),
        Case(.adjust, "session", #"{"session_count":"4"}"#, .number(4)),
        Case(.adjust, "session", #"{"session_count":4}"#, .invalid),
        Case(.adjust, "session", #"{"session_count":""}"#, .invalid),
        Case(.adjust, "event", #"{"bundle_id":"a","event_count":"7","session_count":"4"}"#, .number(7)),
        Case(.adjust, "event", #"{"bundle_id":"a","seq":"7"}"#, .missing),
        // Until version 3.4, events and revenues have one count in common.
        Case(.adjust, "event", #"{"event_count":"7"}"#, .unnumbered),
        Case(.adjust, "revenue", #"{"bundle_id":"a","event_count":"7"}"#, .unnumbered),
        Case(.adjust, "click", #"{"session_count":"4"}"#, .unnumbered),
    ]

    @Test(arguments: cases) func number(_ item: Case) throws {
        let payload = try JSONDocument(Array(item.payload.utf8))
        let sequence = try #require(Systems.table[item.system]?.sequence)
        #expect(sequence.number(in: payload, type: item.type) == item.number)
    }

    @Test("The article about gaps names the parameter that packages with separate numbers of events contain")
    func articleOnAdjust() throws {
        let article = try String(contentsOfFile: "\(repository)/Sources/Export/Export.docc/Gaps.md", encoding: .utf8)
        let row = try #require(article.split(separator: "\n").first { $0.hasPrefix("| Adjust |") })
        #expect(row.contains("`event_count` if the package contains `bundle_id`"))
        let sequence = try #require(Systems.table[.adjust]?.sequence)
        // A package of version 3.4 that a newer version has stored again: only the parameters distinguish it.
        let (parameters, count) = (#""app_token":"4w565xzmb54d","environment":"production""#, #""event_count":"7""#)
        for (own, number) in [(#""bundle_id":"a","#, SequenceNumber.number(7)), ("", .unnumbered)] {
            let payload = try JSONDocument(Array("{\(own)\(count),\(parameters)}".utf8))
            #expect(sequence.number(in: payload, type: "event") == number)
        }
    }

    @Test func systemsWithoutNumbers() {
        for system in [SystemName.sift, .leanplum, .activityStream] {
            #expect(Systems.table[system] != nil)
            #expect(Systems.table[system]?.sequence == nil)
        }
    }

    @Test func firstNumbers() {
        #expect(Systems.table[.mozilla]?.sequence?.start == 0...1)
        #expect(Systems.table[.glean]?.sequence?.start == 0...0)
        #expect(Systems.table[.adjust]?.sequence?.start == 1...1)
    }

    @Test func numberedTypes() {
        let adjust = Systems.table[.adjust]?.sequence
        #expect(adjust?.isNumbered("session") == true && adjust?.isNumbered("event") == true)
        #expect(adjust?.isNumbered("gdpr") == false)
        #expect(Systems.table[.mozilla]?.sequence?.isNumbered("anything") == true)
    }
}
