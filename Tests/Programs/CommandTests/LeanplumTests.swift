import Foundation
import TestSupport
import Testing

/// Tests the commands with stores of the Leanplum SDK.
@Suite struct LeanplumTests {
    /// A credential in the stores of the sample, which must not be written to any output.
    private static let secret = "demoDEMOdemoDEMO1"

    @Test func allKindsAreListed() throws {
        let scanned = try pingferry("scan", "--json", sample("leanplum")).json()
        let stores = try #require(scanned["stores"] as? [[String: Any]])
        #expect(stores.map { $0["kind"] as? String } == ["leanplum-sqlite", "leanplum-plist", "leanplum-userdefaults"])
        #expect(stores.map { $0["records"] as? Int } == [3, 1, 0])
        #expect(stores.allSatisfy { $0["systems"] as? [String] == ["leanplum"] })
    }

    @Test func bundleHasSameRecordsAsSample() throws {
        let folder = try TemporaryFolder()
        #expect(try pingferry("bundle", "-o", folder("b.tar.zst"), sample("leanplum")).status == 0)
        #expect(try pingferry("verify", folder("b.tar.zst")).status == 0)
        let direct = try pingferry("convert", "-o", "-", sample("leanplum"))
        let bundled = try pingferry("convert", "-o", "-", folder("b.tar.zst"))
        #expect(direct.lines.count == 4)
        #expect(bundled.output == direct.output)
        #expect(try pingferry("convert", "-o", "-", "--system", "leanplum", sample("leanplum")).lines.count == 4)
    }

    @Test func nothingIsWrittenWithoutSpoolFolder() throws {
        let folder = try TemporaryFolder()
        let finished = try shell(
            #"TMPDIR=/none "$0" bundle -o "$1" "$2""#, [folder("b.tar.zst"), sample("leanplum")])
        #expect(finished.status == 74)
        #expect(finished.errorLines.first == "pingferry: cannot spool to /none: No such file or directory")
        #expect(folder.names == [])
    }

    @Test func credentialsAreRemovedFromRequests() throws {
        let folder = try TemporaryFolder()
        let request = #"{"action":"track","clientKey":"SECRETKEY1","deviceId":"D","time":"1497595126.8"}"#
        try folder.put(
            #"{"data":[\#(request)]}"# + "\n" + #"{"clientKey":"SECRETKEY1","data":[\#(request)]}"# + "\n", "a.ndjson")
        try folder.makeFolder("capture/Documents")
        let script = #"""
            import sqlite3, sys
            con = sqlite3.connect(sys.argv[1])
            con.execute("CREATE TABLE event (data TEXT NOT NULL)")
            con.execute("INSERT INTO event VALUES (?)", (sys.argv[2],))
            con.commit()
            """#
        try tool("python3", "-c", script, folder("capture/Documents/__leanplum.sqlite"), request)
        for input in ["a.ndjson", "capture"] {
            let finished = try pingferry("convert", "-o", "-", folder(input))
            #expect(!finished.text.contains("SECRETKEY1") && !finished.errors.contains("SECRETKEY1"))
            #expect(finished.text.contains("credential_removed:clientKey@0"))
            #expect(finished.text.contains(#""action":"track""#))
        }
    }

    @Test func capturesOfSameDeviceShareRecords() throws {
        let folder = try TemporaryFolder()
        try tool("cp", "-r", sample("leanplum"), folder("later"))
        let both = try pingferry("convert", "-q", "-o", "-", sample("leanplum"), folder("later"))
        #expect(both.lines.count == 4)
    }

    /// A session token stays in the payload, where the server requires it, and occurs nowhere else.
    @Test func tokensOccurOnlyInPayloads() throws {
        let folder = try TemporaryFolder()
        let capture = folder("capture")
        try tool("cp", "-r", sample("leanplum"), capture)
        try tool(
            "python3", "-c",
            """
            import sqlite3, sys
            con = sqlite3.connect(sys.argv[1] + "/Documents/__leanplum.sqlite")
            token = '"token":"\(Self.secret)"'
            for row in ('{"action":"stop",' + token, '[{' + token + '}]', '{' + token + '}', '{"\(Self.secret)":}',
                        '{"action":"\(Self.secret)","deviceId":"D","params":"{' + '\\\\"token\\\\"' + '"}'):
                con.execute("INSERT INTO event VALUES (?)", (row,))
            con.execute("CREATE VIEW '\(Self.secret)' AS SELECT 1")
            con.commit()
            con.close()
            prefs = sys.argv[1] + "/Library/Preferences/org.example.Reader.plist"
            data = open(prefs, "rb").read().replace(b"textSize", b"demoDEMO")
            open(prefs, "wb").write(data[:-9] + b"\\xff" * 9)
            """, capture)
        let bundle = folder("b.tar.zst")
        for finished in [
            try pingferry("scan", capture), try pingferry("scan", "--json", capture),
            try pingferry("bundle", "-o", bundle, capture),
            try pingferry("bundle", "--force", "--json", "-o", bundle, capture),
            try pingferry("list", bundle), try pingferry("list", "--json", bundle), try pingferry("verify", bundle),
        ] {
            #expect(!finished.text.contains(Self.secret))
            #expect(!finished.errors.contains(Self.secret))
        }
        let converted = try pingferry("convert", "-o", "-", capture)
        #expect(!converted.errors.contains(Self.secret))
        for line in converted.lines {
            var record = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let payload = record.removeValue(forKey: "payload")
            #expect("\(payload ?? "")".contains(Self.secret))
            #expect(!"\(record)".contains(Self.secret))
        }
        // The preferences are listed with their hash, but their bytes are not included.
        let members = try tool("tar", "--zstd", "-tf", bundle).split(separator: "\n")
        #expect(members.filter { $0.hasPrefix("quarantine/") }.count == 1)
    }

    /// The program blocks on its output, because the reader stops reading.
    @Test func killedRunLeavesNoCopies() throws {
        let folder = try TemporaryFolder()
        try tool("mkdir", "-p", folder("tmp"), folder("capture/Documents"))
        try tool(
            "python3", "-c",
            """
            import sqlite3, sys
            con = sqlite3.connect(sys.argv[1])
            con.execute("CREATE TABLE event (data TEXT NOT NULL)")
            row = '{"action":"track","deviceId":"D","time":"1.0","uuid":"%d","info":"' + "x" * 900 + '"}'
            con.executemany("INSERT INTO event VALUES (?)", ((row % n,) for n in range(20000)))
            con.commit()
            """, folder("capture/Documents/__leanplum.sqlite"))
        let finished = try shell(
            """
            mkfifo "$1/pipe"
            TMPDIR="$1/tmp" "$0" convert -q -o - "$1/capture" > "$1/pipe" &
            exec 3< "$1/pipe"
            head -c 1 <&3 | wc -c
            find "$1/tmp" -mindepth 1 | wc -l
            kill -KILL $!
            wait $!
            find "$1/tmp" -mindepth 1 | wc -l
            """, [folder("")])
        #expect(finished.text.split(separator: "\n").map { $0.filter { $0 != " " } } == ["1", "0", "0"])
    }
}
