import Foundation
import TestSupport
import Testing

/// Tests of the command `quarantine` and of the option `--reread-quarantine`.
@Suite struct QuarantineCommandTests {
    private let folder: TemporaryFolder
    /// A bundle with 6 quarantined items.
    private let bundle: String

    init() throws {
        folder = try TemporaryFolder()
        bundle = folder("a.tar.zst")
        #expect(try pingferry("bundle", "-q", "-o", bundle, sample("damaged"), sample("focus")).status == 1)
    }

    /// Writes a copy of the bundle whose members, records and quarantine entries are changed by a Python script.
    private func changed(by script: String, to name: String = "changed.tar.zst", _ words: String...) throws -> String {
        let frame = """
            import hashlib, json, os, sys
            sys.path.insert(0, sys.argv[3])
            from repack import *
            template, members = unpack(sys.argv[1])
            manifest = json.loads(members[MANIFEST])
            entries = [json.loads(line) for line in members["quarantine.ndjson"].splitlines()]
            records = [json.loads(line) for line in members[FIRST].splitlines()]
            \(script)
            members[FIRST] = b"".join(canonical(record) for record in records)
            members["quarantine.ndjson"] = b"".join(canonical(entry) for entry in entries)
            manifest["segments"][0]["records"] = len(records)
            rank = {name: 2 for name in members} | {FIRST: 0, "pingferry-bundle.json": -1, MANIFEST: 9}
            rank |= {name: 1 for name in members if name.startswith("quarantine/")}
            members = {name: members[name] for name in sorted(members, key=lambda name: (rank[name], name if rank[name] == 1 else ""))}
            update_manifest(members, manifest)
            pack(sys.argv[2], template, members)
            """
        try tool(["python3", "-c", frame, bundle, folder(name), fixture("")] + words)
        return folder(name)
    }

    /// Returns the contents of a member of a bundle.
    private func member(_ name: String, of bundle: String) throws -> String {
        try tool("tar", "--zstd", "-xOf", bundle, name)
    }

    private func lines(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    /// Returns a value as JSON with sorted keys.
    private func sorted(_ value: Any?) throws -> Data {
        try JSONSerialization.data(withJSONObject: [value ?? NSNull()], options: [.sortedKeys])
    }

    // MARK: Extraction

    @Test("Each item is extracted under its hash and its name, with a line in the list")
    func extraction() throws {
        let finished = try pingferry("quarantine", "--json", "-o", folder("items"), bundle)
        #expect(finished.status == 0)
        let result = try finished.json()
        #expect(result["items"] as? Int == 6 && result["files"] as? Int == 6 && result["withoutBytes"] as? Int == 0)
        let items = try lines(folder.text("items/items.ndjson"))
        #expect(items.count == 6)
        for item in items {
            let (hash, path) = (item["sha256"] as? String ?? "", item["path"] as? String ?? "")
            #expect(item["file"] as? String == "\(hash)-\((path as NSString).lastPathComponent)")
            let file = folder("items/\(item["file"] as? String ?? "")")
            #expect(try tool("sha256sum", file).hasPrefix(hash))
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text == (try member("quarantine/\(hash)", of: bundle)))
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder("items"))
        #expect(Set(names) == Set(items.compactMap { $0["file"] as? String } + ["items.ndjson"]))
    }

    @Test("Equal bytes are written once under a name, and equal names do not replace each other")
    func collisions() throws {
        let other = try changed(
            by: """
                entries = entries[1:3]
                entries += [dict(entries[0], path="other/" + os.path.basename(entries[0]["path"]))]
                entries += [dict(entries[0], path="renamed"), dict(entries[1], path=entries[0]["path"], capture="b")]
                """)
        #expect(try pingferry("quarantine", "-q", "-o", folder("items"), other).status == 0)
        let items = try lines(folder.text("items/items.ndjson"))
        #expect(items.count == 5)
        #expect(Set(items.compactMap { $0["file"] as? String }).count == 4)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("items")).count == 5)
    }

