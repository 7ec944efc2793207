import Bytes
import Files
import JSONText
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Adjust

/// Tests the worked examples.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 15.
@Suite struct AdjustRecordTests {
    private static let install = "5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415"

    // MARK: Focus 4.10.2

    private static let focus = StoredPackage(
        sdk: "ios4.10.2",
        parameters: [
            ("session_count", "4"), ("app_token", "4w565xzmb54d"), ("app_version", "3"), ("app_version_short", "3.0"),
            ("attribution_deeplink", "1"), ("bundle_id", "org.mozilla.ios.Focus"),
            ("created_at", "2017-03-20T10:53:20.418Z+0200"), ("device_name", "iPhone9,3"),
            ("environment", "production"), ("event_count", "7"), ("event_token", "hjuag8"),
            ("idfv", "C96D1A3E-7F28-4B05-8E4C-1D0B6F3A9572"), ("ios_uuid", install),
            ("persistent_ios_uuid", install), ("os_name", "ios"), ("os_version", "10.2.1"),
        ])

    private static let focusLine = #"""
        {"app":{"build":"3","id":"org.mozilla.ios.Focus","version":"3.0"},\#
        "client":"5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415","held":["attribution"],\#
        "id":"sha256:4b3b23a4c64b08fea79f2444d39a2e63cf0c8bdcc81a15ad605d26ac61d317be","notes":[],\#
        "payload":{"app_token":"4w565xzmb54d","app_version":"3","app_version_short":"3.0","attribution_deeplink":"1",\#
        "bundle_id":"org.mozilla.ios.Focus","created_at":"2017-03-20T10:53:20.418Z+0200","device_name":"iPhone9,3",\#
        "environment":"production","event_count":"7","event_token":"hjuag8",\#
        "idfv":"C96D1A3E-7F28-4B05-8E4C-1D0B6F3A9572","ios_uuid":"5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415",\#
        "os_name":"ios","os_version":"10.2.1","persistent_ios_uuid":"5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415",\#
        "session_count":"4"},"source":{"capture":"worked-examples","index":1,\#
        "path":"Documents/AdjustIoPackageQueue","store":"adjust-queue"},"system":"adjust",\#
        "target":{"headers":{"Client-Sdk":"ios4.10.2"},"path":"/event"},"time":"2017-03-20T08:53:20.418Z","type":"event"}
        """#

    @Test("An event of Focus has the documented line")
    func focusEvent() throws {
        let found = try QueueReading(
            [.event(), Self.focus], capture: "worked-examples", path: "Documents/AdjustIoPackageQueue")
        #expect(found.reject == nil)
        try #require(found.records.count == 2)
        #expect(found.records[1].line == Self.focusLine)
        var document = JSONDocument()
        #expect(try Record(line: Array(Self.focusLine.utf8), using: &document) == found.records[1])
        #expect(found.records[1].contradiction == nil && found.records[1].targetNamesRecord)
    }

    // MARK: Delayed start

    @Test(
        "Callback parameters are merged only into packages of versions with a delayed start",
        arguments: [
            ("ios4.8.5", false), ("ios4.9.0", true), ("ios4.38.4", true), ("unity5.5.1@ios5.5.1", false),
            ("ios5.0.0", false), ("flutter", true),
        ])
    func delayedStart(sdk: String, isMerged: Bool) throws {
        var package = StoredPackage.event()
        package.sdk = sdk
        package.callbackParameters = [("sku", "A/7")]
        let record = try #require(try QueueReading([package]).records.first)
        #expect(record.notes.contains { $0.hasPrefix("A11 ") } == isMerged)
        #expect(String(decoding: record.payload, as: UTF8.self).contains("callback_params") == isMerged)
    }

    @Test(
        "The note of a package with an undocumented path contains it without a query", arguments: ["/other?x=1", nil])
    func undocumentedPath(path: String?) throws {
        var package = StoredPackage.event()
        package.path = path
        let record = try #require(try QueueReading([package]).records.first)
        #expect(record.heldCodes.contains("no-target"))
        let end = path == nil ? "" : ": /other"
        #expect(record.notes == ["A6 the path is missing or not documented\(end)"])
    }

    // MARK: Lone surrogates

    /// XML cannot contain a lone surrogate, so that the queue is converted to the binary form.
    @Test("A lone surrogate is replaced with a note on its package only", arguments: ["name", "value"])
    func loneSurrogate(place: String) throws {
        let odd = place == "name" ? StoredPackage.event(["\u{E000}x": "y"]) : .event(["x": "y\u{E000}"])
        let folder = try TemporaryFolder()
        let path = try folder.put(
            String(decoding: PackageQueue.archive([odd, .event(["x": "\u{1F98A}\u{FFFD}"])]), as: UTF8.self), "queue")
        try tool(
            "python3", "-c",
            """
            import plistlib, sys
            def binary(x):
                if isinstance(x, dict):
                    if set(x) == {'CF$UID'}: return plistlib.UID(x['CF$UID'])
                    return {k: binary(v) for k, v in x.items()}
                return [binary(v) for v in x] if isinstance(x, list) else x
            with open(sys.argv[1], 'rb') as f: value = plistlib.load(f)
            data = plistlib.dumps(binary(value), fmt=plistlib.FMT_BINARY)
            assert data.count(b'\\xe0\\x00') == 1
            open(sys.argv[1], 'wb').write(data.replace(b'\\xe0\\x00', b'\\xd8\\x3d'))
            """, path)
        let found = try QueueReading(InputFile(path: path).contents(limit: 1 << 20))
        #expect(found.records.map(\.notes) == [["A28 a lone surrogate replaced by U+FFFD"], []])
        #expect(found.records.first.map { String(decoding: $0.payload, as: UTF8.self).contains("\u{FFFD}") } == true)
    }

    // MARK: 3.4

    @Test("A first session of version 3.4 has an app and a header field from its user agent")
    func oldSession() throws {
        let package = StoredPackage(
            className: "AIActivityPackage", path: "/startup", kind: "session", sdk: "ios3.4.0",
            agent: "com.example.kiosk 77 iPhone iPhone6,1 ios 7.1.1 de AT",
            parameters: [("app_token", "4w565xzmb54d"), ("created_at", "2014-07-21T14:05:16Z+0200")])
        let record = try #require(try QueueReading([package]).records.first)
        #expect(record.type == "session")
        #expect(record.app == App(id: "com.example.kiosk", build: "77"))
        #expect(record.time?.description == "2014-07-21T12:05:16.000Z")
        #expect(record.client == nil && record.notes == [] && record.heldCodes == ["attribution"])
        #expect(
            record.line.contains(
                #"""
                "target":{"headers":{"Client-Sdk":"ios3.4.0",\#
                "User-Agent":"com.example.kiosk 77 iPhone iPhone6,1 ios 7.1.1 de AT"},"path":"/startup"}
                """#))
    }

    @Test(
        "Only a user agent of eight words contains an app",
        arguments: [
            ("unknown unknown iPhone iPhone6,1 ios 7.1 zz zz", nil), ("com.example.kiosk 1", nil),
            ("com.example.kiosk 1 iPhone x ios 7 de AT more", nil),
            ("com.example.kiosk unknown iPhone x ios 7 de AT", App(id: "com.example.kiosk")),
        ] as [(String, App?)])
    func userAgents(agent: String, app: App?) throws {
        var package = StoredPackage.event()
        package.agent = agent
        #expect(try #require(try QueueReading([package]).records.first).app == app)
    }

    // MARK: 4.17.1 with a secret

    private static let secretPayload = #"""
        {"app_token":"4w565xzmb54d","bundle_id":"com.example.kiosk","callback_params":"{\"sku\":\"A\\/7\"}",\#
        "created_at":"2018-12-10T06:30:00.005Z-0500","currency":"EUR","environment":"production",\#
        "event_token":"g3mfiw","persistent_ios_uuid":"5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415","revenue":"12.50000"}
        """#
    private static let secretID = "sha256:64e9324e576a1886b3e0475a15141b9aa1ee913bf58412167416cfd65ecbc610"
    private static let secretForm = """
        app_token=4w565xzmb54d&bundle_id=com.example.kiosk&callback_params=%7B%22sku%22%3A%22A%5C%2F7%22%7D\
        &created_at=2018-12-10T06%3A30%3A00.005Z-0500&currency=EUR&environment=production&event_token=g3mfiw\
        &persistent_ios_uuid=5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415&revenue=12.50000
        """

    @Test("The credentials of a stored package, and an id that is not sent, are left out")
    func secret() throws {
        let package = StoredPackage(
            sdk: "ios4.17.1",
            parameters: [
                ("app_secret", "1729650811"), ("secret_id", "17"), ("event_callback_id", "cb-1"),
                ("app_token", "4w565xzmb54d"), ("bundle_id", "com.example.kiosk"),
                ("callback_params", #"{"sku":"A\/7"}"#), ("created_at", "2018-12-10T06:30:00.005Z-0500"),
                ("currency", "EUR"), ("environment", "production"), ("event_token", "g3mfiw"),
                ("persistent_ios_uuid", Self.install), ("revenue", "12.50000"),
            ])
        let record = try #require(try QueueReading([package]).records.first)
        #expect(record.text == Self.secretPayload)
        #expect(record.id == Self.secretID)
        #expect(record.time?.description == "2018-12-10T11:30:00.005Z")
        #expect(Set(record.noteCodes) == ["A7", "A12"])
        #expect(record.notes.contains { $0.contains("app_secret") && $0.contains("secret_id") })
        #expect(Set(record.heldCodes) == ["attribution", "signature"])
        #expect(!record.line.contains("1729650811") && !record.line.contains("cb-1"))
    }

    private func captured(_ form: String, _ headers: [HeaderField]) throws -> Record {
        let requests = AdjustSystem().requests
        guard case .fields = requests.body else {
            Issue.record("the payload is not a form")
            throw BodyError.invalid("no form")
        }
        var document = try JSONDocument(FormFields.json(of: Array(form.utf8)))
        let upload = CapturedUpload(
            route: try UploadRoute(method: "POST", url: "https://app.adjust.com/event"), headers: headers, time: nil,
            source: Source(capture: "c", path: "a.har", store: .harEntry, index: 0))
        return try upload.record(by: requests, in: &document)
    }

    @Test(
        "A captured request yields the same payload and id, without the parameters of the attempt",
        arguments: ["", "&sent_at=2018-12-10T11%3A30%3A02.505Z%2B0000&queue_size=3&retry_count=1&wait_time=60.25"])
    func capturedForm(attempt: String) throws {
        let record = try captured(Self.secretForm + attempt, [HeaderField("client-SDK", "ios4.17.1")])
        #expect(record.text == Self.secretPayload)
        #expect(record.id == Self.secretID)
        #expect(record.type == "event")
        #expect(record.target == Target(path: "/event", headers: ["Client-Sdk": "ios4.17.1"]))
        #expect(record.noteCodes == [] && record.heldCodes == ["attribution"])
        #expect(record.client == Self.install)
    }

    @Test("Any signature of a captured request is a reason for a hold")
    func capturedSignature() throws {
        let sdk = HeaderField("Client-Sdk", "ios4.17.1")
        // The values of secret header fields are replaced by empty strings.
        let signed = try captured(Self.secretForm, [sdk, HeaderField("authorization", "")])
        #expect(signed.heldCodes == ["attribution", "signature"])
        #expect(signed.id == Self.secretID)
        let new = try captured(Self.secretForm, [HeaderField("Client-Sdk", "ios5.0.0")])
        #expect(new.heldCodes == ["attribution", "signature"])
        let shown = try captured(Self.secretForm + "&app_secret=17&signature=x", [sdk])
        #expect(shown.heldCodes == ["attribution", "signature"] && shown.noteCodes == ["A7"])
        #expect(shown.id == Self.secretID)
    }

    @Test(
        "The user agent of a captured request counts only before version 4",
        arguments: [
            ("ios3.4.0", true), ("ios2.0", true), ("ios4.0.0", false), ("ios5.0.0", false), ("flutter", false),
        ])
    func capturedAgent(sdk: String, counts: Bool) throws {
        let agent = HeaderField("User-Agent", "com.example.kiosk 77 iPhone iPhone6,1 ios 7.1.1 de AT")
        let record = try captured(Self.secretForm, [HeaderField("Client-Sdk", sdk), agent])
        #expect(record.target?.headers["User-Agent"] == (counts ? agent.value : nil))
        #expect(record.target?.headers["Client-Sdk"] == sdk)
    }

    @Test(
        "A missing or repeated name of the SDK is not carried",
        arguments: [[], ["ios4.17.1", "ios4.18.0"], ["ios 4"], [""]])
    func capturedSDKs(names: [String]) throws {
        let record = try captured(Self.secretForm, names.map { HeaderField("Client-Sdk", $0) })
        #expect(record.target == Target(path: "/event"))
        #expect(record.noteCodes == ["A16"])
        #expect(record.heldCodes == ["attribution", "schema"])
    }
}
