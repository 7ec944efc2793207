import Files
import Foundation
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Capture

/// Tests of the hold for records of users who have switched off usage data.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 1.2.
@Suite struct UsageDataTests {
    /// An app with a setting for usage data.
    struct SettingCase: Sendable {
        let app: String
        let bundleID: String
        let file: String
        let key: String

        static let focus = SettingCase(
            app: "Focus", bundleID: "org.mozilla.ios.Focus",
            file: "group/Library/Preferences/group.org.mozilla.ios.Focus",
            key: "SendAnonymousUsageData")
        static let klar = SettingCase(
            app: "Klar", bundleID: "org.mozilla.ios.Klar", file: "group/Library/Preferences/group.org.mozilla.ios.Klar",
            key: "SendAnonymousUsageData")
        static let firefox = SettingCase(
            app: "Fennec", bundleID: "org.mozilla.ios.Firefox",
            file: "group/Library/Preferences/group.org.mozilla.ios.Firefox", key: "profile.settings.sendUsageData")
        static let webXR = SettingCase(
            app: "WebXR", bundleID: "org.mozilla.ios.XRViewer",
            file: "app/Library/Preferences/org.mozilla.ios.XRViewer",
            key: "useAnalytics")
    }

    private static let client = "4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083"

    /// Adds two pings of `app` to the container in the folder `container`.
    private func putPings(of app: String, in container: String, _ folder: CaptureFolder, first: Int = 1) throws {
        for number in first...first + 1 {
            let ping = CaptureFolder.ping(number).replacing("/core/Focus/", with: "/core/\(app)/")
            try folder.put("\(container)/\(corePings)/-t-\(number).json", ping)
        }
    }

    private func putSwitch(_ isOn: Any?, _ setting: SettingCase, below prefix: String = "", _ folder: CaptureFolder)
        throws
    {
        var values: [String: Any] = ["BlockAds": true]
        values[setting.key] = isOn
        try folder.putPropertyList("\(prefix)\(setting.file).plist", values)
    }

    /// The results of reading a capture.
    private struct Found {
        let records: [Record]
        let withdrawals: [Withdrawal]
        let problems: [LocatedProblem]
        /// The state of usage data for each store, by path.
        let states: [String: UsageDataState]

        var holds: [String] { records.map { $0.held.map(\.text).joined(separator: " ") } }
    }

    private func read(_ capture: CapturedFolder) async throws -> Found {
        var withdrawals: [Withdrawal] = []
        let options = ScanOptions(systems: Systems.table)
        try await CaptureReader([.folder(capture)], options: options, jobs: 2).read(0) { output in
            withdrawals += output.withdrawals
        }
        let found = try await ReadCapture(capture)
        var states: [String: UsageDataState] = [:]
        for (index, store) in capture.stores.enumerated() {
            let app = found.records.first { $0.source.path.hasPrefix(store.path) }?.app
            states[store.path] = capture.usageDataStatus(ofStore: index, app: app)?.state
        }
        return Found(
            records: found.records, withdrawals: withdrawals, problems: found.problems, states: states)
    }

    private func read(_ folder: CaptureFolder) async throws -> Found { try await read(folder.open()) }

    // MARK: The truth table

    /// A value of a setting and the expected state, where `nil` means that the file was not captured.
    private static let table: [(SettingCase, Bool?, isCaptured: Bool, UsageDataState)] = [
        (.focus, true, true, .on), (.focus, false, true, .off), (.focus, nil, true, .on),
        (.focus, nil, false, .unknown),
        (.klar, true, true, .on), (.klar, false, true, .off), (.klar, nil, true, .off), (.klar, nil, false, .unknown),
        (.firefox, true, true, .on), (.firefox, false, true, .off), (.firefox, nil, true, .on),
        (.firefox, nil, false, .unknown),
        (.webXR, true, true, .on), (.webXR, false, true, .off), (.webXR, nil, true, .unknown),
        (.webXR, nil, false, .unknown),
    ]