    @Test(
        "The path of an item does not lead out of the folder, and the item stays in quarantine",
        arguments: [
            #""../x""#, #""../../../../tmp/x""#, #""/etc/passwd""#, #""a\0b""#, #""..""#, #"".""#, #""""#, #""a/""#,
            #""x" * 5000"#, #""a/" * 3000 + "b""#, #""\n\x1b[31m\u202e""#, #""items.ndjson""#, #""-rf""#,
        ])
    func hostilePaths(path: String) throws {
        let other = try changed(by: "entries = [dict(entries[2], path=\(path))]")
        let before = try snapshot(folder.path)
        let finished = try pingferry("quarantine", "-o", folder("items"), other)
        #expect(finished.status == 0, "\(finished.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder("items")).filter { $0 != "items.ndjson" }
        #expect(names.count == 1)
        #expect(names.first?.wholeMatch(of: /[0-9a-f]{64}-[A-Za-z0-9._-]{0,100}/) != nil, "\(names)")
        try FileManager.default.removeItem(atPath: folder("items"))
        #expect(try snapshot(folder.path) == before)

        let reread = try pingferry("bundle", "-q", "--reread-quarantine", "-o", folder("new.tar.zst"), other)
        #expect(reread.status == 0, "\(reread.errors)")
        #expect(
            try member("quarantine.ndjson", of: folder("new.tar.zst")) == (try member("quarantine.ndjson", of: other)))
    }

    @Test("Items are extracted into a new or an empty folder only")
    func outputFolder() throws {
        try folder.makeFolder("empty")
        #expect(try pingferry("quarantine", "-q", "-o", folder("empty"), bundle).status == 0)
        try folder.put("mine", "full/file")
        try folder.put("mine", "file")
        for name in ["full", "file"] {
            let finished = try pingferry("quarantine", "-o", folder(name), bundle)
            #expect(finished.status == 73, "\(name): \(finished.errors)")
            #expect(finished.errors.hasPrefix("pingferry: "))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("full")) == ["file"])
        #expect(try folder.text("file") == "mine" && folder.text("full/file") == "mine")
    }

    @Test("A full disk and a full output are errors", .enabled(if: SmallDisk.isSupported, "no file system can be made"))
    func fullDisk() throws {
        let disk = try SmallDisk(kibibytes: 8)
        let finished = try pingferry("quarantine", "-o", disk("items"), bundle)
        #expect([73, 74].contains(finished.status), "\(finished.errors)")
        #expect(finished.errors.contains("No space left on device"))
        #expect(!FileManager.default.fileExists(atPath: disk("items/items.ndjson")))
        let json = try shell(#""$0" quarantine --json -o "$1" "$2" > /dev/full"#, [folder("items"), bundle])
        #expect(json.status == 74, "\(json.errors)")
    }

    // MARK: Reading again

    /// Moves the file of the first record of the sample `focus` from the records into the quarantine.
    private func withheld() throws -> String {
        try changed(
            by: """
                record = next(r for r in records if r["source"]["store"] == "mozilla-ping-file" and r["source"]["capture"] == "focus")
                records.remove(record)
                with open(os.path.join(sys.argv[4], record["source"]["path"]), "rb") as stream:
                    data = stream.read()
                sha256 = hashlib.sha256(data).hexdigest()
                members["quarantine/" + sha256] = data
                entries.append({"capture": "focus", "length": None, "offset": None, "path": record["source"]["path"],
                    "reason": "X0 withheld", "sha256": sha256, "size": len(data), "store": "mozilla-ping-file", "stored": True})
                """, sample("focus"))
    }

    @Test("A record found in quarantine has a note, and the new bundle names the old one as its parent")
    func reread() throws {
        let old = try withheld()
        let finished = try pingferry("bundle", "--json", "--reread-quarantine", "-o", folder("new.tar.zst"), old)
        #expect(finished.status == 0, "\(finished.errors)")
        let result = try finished.json()
        #expect(result["reread"] as? [String: Int] == ["items": 1, "records": 1])
        let digest = try #require(try pingferry("list", "--json", old).json()["digest"] as? String)
        #expect(result["parents"] as? [String] == [digest])

        func records(_ path: String) throws -> [String: [String: Any]] {
            let found = try lines(pingferry("convert", "-q", "-o", "-", path).text)
            return Dictionary(found.map { ($0["id"] as? String ?? "", $0) }) { first, _ in first }
        }
        let (direct, new) = (try records(bundle), try records(folder("new.tar.zst")))
        #expect(Set(direct.keys) == Set(new.keys))
        let noted = new.filter { ($0.value["notes"] as? [String])?.last?.hasPrefix("reread ") == true }
        let (id, record) = try #require(noted.first)
        #expect(noted.count == 1)
        let hash = try #require(
            try lines(member("quarantine.ndjson", of: old)).first { $0["reason"] as? String == "X0 withheld" })
        #expect((record["notes"] as? [String])?.last == "reread \(hash["sha256"] as? String ?? "") X0")
        // The id of the app is in another file of the capture.
        for key in ["client", "held", "payload", "source", "target", "time"] {
            #expect(try sorted(record[key]) == sorted(direct[id]?[key]), "\(key)")
        }
        // The same items are read by `scan` and `convert`, which write no bundle.
        #expect(
            try pingferry("scan", "--json", "--reread-quarantine", old).json()["reread"] as? [String: Int]
                == ["items": 1, "records": 1])
        let converted = try pingferry("convert", "-q", "-o", "-", "--reread-quarantine", old)
        #expect(converted.lines.count == new.count)
    }

    @Test("Reading a quarantine again a second time changes nothing")
    func secondTime() throws {
        let old = try withheld()
        for (input, output) in [(old, "b"), (folder("b"), "c"), (folder("c"), "d"), (bundle, "same")] {
            let finished = try pingferry("bundle", "-q", "--reread-quarantine", "-o", folder(output), input)
            #expect(finished.status == 0, "\(finished.errors)")
        }
        func parts(_ path: String) throws -> [String] {
            try ["records/000001.ndjson", "quarantine.ndjson", "problems.ndjson", "clients.ndjson"].map {
                try member($0, of: path)
            } + [tool("tar", "--zstd", "-tf", path)]
        }
        #expect(try parts(folder("b")) == (try parts(folder("c"))))
        #expect(try folder.data("c") != folder.data("b"), "only the first of them has a parent")
        #expect(try parts(folder("same")) == (try parts(bundle)))
        for name in ["d", "same"] {
            let list = try pingferry("list", "--json", folder(name)).json()
            #expect((list["parents"] as? [String] ?? []).count == (name == "d" ? 1 : 0))
        }
    }

    @Test("A closed pipe ends the program silently, and a bundle of a bundle cannot continue others")
    func otherOutputs() throws {
        let closed = try shell(#""$0" bundle --reread-quarantine -o - "$1" | true; echo "${PIPESTATUS[0]}""#, [bundle])
        #expect(["0\n", "\(128 + SIGPIPE)\n"].contains(closed.text))
        let increment = try pingferry(
            "bundle", "--reread-quarantine", "-o", folder("x"), "--since-bundle", bundle, bundle)
        #expect(increment.status == 64)
        #expect(!folder.names.contains("x"))
    }
}
