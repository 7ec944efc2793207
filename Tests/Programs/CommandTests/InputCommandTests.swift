import Foundation
import TestSupport
import Testing

/// Tests of the inputs that bundles list, and how commands show them.
@Suite struct InputCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @discardableResult
    private func pack(_ name: String, _ arguments: String...) throws -> String {
        let finished = try shell(#""$0" bundle -q "$@""#, ["-o", folder(name)] + arguments)
        #expect(finished.status == 0, "\(finished.errors)")
        return folder(name)
    }

    private func manifest(_ bundle: String) throws -> [String: Any] {
        let text = try tool("tar", "--zstd", "-xOf", bundle, "manifest.json")
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private func inputs(_ bundle: String) throws -> [[String: Any]] {
        try #require(try manifest(bundle)["inputs"] as? [[String: Any]])
    }

    private func sha256(_ path: String) throws -> String { String(try tool("sha256sum", path).prefix(64)) }

    @Test("The hash of an archive on standard input includes the data after the end of the archive")
    func standardInput() throws {
        let archive = folder("shop.tar")
        try tool("tar", "-cf", archive, "-C", "\(repository)/samples", "shop")
        try tool("bash", "-c", "head -c 3000000 /dev/zero >> \(archive); printf end >> \(archive)")
        let finished = try shell(#""$0" bundle -q -o "$2" - < "$1""#, [archive, folder("a.tar.zst")])
        #expect(finished.status == 0, "\(finished.errors)")
        let input = try #require(try inputs(folder("a.tar.zst")).first)
        #expect(input["kind"] as? String == "archive")
        #expect(input["label"] as? String == "stdin")
        let hash = try sha256(archive)
        #expect(input["sha256"] as? String == hash)
    }

    @Test("A log on standard input is hashed")
    func log() throws {
        let log = "\(repository)/samples/pings.ndjson"
        #expect(try shell(#""$0" bundle -q -o "$2" - < "$1""#, [log, folder("a.tar.zst")]).status == 0)
        let hash = try sha256(log)
        #expect(try inputs(folder("a.tar.zst")).map { $0["sha256"] as? String } == [hash])
        #expect(try inputs(folder("a.tar.zst")).map { $0["kind"] as? String } == ["log"])
    }

    @Test("A backup is listed as a backup regardless of its label")
    func backup() throws {
        let words = ["bundle", "-q", "--label", "pocket", "-o", folder("a.tar.zst"), sample(sampleBackup.name)]
        let finished = try shell(
            #"PINGFERRY_BACKUP_PASSWORD=\#(sampleBackup.password) "$0" "$@""#, words)
        #expect([0, 1].contains(finished.status), "\(finished.errors)")
        #expect(try inputs(folder("a.tar.zst")) as? [[String: String]] == [["kind": "backup", "label": "pocket"]])
    }

    @Test("A merged bundle lists the inputs of its bundles, which may have none")
    func mergedBundles() async throws {
        try await Sample.bundle([Sample.leanplum(["{}"])], at: folder("empty.tar.zst"))
        try pack("a.tar.zst", sample("shop"))
        try pack("b.tar.zst", folder("a.tar.zst"), folder("empty.tar.zst"))
        try pack("c.tar.zst", folder("b.tar.zst"), sample("webxr"))
        #expect(try inputs(folder("empty.tar.zst")).isEmpty)
        func digest(_ name: String) throws -> String { try #require(try manifest(folder(name))["digest"] as? String) }
        let expected: [[String: Any]] = [
            [
                "kind": "bundle", "label": "b.tar.zst", "digest": try digest("b.tar.zst"),
                "inputs": [
                    [
                        "kind": "bundle", "label": "a.tar.zst", "digest": try digest("a.tar.zst"),
                        "inputs": [["kind": "folder", "label": "shop"]],
                    ],
                    [
                        "kind": "bundle", "label": "empty.tar.zst", "digest": try digest("empty.tar.zst"),
                        "inputs": [[String: Any]](),
                    ],
                ] as [[String: Any]],
            ], ["kind": "folder", "label": "webxr"],
        ]
        #expect(try inputs(folder("c.tar.zst")) as NSArray == expected as NSArray)

        let list = try pingferry("list", "--json", folder("c.tar.zst")).json()
        #expect(list["inputs"] as? NSArray == expected as NSArray)
        #expect(list["inputsOmitted"] as? Int == 0)
        let shown = try pingferry("list", folder("c.tar.zst")).lines.filter {
            $0.contains(" bundle ") || $0.contains(" folder")
        }
        #expect(
            shown.map { $0.prefix { $0 != "." }.split(separator: " ").joined() } == [
                "b", "a", "shopfolder", "empty", "webxrfolder",
            ])
        #expect(shown.map { $0.prefix { $0 == " " }.count } == [2, 4, 6, 4, 2])
        let hash = try digest("b.tar.zst")
        #expect(shown[0].hasSuffix(hash))
        for name in ["empty", "b", "c"] {
            #expect(try pingferry("verify", "-q", folder("\(name).tar.zst")).status == 0)
        }
    }

    @Test("Neither the location of captures nor the number of jobs affects the bundle")
    func locations() throws {
        for place in ["here", "there/and/deeper"] {
            try folder.makeFolder(place)
            try folder.copySample("shop", to: "\(place)/shop")
            try tool("cp", "\(repository)/samples/pings.ndjson", folder("\(place)/pings.ndjson"))
        }
        let one = try pack("a.tar.zst", "-j1", folder("here/shop"), folder("here/pings.ndjson"))
        let other = try pack(
            "b.tar.zst", "-j4", folder("there/and/deeper/shop"), folder("there/and/deeper/pings.ndjson"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: one)) == Data(contentsOf: URL(fileURLWithPath: other)))
    }

    @Test("With pseudonyms, only the kinds of inputs are listed, also in merged bundles")
    func pseudonyms() throws {
        #expect(try pingferry("pseudonym-key", "-q", "-o", folder("key")).status == 0)
        try pack("plain.tar.zst", sample("webxr"))
        let words = ["--pseudonymize", folder("key"), sample("shop"), folder("plain.tar.zst")]
        let finished = try shell(#""$0" bundle -q "$@""#, ["-o", folder("a.tar.zst")] + words)
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(try inputs(folder("a.tar.zst")) as? [[String: String]] == [["kind": "folder"], ["kind": "bundle"]])
        try pack("b.tar.zst", folder("a.tar.zst"))
        #expect(try inputs(folder("b.tar.zst")) as? [[String: String]] == [["kind": "bundle"]])
        // If the bundle is merged with others, it is listed with its label, but only the kinds of its own inputs are listed.
        try pack("c.tar.zst", folder("a.tar.zst"), sample("webxr"))
        let first = try #require(try inputs(folder("c.tar.zst")).first)
        #expect(first["label"] as? String == "a.tar.zst")
        #expect(first["inputs"] as? [[String: String]] == [["kind": "folder"], ["kind": "bundle"]])
        for name in ["a", "b", "c"] { #expect(try pingferry("verify", "-q", folder("\(name).tar.zst")).status == 0) }
        #expect(try pingferry("list", folder("a.tar.zst")).lines.contains("  (unknown)  folder"))
    }
}
