import Foundation
import TestSupport
import Testing

/// Tests of the option `--receipt` of `bundle` and `verify`.
@Suite struct ReceiptCommandTests {
    private let folder: TemporaryFolder
    private let bundle: String
    private let receipt: String

    init() throws {
        folder = try TemporaryFolder()
        (bundle, receipt) = (folder("a.tar.zst"), folder("a.json"))
    }

    private func object(_ path: String) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path))) as? [String: Any])
    }

    private func predicate(_ path: String) throws -> [String: Any] {
        try #require(try object(path)["predicate"] as? [String: Any])
    }

    private func bundles(_ path: String) throws -> [[String: Any]] {
        try #require(try predicate(path)["bundles"] as? [[String: Any]])
    }

    private func subjects(_ path: String) throws -> [String: String] {
        let list = try #require(try object(path)["subject"] as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: try list.map {
                (try #require($0["name"] as? String), try #require(($0["digest"] as? [String: String])?["sha256"]))
            })
    }

    private func sha256(_ path: String) throws -> String { String(try tool("sha256sum", path).prefix(64)) }

    private func checkStatement(_ paths: String...) throws {
        try tool(["python3", fixture("check_statement.py"), "https://pingferry.example/receipt/v1"] + paths)
    }

    @Test("The receipt of a bundle is a statement about the file, which only its owner can read")
    func bundleReceipt() throws {
        let words = ["-o", bundle, "--receipt", receipt, sample("shop"), "\(repository)/samples/pings.ndjson"]
        let finished = try shell(#""$0" bundle "$@""#, words)
        #expect(finished.status == 0, "\(finished.errors)")
        try checkStatement(receipt)
        let hash = try sha256(bundle)
        #expect(try subjects(receipt) == ["a.tar.zst": hash])
        let told = try predicate(receipt)
        #expect(told["command"] as? String == "bundle")
        #expect(told["arguments"] as? [String] == words)
        let user = try #require(told["user"] as? [String: Any])
        #expect(user["uid"] as? UInt32 == getuid())
        #expect(try user["name"] as? String == tool("id", "-un").trimmingCharacters(in: .newlines))
        #expect(try told["host"] as? String == tool("uname", "-n").trimmingCharacters(in: .newlines))
        #expect(try told["tool"] as? [String: String] == ["name": "pingferry", "version": programVersion()])
        let list = try pingferry("list", "--json", bundle).json()
        #expect(told["inputs"] as? NSArray == list["inputs"] as? NSArray)
        let entry = try #require(try bundles(receipt).first)
        #expect(entry["result"] as? String == "complete")
        #expect(entry["digest"] as? String == list["digest"] as? String)
        #expect(entry["totals"] as? NSDictionary == list["totals"] as? NSDictionary)
        let mode = try FileManager.default.attributesOfItem(atPath: receipt)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(folder.names == ["a.json", "a.tar.zst"])
        // The receipt does not change the bundle.
        #expect(try pingferry("bundle", "-q", "-o", folder("b.tar.zst"), sample("shop"), words[5]).status == 0)
        #expect(try folder.data("b.tar.zst") == folder.data("a.tar.zst"))
    }

    @Test("The name, digest and hash of a bundle are compared with a receipt")
    func comparisonWithReceipt() throws {
        let log = "\(repository)/samples/pings.ndjson"
        #expect(try pingferry("bundle", "-q", "-o", bundle, "--receipt", receipt, log).status == 0)
        let good = try pingferry("verify", "--against", receipt, bundle)
        #expect(good.status == 0, "\(good.errors)")
        #expect(good.lines.contains("matches the receipt \(receipt)"))
        let json = try pingferry("verify", "--json", "--against", receipt, bundle).json()
        #expect((json["bundles"] as? [[String: Any]])?.first?["against"] as? String == receipt)
        #expect(try shell(#""$0" verify -q --against "$1" - < "$2""#, [receipt, bundle]).status == 0)
        try folder.makeFolder("other")
        try folder.makeFolder("level")
        #expect(try pingferry("bundle", "-q", "-o", folder("other/a.tar.zst"), sample("shop")).status == 0)
        #expect(try pingferry("bundle", "-q", "--level", "19", "-o", folder("level/a.tar.zst"), log).status == 0)
        try tool("cp", bundle, folder("renamed.tar.zst"))
        for (path, words) in [
            ("other/a.tar.zst", "its digest is "), ("level/a.tar.zst", "the SHA-256 of a.tar.zst is "),
            ("renamed.tar.zst", "the receipt does not list it ("),
        ] {
            let refused = try pingferry("verify", "--against", receipt, folder(path))
            #expect(refused.status == 65)
            #expect(refused.errorLines.first?.hasPrefix("pingferry: \(folder(path)): \(words)") == true)
            #expect(refused.text == "")
        }
        let stated = try String(contentsOfFile: receipt, encoding: .utf8)
        #expect(stated.contains(#""result":"complete""#))
        try folder.put(stated.replacing(#""result":"complete""#, with: #""result":"bad""#), "bad.json")
        let bad = try pingferry("verify", "--against", folder("bad.json"), bundle)
        #expect(bad.status == 65)
        #expect(bad.errors.contains("the receipt states that it is bad"), "\(bad.errors)")
        try folder.put("{}", "none.json")
        #expect(try pingferry("verify", "--against", folder("none.json"), bundle).status == 65)
        #expect(try pingferry("verify", "--against", folder("nowhere.json"), bundle).status == 66)
    }

    @Test("Several bundles and all volumes of a bundle are compared with one receipt, each bundle once")
    func comparisonOfVolumesWithReceipt() throws {
        let log = "\(repository)/samples/pings.ndjson"
        let night = folder("night.tar.zst")
        #expect(try pingferry("bundle", "-q", "-o", bundle, sample("shop")).status == 0)
        #expect(try pingferry("bundle", "-q", "--volume-size", "4K", "-o", night, log, sample("firefox")).status == 0)
        let volumes = folder.names.filter { $0.hasPrefix("night.tar.zst.0") }.sorted().map { folder($0) }
        try #require(volumes.count > 1)
        let words = [receipt, bundle] + volumes
        #expect(try shell(#""$0" verify -q --receipt "$@""#, words).status == 0)
        #expect(try bundles(receipt).count == 2)
        let finished = try shell(#""$0" verify --against "$@""#, words)
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(finished.lines.count { $0.contains(": good, ") } == 2)
        // A volume other than the first is still rejected.
        #expect(try pingferry("verify", "-q", volumes[1]).status == 65)
    }

    @Test("A receipt states that items were quarantined")
    func incomplete() throws {
        #expect(try pingferry("bundle", "-q", "-o", bundle, "--receipt", receipt, sample("damaged")).status == 1)
        #expect(try bundles(receipt).map { $0["result"] as? String } == ["incomplete"])
    }

    @Test("Without --force, an existing receipt is reported before any work is done")
    func existingReceipt() throws {
        try folder.put("old", "a.json")
        let finished = try pingferry("bundle", "-q", "-o", bundle, "--receipt", receipt, sample("shop"))
        #expect(finished.status == 73)
        #expect(folder.names == ["a.json"])
        #expect(try pingferry("bundle", "-q", "-o", bundle, sample("shop")).status == 0)
        #expect(try pingferry("verify", "-q", "--receipt", receipt, bundle).status == 73)
        #expect(try folder.text("a.json") == "old")
        #expect(try pingferry("verify", "-q", "--force", "--receipt", receipt, bundle).status == 0)
        try checkStatement(receipt)
    }

    @Test("Invalid names of receipts are rejected", arguments: [["--receipt", "-"], ["--receipt", "a.tar.zst"]])
    func invalidNames(words: [String]) throws {
        let finished = try RunningProgram(
            ["env", "-C", folder.path, pingferryPath, "bundle", "-o", "a.tar.zst", sample("shop")] + words
        ).finish()
        #expect(finished.status == 64)
        #expect(folder.names == [])
    }

    @Test("A receipt that cannot be written is reported, and the bundle remains")
    func fullDisk() throws {
        // Files are limited to 64 KiB. The label is compressed in the bundle, but not in the receipt.
        let script =
            #"trap '' XFSZ; ulimit -f 64; "$0" bundle -o "$1" --receipt "$2" --label "$(printf 'x%.0s' {1..100000})" "$3""#
        let finished = try shell(script, [bundle, receipt, sample("webxr")])
        #expect(finished.status == 74)
        #expect(
            finished.errorLines.first == "pingferry: no receipt was written: cannot write \(receipt): File too large")
        #expect(finished.errorLines.last == "hint: \(bundle) was written; only the receipt is missing")
        #expect(folder.names == ["a.tar.zst"])
        #expect(try pingferry("verify", "-q", bundle).status == 0)
    }

    @Test("A receipt contains neither passwords nor the contents of key files")
    func secrets() throws {
        try folder.put("\(sampleBackup.password)\n", "word", mode: 0o600)
        let words = ["-q", "-o", bundle, "--receipt", receipt, "--password-file", folder("word"), sample("backup")]
        _ = try shell(#"PINGFERRY_BACKUP_PASSWORD=hunter-7261 "$0" bundle "$@""#, words)
        let text = try folder.text("a.json").replacing(folder.path, with: "")
        #expect(text.contains("--password-file"))
        #expect(!text.contains("hunter-7261"))
        // The password is part of the name of the program, so it is searched for as a separate string. A user can have its name.
        let withoutUser = text.replacing(#""name":"\#(NSUserName())""#, with: "")
        #expect(!withoutUser.contains(#""\#(sampleBackup.password)""#))
    }

    @Test("With pseudonyms, a receipt contains no label, path or hash of an input")
    func pseudonyms() throws {
        #expect(try pingferry("pseudonym-key", "-q", "-o", folder("key")).status == 0)
        try folder.put("", "whose/.keep")
        try folder.copySample("shop", to: "whose/phone-of-ada")
        try tool("cp", "\(repository)/samples/pings.ndjson", folder("whose/log-of-ada.ndjson"))
        let hash = try sha256(folder("whose/log-of-ada.ndjson"))
        let words = ["--pseudonymize", folder("key"), folder("whose/phone-of-ada"), folder("whose/log-of-ada.ndjson")]
        let finished = try shell(#""$0" bundle -q "$@""#, ["-o", bundle, "--receipt", receipt] + words)
        #expect(finished.status == 0, "\(finished.errors)")
        try checkStatement(receipt)
        let told = try predicate(receipt)
        #expect(told["inputs"] as? [[String: String]] == [["kind": "folder"], ["kind": "log"]])
        #expect(told["arguments"] == nil)
        let text = try folder.text("a.json")
        for word in ["of-ada", "whose", hash] { #expect(!text.contains(word)) }
    }

    @Test("The receipt of a verification states the result for each bundle")
    func verifyReceipt() throws {
        #expect(try pingferry("bundle", "-q", "-o", bundle, sample("shop")).status == 0)
        try folder.makeFolder("other")
        let bad = folder("other/a.tar.zst")
        try tool("python3", fixture("repack.py"), bundle, bad, "not-canonical")
        try folder.put("none", "note")
        let finished = try pingferry("verify", "--receipt", receipt, bundle, bad, folder("note"), folder("none"))
        #expect(finished.status == 65)
        try checkStatement(receipt)
        let told = try bundles(receipt)
        #expect(told.map { $0["result"] as? String } == ["good", "bad", "bad", "bad"])
        #expect(told.map { $0["status"] as? Int } == [nil, 65, 65, 66])
        for (entry, line) in zip(told.dropFirst(), finished.errorLines.filter { $0.contains(folder.path) }) {
            #expect("pingferry: \(try #require(entry["reason"] as? String))" == line)
        }
        let names = told.compactMap { $0["name"] as? String }
        #expect(names.suffix(3) == ["other/a.tar.zst", "note", "none"])
        let hashes = try [names[0]: sha256(bundle), "other/a.tar.zst": sha256(bad), "note": sha256(folder("note"))]
        #expect(try subjects(receipt) == hashes)
        #expect(try predicate(receipt)["inputs"] == nil)
    }

    @Test("A bundle on standard input is hashed")
    func standardInput() throws {
        #expect(try pingferry("bundle", "-q", "-o", bundle, sample("shop")).status == 0)
        #expect(try shell(#""$0" verify -q --receipt "$2" - < "$1""#, [bundle, receipt]).status == 0)
        let hash = try sha256(bundle)
        #expect(try subjects(receipt) == ["stdin": hash])
    }

    @Test("If no bundle can be read, the missing receipt is reported")
    func unreadableBundle() throws {
        let finished = try pingferry("verify", "--receipt", receipt, folder("none"))
        #expect(finished.status == 66)
        #expect(
            finished.errorLines.last
                == "pingferry: \(receipt): no receipt was written, because it would describe no file")
        #expect(folder.names == [])
    }

    @Test("ssh-keygen signs a receipt and detects changes")
    func signature() throws {
        _ = try pingferry("bundle", "-q", "-o", bundle, "--receipt", receipt, sample("shop"))
        try tool("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder("k"))
        try tool("ssh-keygen", "-q", "-Y", "sign", "-n", "pingferry-receipt", "-f", folder("k"), receipt)
        let script = """
            printf 'ada %s\\n' "$(cat "$1.pub")" > "$1.allowed"
            ssh-keygen -Y verify -n "$3" -I ada -f "$1.allowed" -s "$2.sig" < "$2"
            """
        #expect(try shell(script, [folder("k"), receipt, "pingferry-receipt"]).status == 0)
        #expect(try shell(script, [folder("k"), receipt, "pingferry-bundle"]).status != 0)
        try tool("sed", "-i", "s/complete/Complete/", receipt)
        #expect(try shell(script, [folder("k"), receipt, "pingferry-receipt"]).status != 0)
    }
}
