import Foundation
import TestSupport
import Testing

/// Tests of scans of many containers, which are listed by app.
@Suite struct RollUpCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    /// Makes a capture with copies of samples, each in a separate container.
    private func copies(_ count: Int, of samples: String..., in name: String = "phones") throws -> String {
        let script = """
            for sample in "${@:4}"; do for number in $(seq "$3"); do
                to="$2/Containers/Data/Application/$sample-$number"; mkdir -p "$to"
                from="$1/$sample/Containers/Data/Application"; test -d "$from" || from="$1"
                test "$from" = "$1" && from="$1/$sample" || from=$(echo "$from"/*)
                cp -R "$from/." "$to"
            done; done
            """
        let finished = try shell(script, ["\(repository)/samples", folder(name), "\(count)"] + samples)
        try #require(finished.status == 0, "\(finished.errors)")
        return folder(name)
    }

    @Test("The totals of hundreds of containers fit on a screen")
    func manyContainers() throws {
        let load = folder("load")
        try tool(
            "python3", "\(repository)/Tests/Load/make_load.py", load, "--containers", "240", "--pings", "720")
        let finished = try pingferry("scan", load)
        #expect(finished.status == 0)
        #expect(finished.lines.count <= 20)
        #expect(finished.lines.first == "load:")
        #expect(finished.lines.contains("  720 stores in 240 containers, grouped by app; --stores lists each store"))
        #expect(finished.lines.last == "720 records (720 uploadable)")

        let json = try pingferry("scan", "--json", load).json()
        let stores = try #require(json["stores"] as? [[String: Any]])
        let apps = try #require(json["apps"] as? [[String: Any]])
        #expect(stores.count == 720)
        let byApp = Dictionary(grouping: stores) { ($0["app"] as? [String: String])?["id"] ?? "" }
        #expect(Set(apps.compactMap { $0["id"] as? String }) == Set(byApp.keys))
        #expect(byApp.count == 4)
        for app in apps {
            let own = try #require(byApp[app["id"] as? String ?? ""])
            func sum(_ key: String) -> Int { own.reduce(0) { $0 + ($1[key] as? Int ?? 0) } }
            let containers = Set(own.compactMap { $0["container"] as? String }).count
            #expect(app["containers"] as? Int == containers)
            #expect(app["stores"] as? Int == own.count)
            #expect(app["records"] as? Int == sum("records") && sum("records") > 0)
            #expect(app["uploadable"] as? Int == sum("uploadable"))
            let name = try #require(app["name"] as? String)
            let line = try #require(finished.lines.firstIndex { $0.hasPrefix("  \(name) ") })
            #expect(finished.lines[line + 1].hasPrefix("    \(containers) containers, \(own.count) stores: "))
            let records = "mozilla: \(sum("records")) records (\(sum("uploadable")) uploadable)"
            #expect(finished.lines[line + 2] == "    \(records)")
        }

        let each = try pingferry("scan", "--stores", load).lines
        // Each container has two lines that state that the switch for usage data is unknown.
        #expect(each.count == 2 + 240 + 2 * 720 + 2 * 240)
        #expect(each.filter { $0.contains("      mozilla-ping-file of ") }.count == 480)
    }

    @Test("Holds, pending events, queues, facts, problems and quarantined items are listed")
    func completeness() throws {
        let finished = try pingferry("scan", try copies(24, of: "damaged", "firefox-today", "focus", "shop"))
        #expect(finished.status == 1)
        for line in [
            "  432 stores in 96 containers, grouped by app; --stores lists each store",
            "  Fennec, 2 versions", "    events: markers 24, pending 120",
            "    queues: 24 ready for upload: pings are pending",
            "    metrics not in a ping yet: metrics 1 (24 times)", "  Larkspur 8.4.0",
            "  quarantined: F4 24, F5 24, P1 24, P12 24, P2 24, P5 24", "  pending-counters: 24 problems",
            "    and 21 more; --stores lists them",
        ] { #expect(finished.lines.contains(line), "\(line)") }
        let waiting =
            "24 ready for upload: more pending events than allowed; 24 not ready: too few events, too soon after "
            + "the last upload or event; 24 empty; 48 pending: the app decides when they are uploaded"
        #expect(finished.unwrapped.contains(" queues: \(waiting) "))
        #expect(finished.unwrapped.contains(": the app makes pings of it, so no records are made (24 times)"))
        let focus = try #require(finished.lines.firstIndex { $0.hasPrefix("  Focus 8.1.3") })
        #expect(finished.lines[focus + 3].contains("; held: pending-events 1)"))
        #expect(finished.lines.filter { $0.contains("org.mozilla.ios.Focus.plist: sessions 1") }.count == 3)
        #expect(finished.lines.count < 55)
        #expect(finished.errorLines.count == 21)

        let apps = try #require(try pingferry("scan", "--json", folder("phones")).json()["apps"] as? [[String: Any]])
        let shop = try #require(apps.first { $0["name"] as? String == "Larkspur" })
        let queues = try #require(shop["queues"] as? [[String: Any]])
        #expect(
            queues.map { "\($0["readiness"] ?? "") \($0["code"] ?? "") \($0["queues"] ?? "")" } == [
                "ready too-many 24", "not-ready too-few 24", "empty empty 24", "unknown rule-of-app 48",
            ])
        #expect((shop["pendingEvents"] as? [String: Int])?["pending"] == 24 * 14)
        #expect(apps.reduce(0) { $0 + ($1["quarantineCount"] as? Int ?? 0) } == 144)
        #expect(apps.reduce(0) { $0 + ($1["problemCount"] as? Int ?? 0) } == 24)
    }

    @Test("A few problems are listed individually")
    func fewProblems() throws {
        let lines = try pingferry("scan", try copies(20, of: "focus")).lines
        #expect(lines.filter { $0.contains("org.mozilla.ios.Focus.plist: sessions 1") }.count == 20)
        #expect(!lines.contains { $0.contains("more; --stores") })
    }

    @Test("Up to 40 stores, or the stores of up to 3 containers, are listed individually")
    func thresholds() throws {
        let note = "grouped by app"
        #expect(try !pingferry("scan", try copies(10, of: "focus", in: "ten")).text.contains(note))
        #expect(try pingferry("scan", try copies(11, of: "focus", in: "eleven")).text.contains(note))
        let three = try copies(3, of: "shop", in: "three")
        let script = #"cd "$1"; for n in $(seq 50); do cp -p "$2/login" "$2/more-$n"; done"#
        let queues = "Containers/Data/Application/shop-1/Library/Caches/sift-v0_0_1/queues"
        #expect(try shell(script, [three, queues]).status == 0)
        let lines = try pingferry("scan", three).lines
        #expect(lines.filter { $0.contains(": sift-queue of ") }.count == 65)
    }

    @Test("Several captures are combined, and captures without a store are named")
    func severalCaptures() throws {
        let phones = try (1...12).map { try folder.copySample("focus", to: "phone-\($0)") }
        let bundle = folder("a.tar.zst")
        #expect(try pingferry("bundle", "-q", "-o", bundle, sample("webxr")).status == 0)
        let backup = try BackupCase.named("plain-nothing").input
        let finished = try shell(#""$0" "$@""#, ["scan"] + phones + [bundle, backup])
        #expect(finished.status == 1)
        for line in [
            "14 captures:", "  1 backup, 0 of them encrypted",
            "  49 stores in 12 containers, grouped by app; --stores lists each store",
            "  no store in: plain-nothing",
            "  phone-7: Library/Preferences/org.mozilla.ios.Focus.plist: sessions 1, durations 0, searches in 1 key are in "
                + "no ping yet",
        ] { #expect(finished.lines.contains(line), "\(line)") }
        let absent = "its pings are in Library/Caches, which backups do not contain"
        #expect(finished.lines.filter { $0.hasSuffix(" in 1 backup: \(absent)") }.count == 2)
        let unknown = try #require(finished.lines.firstIndex(of: "  (unknown)"))
        #expect(finished.lines[unknown + 1] == "    0 containers, 1 store: bundle 1")
        #expect(finished.lines[unknown + 2] == "    mozilla: 6 records (5 uploadable; held: pending-events 1)")
    }
}
