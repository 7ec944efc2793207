import Foundation
import TestSupport
import Testing

/// Tests the commands with stores of the Sift SDK.
@Suite struct SiftCommandTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Returns the path of the stores with expected results.
    private func captures() throws -> String {
        try SharedCaptures.unpacked("sift")
    }

    private func stores(_ finished: FinishedProgram) throws -> [[String: Any]] {
        try #require(try finished.json()["stores"] as? [[String: Any]])
    }

    @Test func scanEvaluatesRulesOfQueues() throws {
        let finished = try pingferry("scan", sample("shop"))
        #expect(finished.status == 0)
        #expect(
            finished.lines == [
                "shop:", "  Containers/Data/Application/6E0B1F52-93C4-4D7A-8E21-B5A0C7D4F318",
                "    Library/Caches/sift-v0_0_1",
                "      account id present, beacon key present, user id present",
                "      app states last collected 2025-09-23T08:48:55.002Z, 28.6354 of 30 tokens",
                "      batch 0 was rejected once so far",
                "      uploader: sift-uploader of Larkspur 8.4.0, 2 records",
                "      queues/login: sift-queue of Larkspur 8.4.0, 1 record",
                "      queues/login: 2 events pending; the app decides when they are uploaded",
                "      queues/orders: sift-queue of Larkspur 8.4.0, 1 record",
                "      queues/orders: 3 events pending; the app decides when they are uploaded",
                "      queues/searches: sift-queue of Larkspur 8.4.0, 0 records",
                "      queues/searches: nothing pending",
                "      queues/sift-default: sift-queue of Larkspur 8.4.0, 1 record",
                "      queues/sift-default: not ready: 4 events pending; ready with more than 32",
                "        or from 2025-09-23T08:49:31.752Z on",
                "      queues/sift-devprops: sift-queue of Larkspur 8.4.0, 1 record",
                "      queues/sift-devprops: ready for upload: 1 event pending, more than 0",
                "6 records (6 uploadable)",
            ])
    }

    @Test func queuesAreEvaluatedAtGivenTime() throws {
        func queue(_ arguments: String...) throws -> [String: Any] {
            let finished = try pingferry("scan", "--json", sample("shop"), arguments.first ?? "--json")
            let row = try #require(
                try stores(finished).first { ($0["path"] as? String)?.hasSuffix("sift-default") == true })
            return try #require(row["queue"] as? [String: Any])
        }
        let asLeft = try queue()
        #expect(asLeft["ready"] as? Bool == false)
        #expect(asLeft["at"] as? String == "2025-09-23T08:49:20.441Z")
        #expect(asLeft["lastUpload"] as? String == "2025-09-23T08:48:31.751Z")
        let later = try queue("--at=2025-09-24")
        #expect(later["ready"] as? Bool == true)
        #expect(later["at"] as? String == "2025-09-24T00:00:00.000Z")
        #expect(try pingferry("scan", "--at", "soon", sample("shop")).status == 64)
    }

    /// A binary archive stores equal strings once, so a string value can be the same object as a key.
    @Test("An event with a string instead of a reference is omitted, also if the string was a key before")
    func stringInsteadOfReference() throws {
        let script = """
            import plistlib, sys
            objects = ["$null"]
            def add(value):
                objects.append(value)
                return plistlib.UID(len(objects) - 1)
            def kind(name):
                return add({"$classname": name, "$classes": [name, "NSObject"]})
            event, dictionary, array = kind("SiftEvent"), kind("NSDictionary"), kind("NSArray")
            key, value = add("k"), add(1)
            def make(time, keys):
                state = add({"$class": dictionary, "NS.keys": keys, "NS.objects": [value]})
                return add({"$class": event, "time": time, "iosAppState": state})
            events = [make(number, ["k" if number == 2 else key]) for number in range(4)]
            queue = add({"$class": array, "NS.objects": events})
            root = add({"$class": dictionary, "NS.keys": [add("queue")], "NS.objects": [queue]})
            archive = {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": root}, "$objects": objects}
            with open(sys.argv[1], "wb") as file:
                plistlib.dump(archive, file, fmt=plistlib.FMT_BINARY)
            """
        try folder.makeFolder("capture/sift-v0_0_1/queues")
        try tool("python3", "-c", script, folder("capture/sift-v0_0_1/queues/q"))
        let finished = try pingferry("convert", "--payload-only", "-o", "-", folder("capture"))
        #expect(finished.status == 1)
        let entries = [0, 1, 3].map { #"{"ios_app_state":{"k":1},"time":\#($0)}"# }
        #expect(finished.text == #"{"data":[\#(entries.joined(separator: ","))]}"# + "\n")
        #expect(finished.errors == "pingferry: capture: sift-v0_0_1/queues/q: bad-collection 1 left out\n")
    }

    @Test func repeatedEventsAreCounted() throws {
        let capture = "\(try captures())/edge"
        let queues = try stores(try pingferry("scan", "--json", capture)).compactMap { $0["queue"] as? [String: Any] }
        #expect(queues.map { $0["repetitions"] as? Int } == [0, 1, 0])
        let text = try pingferry("scan", capture).unwrapped
        #expect(text.components(separatedBy: "; 1 event repeats the preceding event").count == 2)
    }

    @Test func scanCountsEvents() throws {
        let rows = try stores(try pingferry("scan", "--json", sample("shop")))
        #expect(rows.map { $0["kind"] as? String } == ["sift-uploader"] + Array(repeating: "sift-queue", count: 5))
        let events = rows.compactMap { ($0["pendingEvents"] as? [String: Int])?["emitted"] }
        #expect(events == [4, 2, 2, 0, 4, 1])
        #expect(rows.map { $0["records"] as? Int } == [2, 1, 1, 0, 1, 1])
        #expect((rows[0]["app"] as? [String: String])?["name"] == "Larkspur")
        #expect((rows[0]["facts"] as? [String])?.first == "account id present, beacon key present, user id present")
    }

    @Test func bundleOfSampleIsValid() throws {
        #expect(try pingferry("bundle", "-o", folder("a.tar.zst"), sample("shop")).status == 0)
        #expect(try pingferry("verify", folder("a.tar.zst")).status == 0)
        let lines = try pingferry("convert", "-o", "-", folder("a.tar.zst")).lines
        #expect(lines == (try pingferry("convert", "-o", "-", sample("shop")).lines))
        #expect(lines.allSatisfy { $0.contains(#""target":{"path":"/v3/accounts/6431b0f2a9/mobile_events"}"#) })
    }

    @Test func damagedStoresHaveStatus1() throws {
        let stores = try captures()
        let finished = try pingferry("convert", "-o", "-", "\(stores)/mixed")
        #expect(finished.status == 1)
        #expect(finished.lines.count == 2)
        #expect(finished.errorLines.filter { $0.contains("queues/note.txt at byte 0: not-plist") }.count == 1)
    }

    /// The keys occur in the stores with expected results and in the sample.
    @Test func beaconKeysAreOmitted() throws {
        let stores = folder("stores")
        try tool("cp", "-R", try captures(), stores)
        let broken = "\(stores)/gen4-2.1.0/Library/Caches/sift-v0_0_1/sift"
        let keys = try Data(contentsOf: URL(fileURLWithPath: broken))
        try keys.dropLast(3).write(to: URL(fileURLWithPath: broken))
        let sets = ["current", "current-xml", "gen1-0.1.2", "gen4-2.1.0", "edge", "mixed"].map { "\(stores)/\($0)" }
        var outputs: [String] = []
        for capture in sets + [sample("shop")] {
            for arguments in [["scan"], ["scan", "--json"], ["convert", "-o", "-"], ["list"]] {
                if arguments == ["list"] {
                    let bundle = folder("\(outputs.count).tar.zst")
                    let finished = try pingferry("bundle", "-o", bundle, capture)
                    outputs.append(finished.text + finished.errors)
                    outputs.append(try tool("tar", "--zstd", "-xOf", bundle))
                    outputs.append(try pingferry("list", "--json", bundle).text)
                } else {
                    let finished = try shell(#""$0" "$@""#, arguments + [capture])
                    outputs.append(finished.text + finished.errors)
                }
            }
        }
        #expect(outputs.contains { $0.contains(#""accountId""#) || $0.contains("/v3/accounts/5f0c1d2e3a/") })
        for key in ["f3b9demo01", "7d51c0de2f", "\"beacon\"", "beaconKey"] {
            #expect(!outputs.contains { $0.contains(key) }, "\(key)")
        }
    }

    /// One process reads all files completely within 256 MiB of memory.
    @Test func hostileFilesAreReadWithinLimits() throws {
        let stores = try captures()
        let script = """
            import os, resource, shutil, subprocess, sys
            program, hostile, work = sys.argv[1:]
            for name in sorted(os.listdir(hostile)):
                queues = work + '/' + name + '/sift-v0_0_1/queues'
                os.makedirs(queues)
                shutil.copy(hostile + '/' + name, queues + '/odd')
            finished = subprocess.run([program, 'scan', work], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            if finished.returncode != 1: print('status', finished.returncode, finished.stderr[-2000:])
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            if peak > 256 << 10: print('peak', peak)
            """
        #expect(
            try tool("python3", "-c", script, pingferryPath, "\(stores)/hostile/files", folder("work")) == "")
    }
}
