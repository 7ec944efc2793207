import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Leanplum

/// Tests reading requests in property lists: sections A.3 and A.4 of the format document.
@Suite struct LeanplumPropertyListTests {
    private static let heartbeat = """
        <dict><key>action</key><string>heartbeat</string><key>client</key><string>ios</string>
        <key>devMode</key><false/><key>deviceId</key><string>610A1520-4D47-498E-B20F-F3B46216372B</string>
        <key>retryCount</key><integer>2</integer><key>sdkVersion</key><string>2.0.1</string>
        <key>time</key><string>1497595993.902000</string><key>token</key><string>nksZ5pa0R5iegC7wj</string>
        <key>userId</key><string>610A1520-4D47-498E-B20F-F3B46216372B</string></dict>
        """

    private func plist(_ root: String) -> [UInt8] {
        Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?><plist version=\"1.0\">\(root)</plist>".utf8)
    }

    private func requests(_ root: String) -> ScanOutput {
        var output = ScanOutput(capture: "c")
        let source = Source(capture: "c", path: "Documents/_lprequests-app_6AoABC", store: .leanplumPlist, index: 0)
        let requests = LeanplumRequests(from: source, applicationID: "app_6AoABC")
        withoutErrors { try LeanplumPropertyList.readRequests(plist(root), adding: requests, into: &output) }
        return output
    }

    /// Requests with a limit so low that a small amount of data exceeds it.
    private var smallRequests: LeanplumRequests {
        let source = Source(capture: "c", path: "p", store: .leanplumPlist, index: 0)
        return LeanplumRequests(
            from: source, limits: LeanplumRequests.Limits(byteCount: 1 << 16))
    }

    private func defaults(_ entries: String) -> ScanOutput {
        var output = ScanOutput(capture: "c")
        let source = Source(capture: "c", path: "p", store: .leanplumUserDefaults, index: 0)
        withoutErrors {
            try LeanplumPropertyList.readDefaults(plist("<dict>\(entries)</dict>"), from: source, into: &output)
        }
        return output
    }

    private func item(_ number: Int) -> String {
        """
        <key>__leanplum_unsynced_\(number)</key>
        <dict><key>action</key><string>stop</string><key>time</key><string>\(number).0</string></dict>
        """
    }

    @Test func workedExample() throws {
        let output = requests("<array>\(Self.heartbeat)</array>")
        let record = try #require(output.records.first)
        #expect(record.id == "sha256:8dbc5dedf5533bb03b44dca9e229478e0093d6aa2cf9b5dca56194c3e59963f6")
        #expect(record.time?.description == "2017-06-16T06:53:13.902Z")
        #expect(record.app == App(id: "app_6AoABC"))
        let payload = String(decoding: record.payload, as: UTF8.self)
        #expect(payload.contains(#""devMode":false"#) && payload.contains(#""retryCount":2"#))
    }

    @Test func valuesKeepTheirTypes() throws {
        let output = requests(
            """
            <array><dict><key>action</key><string>setTrafficSourceInfo</string><key>a</key><integer>1</integer>
            <key>b</key><true/><key>c</key><real>0.25</real><key>d</key><real>2</real><key>e</key>
            <array><string>x/y</string><integer>-7</integer></array><key>f</key><dict><key>é</key><string>書</string></dict>
            </dict></array>
            """)
        let payload = output.records.map { String(decoding: $0.payload, as: UTF8.self) }
        #expect(
            payload == [
                #"{"data":[{"a":1,"action":"setTrafficSourceInfo","b":true,"c":0.25,"d":2,"e":["x/y",-7],"f":{"é":"書"}}]}"#
            ])
    }

    @Test(
        "Items that are not requests are rejected.",
        arguments: [
            ("<string>x</string>", "not_object"), ("<array/>", "not_object"), ("<dict/>", "empty_object"),
            ("<dict><key>a</key><date>2017-06-16T06:38:13Z</date></dict>", "non_json_value"),
            ("<dict><key>a</key><array><data>AQI=</data></array></dict>", "non_json_value"),
            ("<dict><key>a</key><real>nan</real></dict>", "non_json_value"),
            ("<dict><key>a</key><integer>1</integer></dict>", "missing_action"),
        ])
    func rejectedItems(item: String, reason: String) {
        let output = requests("<array>\(Self.heartbeat)\(item)</array>")
        #expect(output.records.count == 1)
        #expect(output.rejects.map { String($0.reason.prefix { $0 != " " }) } == [reason])
    }

    @Test func rootOtherThanArrayIsUnsupported() {
        #expect(requests("<dict/>").rejects.map(\.reason) == ["unsupported_schema the root is no array"])
    }

    @Test func malformedPropertyListIsCorrupt() {
        let output = requests("<array>")
        #expect(output.rejects.count == 1)
        #expect(output.rejects[0].reason.hasPrefix("corrupt xml-syntax: "))
        #expect(output.rejects[0].offset != nil)
    }

    // Each dictionary contains the previous one twice, so that the last one would expand to 2^40 values.
    @Test func unboundedExpansionOfSharedValuesIsRejected() throws {
        var objects: [[UInt8]] = [[0xA1, 1]]
        for level in 1...40 { objects.append([0xD2, 42, 43, UInt8(level + 1), UInt8(level + 1)]) }
        objects.append([0x09])
        objects += [[0x51, 0x61], [0x51, 0x62]]
        var output = ScanOutput(capture: "c")
        withoutErrors {
            try LeanplumPropertyList.readRequests(Self.binary(objects), adding: smallRequests, into: &output)
        }
        #expect(output.records.isEmpty)
        #expect(output.rejects.map { String($0.reason.prefix { $0 != " " }) } == ["too_large"])
    }

    // Thousands of items share one value of four kibibytes.
    @Test func sharedLargeItemsAreRejected() throws {
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 12)
        let objects: [[UInt8]] = [
            [0xAF, 0x11, 0x0F, 0xA0] + Array(repeating: 1, count: 4000), [0xD1, 2, 3], [0x51, 0x61],
            [0x5F, 0x11, 0x10, 0x00] + text,
        ]
        var output = ScanOutput(capture: "c")
        withoutErrors {
            try LeanplumPropertyList.readRequests(Self.binary(objects), adding: smallRequests, into: &output)
        }
        #expect(output.rejects.contains { $0.reason.hasPrefix("budget-exceeded ") })
    }

    /// Returns a binary property list of fewer than 256 objects.
    ///
    /// The first object is the root.
    private static func binary(_ objects: [[UInt8]]) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) } }
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        for offset in offsets { bytes += number(offset) }
        return bytes + [0, 0, 0, 0, 0, 0, 8, 1] + number(objects.count) + number(0) + number(table)
    }

    // MARK: Preferences

    @Test func itemsAreOrderedByNumber() throws {
        let numbers = [10, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8, 11]
        let output = defaults(
            "<key>__leanplum_unsynced</key><integer>11</integer>" + numbers.map(item).joined()
                + "<key>__leanplum_unsynced_01</key><string>padded</string>")
        let document = try JSONDocument(try #require(output.records.first).payload)
        let list = try #require(document.value(of: "data", in: document.root))
        let times = document.elements(of: list).compactMap { document.value(of: "time", in: $0) }
        #expect(times.map { document.string(of: $0) } == (0..<11).map { "\($0).0" })
        #expect(output.rejects.isEmpty && output.problems.isEmpty)
    }

    @Test func missingItemsAreReportedAsRanges() {
        let output = defaults(
            "<key>__leanplum_unsynced</key><integer>9223372036854775807</integer>" + item(2) + item(5))
        #expect(
            output.problems.map(\.problem) == [
                Problem("missing_item", "items 0 to 1 counted, but not there"),
                Problem("missing_item", "items 3 to 4 counted, but not there"),
                Problem("missing_item", "items 6 to 9223372036854775806 counted, but not there"),
            ])
        #expect(output.records.map(\.source.index) == [2])
    }

    @Test(arguments: [
        "", "<key>__leanplum_unsynced</key><integer>0</integer>", "<key>__leanplum_unsynced</key><integer>-4</integer>",
    ])
    func defaultsWithoutCountHaveNoRequests(count: String) {
        let output = defaults(count + item(0))
        #expect(output.records.isEmpty && output.rejects.isEmpty && output.problems.isEmpty)
    }

    @Test func countOtherThanIntegerIsUnsupported() {
        let output = defaults("<key>__leanplum_unsynced</key><string>2</string>" + item(0))
        #expect(output.rejects.map(\.reason) == ["unsupported_schema the number of items is no integer"])
    }

    @Test func applicationIDIsReadFromKey() {
        let output = defaults(
            """
            <key>__leanplum_unsynced</key><integer>1</integer>\(item(0))
            <key>__leanplum_user_notification_app_ABC-U-D</key><dict/>
            """)
        #expect(output.records.map(\.app) == [App(id: "app_ABC")])
    }
}
