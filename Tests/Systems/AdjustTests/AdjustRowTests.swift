import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Adjust

/// Tests the rows and the labels of packages.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", sections 12 and 14.
@Suite struct AdjustRowTests {
    /// The cells of the only event of a payload, and those of its record.
    private struct Row {
        let time, milliseconds, basis, elapsed, name, category, method, object, value, revenue, currency, extra: String?
        /// The kind, the key, the value and the type of each attribute.
        let attributes: [[String?]]
        let os, osVersion, device, locale: String?

        init(_ payload: String, type: String = "event") throws {
            var rows = RecordRows([RecordRows.events.table, RecordRows.attributes.table])
            var shared = RecordRows.SharedCells()
            shared.time = rows.buffer.keep("time of the record")
            rows.begin(shared, labels: [])
            var nested = JSONDocument()
            let document = try JSONDocument(Array(payload.utf8))
            let device = AdjustRows().addRows(
                of: document, type: type, to: &rows, nested: &nested)
            let buffer = rows.buffer
            let cells = buffer.cells[0]
            try #require(cells.count == 28 && rows.eventCount == 1)
            func text(_ cell: Cell) -> String? {
                switch cell {
                case .null: nil
                case .integer(let number): "\(number)"
                case .real(let start, let count), .text(let start, let count):
                    String(decoding: buffer.bytes(start, count), as: UTF8.self)
                }
            }
            time = text(cells[7])
            milliseconds = text(cells[8])
            basis = text(cells[11])
            elapsed = text(cells[17])
            name = text(cells[18])
            category = text(cells[19])
            method = text(cells[20])
            object = text(cells[21])
            value = text(cells[22])
            revenue = text(cells[23])
            currency = text(cells[24])
            extra = text(cells[26])
            let found = buffer.cells[1]
            attributes = stride(from: 0, to: found.count, by: 8).map { row in
                found[row + 3..<row + 7].map { text($0) }
            }
            os = text(device.os)
            osVersion = text(device.osVersion)
            self.device = text(device.device)
            locale = text(device.locale)
        }
    }