    @Test("Records are held if the setting is off, in containers with and without a known app", arguments: 0..<16)
    func truthTable(row: Int) async throws {
        let (setting, value, isCaptured, state) = Self.table[row]
        for identifier in [nil, setting.bundleID] {
            let folder = try CaptureFolder()
            try putPings(of: setting.app, in: "app", folder)
            if isCaptured { try putSwitch(value, setting, folder) }
            if let identifier {
                try folder.putPropertyList(
                    "app/.com.apple.mobile_container_manager.metadata.plist", ["MCMMetadataIdentifier": identifier])
            }
            let found = try await read(folder)
            #expect(found.holds == (state == .off ? ["opted-out", "opted-out"] : ["", ""]))
            #expect(found.states["app/\(corePings)"] == state)
            #expect(found.problems.isEmpty)
            let notes = found.records.flatMap(\.notes)
            guard state == .off else {
                #expect(found.withdrawals.isEmpty && notes.isEmpty)
                continue
            }
            let note = "opted-out \(setting.key) is off in \(setting.file).plist"
            #expect(notes == [note, note])
            let withdrawal = try #require(found.withdrawals.first)
            #expect(found.withdrawals.allSatisfy { $0 == withdrawal })
            #expect(withdrawal.reason == .optedOut && withdrawal.path == "\(setting.file).plist")
            #expect(withdrawal.subject == Withdrawal.Subject(SystemName("mozilla"), .client, id: Self.client))
        }
    }

    @Test(
        "A value is read as by UserDefaults.bool(forKey:)",
        arguments: [
            ("1", "on"), ("0", "off"), ("true", "on"), ("YES", "on"), ("no", "off"), ("2", "off"), ("", "off"),
        ])
    func strings(value: String, state: String) async throws {
        let folder = try CaptureFolder()
        try putPings(of: "Focus", in: "app", folder)
        try putSwitch(value, .focus, folder)
        #expect(try await read(folder).states["app/\(corePings)"]?.rawValue == state)
    }

    @Test("Numbers other than 0 are true, and values of other types are false")
    func otherValues() async throws {
        for (value, state) in [(1, .on), (0, .off), (7, .on), (0.0, .off), (0.5, .on), ([true], .off), (Date(), .off)]
            as [(Any, UsageDataState)]
        {
            let folder = try CaptureFolder()
            try putPings(of: "Focus", in: "app", folder)
            try putSwitch(value, .focus, folder)
            #expect(try await read(folder).states["app/\(corePings)"] == state, "\(value)")
        }
    }

