import Foundation
import TestSupport
import Testing

@Suite struct ScanTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func storesAreListedByPath() throws {
        let stores = try #require(
            try pingferry("scan", "--json", sample("focus")).json()["stores"] as? [[String: Any]])
        #expect(
            stores.compactMap { $0["path"] as? String } == [
                "Documents/MozTelemetry-Default-core", "Documents/MozTelemetry-Default-focus-event",
                "Documents/eventArray-MozTelemetry-Default-focus-event.json",
                "Library/Preferences/org.mozilla.ios.Focus.plist",
            ])
        #expect(
            stores.compactMap { $0["kind"] as? String } == [
                "mozilla-ping-file", "mozilla-ping-file", "mozilla-pending-events", "mozilla-defaults",
            ])
        #expect(stores.compactMap { $0["records"] as? Int } == [3, 3, 1, 0])
        #expect(stores.compactMap { ($0["quarantined"] as? [Any])?.count } == [0, 0, 1, 0])
        #expect((stores.first?["app"] as? [String: String])?["version"] == "8.1.3")
    }

    @Test func groupContainerIsPairedWithItsApp() throws {
        let stores = try #require(
            try pingferry("scan", "--json", sample("firefox")).json()["stores"] as? [[String: Any]])
        let group = try #require(stores.last)
        #expect(group["containerID"] as? String == "group.org.mozilla.ios.Firefox")
        #expect(group["container"] as? String == "AppDomainGroup-group.org.mozilla.ios.Firefox")
        #expect(group["appContainer"] as? String == "AppDomain-org.mozilla.ios.Firefox")
        #expect((group["app"] as? [String: String])?["name"] == "Fennec")
        #expect(stores.dropLast().allSatisfy { $0["appContainer"] is NSNull })
    }

    @Test func storesHaveParagraphs() throws {
        let finished = try pingferry("scan", sample("webxr"))
        #expect(finished.status == 0)
        #expect(finished.lines.first == "webxr:")
        #expect(finished.lines.filter { $0.hasPrefix("      mozilla-") }.count == 4)
        #expect(finished.lines.last == "6 records (5 uploadable; held: pending-events 1)")
        #expect(try pingferry("scan", "-q", sample("webxr")).output.isEmpty)
    }

    @Test func numberOfJobsCanFollowLetter() throws {
        let expected = try pingferry("scan", sample("webxr")).text
        for words in [["-j1"], ["-j", "1"], ["-j=1"], ["--jobs=1"]] {
            let finished = try shell(#""$0" "$@""#, ["scan", sample("webxr")] + words)
            #expect(finished.status == 0, "\(words): \(finished.errors)")
            #expect(finished.text == expected)
        }
        let wrong = try pingferry("scan", "-jx", sample("webxr"))
        #expect(wrong.status == 64)
        #expect(wrong.errorLines.first == "pingferry: The value 'x' is invalid for '-j <n>'")
    }

    @Test func bundleCanBeScanned() throws {
        #expect(try pingferry("bundle", "-q", "-o", folder("a.tar.zst"), sample("damaged")).status == 1)
        let finished = try pingferry("scan", "--json", folder("a.tar.zst"))
        // The items in its quarantine were reported when the bundle was made.
        #expect(finished.status == 0)
        let stores = try #require(try finished.json()["stores"] as? [[String: Any]])
        #expect(stores.map { $0["kind"] as? String } == ["bundle"])
        #expect(stores.map { $0["records"] as? Int } == [5])
        #expect(stores.map { ($0["quarantined"] as? [Any])?.count } == [5])
        let text = try pingferry("scan", folder("a.tar.zst")).unwrapped
        #expect(text.contains("bundle of mozilla, 5 records, 5 quarantined, held: no-target 1, pending-events 1"))
    }

    @Test func singleStoreFileIsCapture() throws {
        let ping = "\(sample("focus"))/Documents/eventArray-MozTelemetry-Default-focus-event.json"
        let finished = try pingferry("scan", "--json", ping)
        #expect(finished.status == 1)
        #expect((try finished.json()["totals"] as? [String: Any])?["records"] as? Int == 1)
    }

    @Test func folderWithoutStoresIsRejected() throws {
        try folder.put("no ping", "notes/Documents/readme.txt")
        for path in [try folder.makeFolder("empty"), folder("notes")] {
            let finished = try pingferry("scan", path)
            #expect(finished.status == 65)
            #expect(finished.errorLines.first == "pingferry: \(path): no known store was found")
            #expect(finished.errorLines.count == 2, "no hint")
        }
    }

    @Test("A folder whose only store is a link is rejected with that reason")
    func folderWithOnlyLink() throws {
        let capture = try folder.makeFolder("capture")
        try FileManager.default.createSymbolicLink(
            atPath: "\(capture)/MozTelemetry-Default-core", withDestinationPath: sample("focus"))
        let finished = try pingferry("scan", capture)
        #expect(finished.status == 65)
        #expect(
            finished.errors == "pingferry: \(capture): MozTelemetry-Default-core: "
                + "symbolic link to \(sample("focus")) not followed; give that as a capture of its own\n")
    }

    @Test func linksAreReportedAndNotFollowed() throws {
        let capture = try folder.copySample("focus")
        let manager = FileManager.default
        try manager.createSymbolicLink(atPath: "\(capture)/loop", withDestinationPath: ".")
        try manager.createSymbolicLink(
            atPath: "\(capture)/MozTelemetry-Default-core",
            withDestinationPath: "Documents/MozTelemetry-Default-core")
        let scanned = try pingferry("scan", "--json", capture).json()
        #expect((scanned["totals"] as? [String: Any])?["records"] as? Int == 7)
        let problems = try #require(scanned["problems"] as? [[String: String]])
        #expect(problems.filter { $0["code"] == "link" }.map { $0["path"] } == ["MozTelemetry-Default-core"])
    }

    @Test func pipesAreReportedAndNotRead() throws {
        let capture = try folder.copySample("webxr")
        let pipe = "Documents/MozTelemetry-Default-core/-t-1583154291.9.json"
        try folder.makeFolder("webxr/Documents/MozTelemetry-Default-core")
        #expect(mkfifo("\(capture)/\(pipe)", 0o600) == 0)
        let scanned = try pingferry("scan", "--json", capture)
        #expect((try scanned.json()["totals"] as? [String: Any])?["records"] as? Int == 6)
        for command in ["scan", "convert", "bundle"] {
            let output = command == "scan" ? [] : ["-o", folder(command)]
            let finished = try shell(#""$0" "$@""#, [command, "-q", capture] + output)
            #expect(finished.status == 0)
            #expect(
                finished.errors
                    == "pingferry: webxr: \(pipe): not read: a pipe, a socket or a device in the place of a file\n")
        }
    }

    /// Pipes in the place of files that are opened by their names.
    private static let pipes = [
        "pipe", ".hidden", "photos.zip", "Info.plist", "Manifest.db", "Documents/__leanplum.sqlite",
        ".com.apple.mobile_container_manager.metadata.plist", "Library/Preferences/org.mozilla.ios.Focus.plist",
        "Documents/MozTelemetry-Default-core/-t-1583154291.9.json", "Library/glean_data/db/data.safe.bin",
        "Library/glean_data/pending_pings/pipe", "Library/glean_data/tmp/pipe",
    ]

    @Test("All pipes in a capture are named, and none is opened", .timeLimit(.minutes(5)))
    func pipesAreNeverOpened() throws {
        let capture = try folder.copySample("webxr")
        for name in Self.pipes {
            try folder.makeFolder(
                "webxr/" + (name.contains("/") ? name[..<(name.lastIndex(of: "/") ?? name.endIndex)] : ""))
            #expect(mkfifo("\(capture)/\(name)", 0o600) == 0)
        }
        try folder.put("", "webxr/Library/glean_data/pending_pings/other")
        for command in [["scan"], ["convert", "-o", folder("a.ndjson")], ["bundle", "-o", folder("a.tar.zst")]] {
            let limited = ["timeout", "-s", "KILL", "120"]
            let trace =
                DurableFiles.canTrace
                ? ["strace", "-f", "-qq", "-y", "-e", "trace=open,openat", "-o", folder("log")] : []
            let finished = try RunningProgram(limited + trace + [pingferryPath] + command + ["--json", capture])
                .finish()
            #expect([0, 1].contains(finished.status), "\(finished.errors)")
            let problems = try #require(finished.json()["problems"] as? [[String: Any]])
            let named = problems.compactMap { $0["path"] as? String }
            for name in Self.pipes { #expect(named.contains(name), "\(command) \(name)") }
            guard !trace.isEmpty else { continue }
            let log = try folder.text("log")
            // With -y, the log contains the path of each file that was opened.
            for name in Self.pipes { #expect(!log.contains("<\(capture)/\(name)>"), "\(command) \(name)") }
            #expect(log.contains("<\(capture)/Library/glean_data/pending_pings/other>"))
        }
    }

    @Test("Lines have at most 80 columns, unless a path is longer", arguments: samples)
    func width(name: String) throws {
        let finished = try RunningProgram(
            [pingferryPath, "scan", sample(name)], environment: ["PINGFERRY_BACKUP_PASSWORD": "ferry"]
        ).finish()
        #expect(finished.lines.count > 3)
        for line in finished.lines where line.count > 80 { #expect(!line.drop { $0 == " " }.contains(" "), "\(line)") }
    }

    @Test func gleanDataDirectoryShowsPendingPings() throws {
        let finished = try pingferry("scan", sample("firefox-today"))
        #expect(finished.lines.contains("    Library/Application Support/glean_data"))
        let queue = "ready for upload: 6 pings of 5048 bytes; SDK 66.3.0 keeps no more than 250 pings and 10 MB"
        #expect(finished.unwrapped.contains(" pending_pings: \(queue) "))
        #expect(finished.lines.contains("      metrics not in a ping yet: metrics 1"))
        #expect(finished.lines.last == "9 records (6 uploadable; held: capability 1, pending-events 2)")
    }

    private static let container = "private/var/mobile/Containers/Data/Application"

    /// Writes a phone with a container without stores, one with the queues of other SDKs, and one with stores.
    private func makePhone() throws -> String {
        let phone = try folder.makeFolder("phone")
        for name in [
            "AAAA/Documents/notes.txt", "BBBB/Library/Caches/io.sentry/1/envelopes/1.json",
            "BBBB/Library/Application Support/Google/Measurement/google-app-measurement.sql",
            "BBBB/Library/com.amplitude.database", "BBBB/Library/com.amplitude.database_b",
            // Names that are those of a queue only in another folder, or only of a folder.
            "BBBB/Documents/amplitude/x", "BBBB/Documents/io.sentry",
        ] {
            try folder.put("x", "phone/\(Self.container)/\(name)")
        }
        try folder.put("x", "phone/System/Library/io.sentry.txt")
        return phone
    }

    private func inventory(_ words: [String]) throws -> [[String: Any]] {
        try #require(
            try shell(#""$0" "$@""#, ["scan", "--json", "--inventory"] + words).json()["inventory"] as? [[String: Any]])
    }

    @Test("The inventory lists containers with and without stores, and the queues of other SDKs")
    func inventory() throws {
        let phone = try makePhone()
        #expect(try pingferry("scan", phone).status == 65)
        let sample = try folder.copySample("focus")
        try FileManager.default.moveItem(atPath: sample, toPath: "\(phone)/\(Self.container)/CCCC")
        try tool("tar", "-cf", folder("phone.tar"), "-C", folder(""), "phone")
        for (path, prefix) in [(phone, ""), (folder("phone.tar"), "phone/")] {
            let entries = try inventory([path])
            let containers = ["AAAA", "BBBB", "CCCC"].map { "\(prefix)\(Self.container)/\($0)" }
            #expect(entries.map { $0["container"] as? String } == containers)
            #expect(entries.map { $0["stores"] as? Int } == [0, 0, 4])
            #expect(entries.map { $0["systems"] as? [String] } == [[], [], ["mozilla"]])
            let queues = entries.map { $0["otherQueues"] as? [[String: Any]] ?? [] }
            #expect(queues.map(\.count) == [0, 3, 0])
            #expect(
                queues[1].map { $0["sdk"] as? String } == ["Google Analytics for Firebase", "Sentry", "Amplitude"])
            #expect(queues[1].map { $0["entries"] as? Int } == [1, 1, 2])
            #expect(queues[1].last?["path"] as? String == "\(containers[1])/Library/com.amplitude.database")
        }
        #expect(try pingferry("scan", "--json", phone).json()["inventory"] == nil)
    }

    @Test("A phone without known stores has an inventory, and one without containers is rejected")
    func inventoryWithoutStores() throws {
        let finished = try pingferry("scan", "--inventory", try makePhone())
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(finished.lines.contains("phone: 2 containers, 0 with stores, 1 with queues of other SDKs"))
        #expect(finished.lines.contains("    not read: Sentry, Library/Caches/io.sentry"))
        #expect(finished.lines.filter { $0 == "    no store of a known system" }.count == 2)
        try folder.put("x", "notes/Documents/readme.txt")
        #expect(try pingferry("scan", "--inventory", folder("notes")).status == 65)
    }

    @Test("The inventory of a backup is made of the rows of its manifest")
    func inventoryOfBackup() throws {
        let scanned = try RunningProgram(
            [pingferryPath, "scan", "--json", "--inventory", sample("backup")],
            environment: ["PINGFERRY_BACKUP_PASSWORD": "ferry"]
        ).finish().json()
        let entries = try #require(scanned["inventory"] as? [[String: Any]])
        let stores = try #require(scanned["stores"] as? [[String: Any]])
        let read = Set(stores.compactMap { $0["container"] as? String })
        #expect(Set(entries.filter { $0["stores"] as? Int != 0 }.compactMap { $0["container"] as? String }) == read)
        #expect(entries.allSatisfy { $0["containerID"] is String })
    }
}