    @Test("An event has a token, a time, revenue and the parameters of the app")
    func event() throws {
        let row = try Row(
            #"""
            {"callback_params":"{\"b\":1,\"a\":\"x\\/y\"}","country":"AT","created_at":"2017-03-20T10:53:20.418Z+0200",\#
            "currency":"EUR","device_name":"iPhone9,3","event_token":"hjuag8","language":"de","os_name":"ios",\#
            "os_version":"10.2.1","partner_params":"no JSON","revenue":"12.50000"}
            """#)
        #expect(row.time == "2017-03-20T08:53:20.418Z" && row.milliseconds == "1490000000418" && row.basis == "event")
        #expect(row.name == "hjuag8" && row.category == "event" && row.value == "12.50000")
        #expect(row.extra == #"{"callback":{"a":"x/y","b":1},"currency":"EUR","partner":"no JSON"}"#)
        #expect(row.revenue == "12.50000" && row.currency == "EUR")
        #expect(row.attributes == [["callback", "a", "x/y", "string"], ["callback", "b", "1", "number"]])
        #expect(row.elapsed == nil && row.method == nil && row.object == nil)
        #expect(row.os == "ios" && row.osVersion == "10.2.1" && row.device == "iPhone9,3" && row.locale == "de-AT")
    }

    @Test("A package without a token has the name of its type, and the time of the record if it has none")
    func session() throws {
        let row = try Row(#"{"app_token":"4w565xzmb54d","created_at":"soon","event_token":7}"#, type: "session")
        #expect(row.name == "session" && row.category == "session")
        #expect(row.time == "time of the record" && row.milliseconds == nil && row.basis == "record")
        #expect(row.value == nil && row.extra == nil)
        #expect(row.os == nil && row.osVersion == nil && row.device == nil && row.locale == nil)
    }

    @Test(
        "The parameters of the app are decoded in versions 2 and 3",
        arguments: [
            ("eyJrIjoidiJ9", #"{"callback":{"k":"v"}}"#), ("eyJ0w7xyIjoiYXVmIn0=", #"{"callback":{"tür":"auf"}}"#),
            (#"{\"k\":\"v\"}"#, nil), ("eyJrIjoidiJ", nil), ("YWJj", nil), ("", nil), ("====", nil),
        ] as [(String, String?)])
    func encodedParameters(params: String, extra: String?) throws {
        let row = try Row(#"{"amount":"1990","params":"\#(params)"}"#, type: "revenue")
        #expect(row.extra == extra)
        #expect(row.value == "1990" && row.name == "revenue" && row.revenue == "1.990" && row.currency == nil)
        #expect(row.attributes.count == (extra == nil ? 0 : 1))
    }

    @Test("The revenue takes precedence over the amount")
    func amounts() throws {
        #expect(try Row(#"{"amount":"1990","revenue":"4.99000"}"#).value == "4.99000")
        #expect(try Row(#"{"amount":7,"revenue":7}"#).value == nil)
    }

    @Test(
        "A revenue that is not a number is not in its column, but is not lost",
        arguments: [
            (#"{"revenue":"much"}"#, nil, "much", nil), (#"{"revenue":"1e400"}"#, nil, "1e400", nil),
            (#"{"revenue":7}"#, nil, nil, #"{"revenue":7}"#),
            (#"{"revenue":{"a":[]}}"#, nil, nil, #"{"revenue":{"a":[]}}"#),
            (#"{"amount":"-5"}"#, nil, "-5", nil), (#"{"amount":"1.5"}"#, nil, "1.5", nil),
            (#"{"amount":"5"}"#, "0.005", "5", nil),
            (#"{"amount":"12345678901234567890"}"#, nil, "12345678901234567890", nil),
            (#"{"currency":["EUR"],"revenue":"1"}"#, "1", "1", #"{"currency":["EUR"]}"#),
        ] as [(String, String?, String?, String?)])
    func hostileRevenue(payload: String, revenue: String?, value: String?, extra: String?) throws {
        let row = try Row(payload)
        #expect(row.revenue == revenue && row.value == value && row.extra == extra && row.currency == nil)
    }

    @Test("The choices of the user and the parameters for partners are kept")
    func choices() throws {
        let row = try Row(
            #"""
            {"granular_third_party_sharing_options":"{\"p\":{\"k\":\"v\"}}","measurement":"disable",\#
            "partner_params":"{\"x\":null,\"y\":[true]}","partner_sharing_settings":"none","sharing":"enable"}
            """#, type: "third_party_sharing")
        #expect(
            row.extra == #"""
                {"granular_third_party_sharing_options":{"p":{"k":"v"}},"measurement":"disable","partner":{"x":null,"y":[true]},\#
                "partner_sharing_settings":"none","sharing":"enable"}
                """#)
        #expect(row.attributes == [["partner", "x", nil, "null"], ["partner", "y", "[true]", "array"]])
    }

    @Test("A locale needs a language and a country", arguments: [#"{"language":"de"}"#, #"{"country":"AT"}"#, "{}"])
    func locales(payload: String) throws {
        #expect(try Row(payload).locale == nil)
    }

    // MARK: Labels

    private func label(_ payload: String, _ type: String) -> [String?] {
        var labeler = EventLabeler()
        return labeler.labels(of: payload, system: .adjust, type: type)
    }

    @Test(
        "Events of Focus and Klar, and some other types, have meanings",
        arguments: [
            ("hjuag8", "event", "The user opened a URL"), ("58bwsk", "event", "The user opened a URL"),
            ("t7m1ru", "event", "Page opened in Firefox"),
            ("ohnn42", "event", "Blocking of social trackers switched off"),
            ("vzlgmg", "event", "Blocking of other content trackers switched off"),
            ("ec8kb7", "event", "Safari blocklist switched on"), ("g3mfiw", "event", nil), ("HJUAG8", "event", nil),
            ("hjuag8", "revenue", "The user opened a URL"), (nil, "session", "App session"),
            (nil, "gdpr", "Device asked to be forgotten"),
            (nil, "info", "SDK information (push token or tracking permission)"), (nil, "click", nil),
            (nil, "event", nil),
        ] as [(String?, String, String?)])
    func labels(token: String?, type: String, meaning: String?) {
        #expect(label(token.map { #"{"event_token":"\#($0)"}"# } ?? "{}", type) == [meaning])
    }

    @Test("The tokens of Focus and Klar are unique")
    func tokens() {
        #expect(AdjustVocabulary.meanings.count == 2 * 19)
        #expect(Set(AdjustVocabulary.meanings.values).count == 19)
        #expect(AdjustVocabulary.meanings.keys.allSatisfy { $0.utf8.count == 6 })
    }
}