    @Test("Pending events are held as well, and the client in the preferences is withdrawn without any record")
    func pendingEventsAndPreferences() async throws {
        let folder = try CaptureFolder()
        try putSwitch(false, .focus, folder)
        try folder.putPropertyList(
            "app/Library/Preferences/org.mozilla.ios.Focus.plist", ["telemetry-key-prefix-clientId": "ABCD"])
        let withoutRecords = try await read(folder)
        #expect(withoutRecords.records.isEmpty)
        #expect(withoutRecords.withdrawals.map(\.subject) == [.init(SystemName("mozilla"), .client, id: "abcd")])
        try folder.put(
            "app/Documents/eventArray-MozTelemetry-Default-focus-event.json", #"[1,"action","foreground","app"]"#)
        let found = try await read(folder)
        #expect(found.holds == ["pending-events opted-out"])
    }

    @Test("A damaged file leaves the state unknown and is reported", arguments: ["", "x", "SendAnonymousUsageData"])
    func damaged(contents: String) async throws {
        let folder = try CaptureFolder()
        try putPings(of: "Focus", in: "app", folder)
        try folder.put("\(SettingCase.focus.file).plist", contents)
        let found = try await read(folder)
        #expect(found.holds == ["", ""])
        #expect(found.states["app/\(corePings)"] == .unknown)
        let problem = try #require(found.problems.first { $0.path == "\(SettingCase.focus.file).plist" })
        #expect(problem.problem.text.hasPrefix("it is unknown whether usage data is switched on"))
        #expect(!problem.problem.isLoss && problem.problem.isWarning)
    }

    @Test("Preferences are a store only if they contain the setting")
    func stores() async throws {
        let folder = try CaptureFolder()
        try putSwitch(nil, .klar, folder)
        #expect(try await folder.open().stores.isEmpty)
        try putSwitch(false, .klar, folder)
        let found = try await read(folder)
        #expect(found.states == ["\(SettingCase.klar.file).plist": .off])
    }

    // MARK: Several phones

    @Test("A switch of one phone does not apply to another phone, and the nearest one applies")
    func fleet() async throws {
        let folder = try CaptureFolder()
        for (phone, value) in [(1, false), (2, nil), (3, true)] as [(Int, Bool?)] {
            try putPings(of: "Focus", in: "phone-\(phone)/app", folder, first: 2 * phone)
            if let value { try putSwitch(value, .focus, below: "phone-\(phone)/", folder) }
        }
        let found = try await read(folder)
        #expect(found.holds == ["opted-out", "opted-out", "", "", "", ""])
        let states = (1...3).map { found.states["phone-\($0)/app/\(corePings)"] }
        #expect(states == [.off, .unknown, .on])
    }

    @Test("A container of another app between the app and its group does not matter")
    func otherApp() async throws {
        let folder = try CaptureFolder()
        try putPings(of: "Klar", in: "phone/x/app", folder)
        try putSwitch(false, .focus, below: "phone/x/", folder)
        try putPings(of: "Focus", in: "phone/focus", folder, first: 3)
        try folder.putPropertyList(
            "phone/focus/.com.apple.mobile_container_manager.metadata.plist",
            ["MCMMetadataIdentifier": "org.mozilla.ios.Focus"])
        let found = try await read(folder)
        let held = found.records.filter { !$0.held.isEmpty }
        #expect(held.count == 2 && held.allSatisfy { $0.app?.name == "Focus" })
    }

    @Test("Of equally near switches, one that is off applies, then one whose state is unknown")
    func ties() async throws {
        for (values, state) in [
            (["true", "false"], .off), (["false", "true"], .off), (["true", "damaged"], .unknown),
            (["damaged", "false"], .off), (["true", "true"], .on),
        ] as [([String], UsageDataState)] {
            let folder = try CaptureFolder()
            try putPings(of: "Focus", in: "app", folder)
            for (number, value) in values.enumerated() {
                let path = "group-\(number)/Library/Preferences/group.org.mozilla.ios.Focus.plist"
                if value == "damaged" {
                    try folder.put(path, "x")
                } else {
                    try folder.putPropertyList(path, ["SendAnonymousUsageData": value == "true"])
                }
            }
            #expect(try await read(folder).states["app/\(corePings)"] == state, "\(values)")
        }
    }

    @Test("The folders of iOS and the domains of a backup identify the containers")
    func knownContainers() async throws {
        for (app, group) in [
            (
                "private/var/mobile/Containers/Data/Application/org.mozilla.ios.Klar",
                "private/var/mobile/Containers/Shared/AppGroup/group.org.mozilla.ios.Klar"
            ), ("AppDomain-org.mozilla.ios.Klar", "AppDomainGroup-group.org.mozilla.ios.Klar"),
        ] {
            let folder = try CaptureFolder()
            // The records name another app, but the container is the one of Klar.
            try putPings(of: "Focus", in: app, folder)
            try folder.putPropertyList(
                "\(group)/Library/Preferences/group.org.mozilla.ios.Klar.plist", ["BlockAds": true])
            #expect(try await read(folder).holds == ["opted-out", "opted-out"])
        }
    }

    @Test("Archives are read like folders, and two archives like two phones", arguments: ["zip", "pax"])
    func archives(format: String) async throws {
        let folder = try CaptureFolder()
        let plist = #"""
            <plist version="1.0"><dict><key>SendAnonymousUsageData</key><false/></dict></plist>
            """#
        let preferences = TestArchive.Member.file("\(SettingCase.focus.file).plist", plist)
        let one = try TestArchive(format, [.ping(1, in: "app/\(corePings)"), preferences], name: "one")
        #expect(try await read(one.open()).holds == ["opted-out"])
        let two = try TestArchive(format, [.ping(2, in: "app/\(corePings)")], name: "two")
        for archive in [one, two] {
            try folder.put(URL(fileURLWithPath: archive.path).lastPathComponent, archive.bytes)
        }
        let found = try await read(folder)
        #expect(found.holds == ["opted-out", ""])
    }

    @Test("A backup contains the preferences of app groups")
    func backup() async throws {
        let opener = InputOpener(systems: Systems.table, limit: JobLimit(jobs: 2), spool: Spool())
        guard case .folder(let capture)? = try await opener.open([BackupCase.named("plain-opted-out").input]).first
        else {
            return #expect(Bool(false))
        }
        let found = try await read(capture)
        #expect(!found.records.isEmpty)
        #expect(found.records.allSatisfy { $0.held.contains { $0.text == "opted-out" } })
    }

    @Test(
        "Leanplum's records of Firefox are held, but not those of other apps",
        arguments: ["org.mozilla.ios.Firefox", "com.example.shop"])
    func leanplum(bundleID: String) async throws {
        let folder = try CaptureFolder()
        try putSwitch(false, .firefox, folder)
        try tool(["cp", "-R", try LeanplumCase.named("sqlite-basic").path, "\(folder.path)/app"])
        try folder.putPropertyList(
            "app/.com.apple.mobile_container_manager.metadata.plist", ["MCMMetadataIdentifier": bundleID])
        let found = try await read(folder)
        #expect(!found.records.isEmpty)
        let isFirefox = bundleID == "org.mozilla.ios.Firefox"
        #expect(found.records.allSatisfy { $0.held.contains { $0.text == "opted-out" } == isFirefox })
        #expect(found.withdrawals.isEmpty != isFirefox)
    }
}
