import Foundation
import TestSupport
import Testing

@Suite struct VerifyTests {
    private let folder: TemporaryFolder
    private let bundle: String

    init() throws {
        folder = try TemporaryFolder()
        bundle = folder("a.tar.zst")
        #expect(try pingferry("bundle", "-q", "-o", bundle, sample("focus")).status == 1)
    }

    @Test func validBundleIsReported() throws {
        let finished = try pingferry("verify", bundle)
        #expect(finished.status == 0)
        #expect(finished.lines.first == "\(bundle): good, 7 records (6 uploadable; held: pending-events 1)")
        #expect(finished.lines.count == 2)
        #expect(finished.errors == "")
        #expect(try pingferry("verify", "-q", bundle).output.isEmpty)
    }

    @Test("A bundle can be read from standard input, from a pipe or a file")
    func standardInput() throws {
        let piped = try shell(#"cat "$1" | "$0" verify -"#, [bundle])
        #expect(piped.status == 0)
        #expect(piped.lines.first == "standard input: good, 7 records (6 uploadable; held: pending-events 1)")
        #expect(try piped.lines.last == pingferry("verify", bundle).lines.last)
        let listed = try shell(#""$0" list - < "$1""#, [bundle])
        #expect(try listed.text == pingferry("list", bundle).text)
        #expect(try pingferry("list", "-q", bundle).output.isEmpty)
        let result = try #require(
            try shell(#"cat "$1" | "$0" verify --json -"#, [bundle]).json()["bundles"] as? [[String: Any]])
        #expect(result.map { $0["path"] as? String } == ["-"])
        // Data that cannot be a bundle is rejected before the end of the input.
        let endless = try shell(#""$0" verify - < /dev/zero; echo $?"#, [])
        #expect(endless.text == "65\n")
        let cut = try shell(#"head -c 1000 "$1" | "$0" verify -"#, [bundle])
        #expect(cut.status == 65)
        #expect(cut.errors.hasPrefix("pingferry: standard input: byte 1000: "), "\(cut.errors)")
    }

    @Test func digestEqualsManifest() throws {
        let manifest = try tool("tar", "--zstd", "-xOf", bundle, "manifest.json")
        let digest = try #require(try pingferry("verify", bundle).lines.last?.split(separator: " ").last)
        #expect(manifest.hasPrefix("{\"digest\":\"\(digest)\""))
    }

    @Test func repackedBundleIsValid() throws {
        let other = try repack("none")
        let (first, second) = (try pingferry("verify", bundle), try pingferry("verify", other))
        #expect(second.status == 0)
        #expect(second.lines.last == first.lines.last)
    }

    /// Changes with correct hashes, and the expected messages.
    private static let changes = [
        ("foreign-host", "records/000001.ndjson line 1: the target is not in the system's grammar"),
        ("dots-in-target", "records/000001.ndjson line 1: the target is not in the system's grammar"),
        ("header-in-target", "records/000001.ndjson line 1: the target is not in the system's grammar"),
        ("method", "records/000001.ndjson line 1: the target is not in the system's grammar"),
        ("no-target", "records/000001.ndjson line 1: uploadable without a target"),
        ("extra-key", "records/000001.ndjson line 1: not in canonical form, or with unknown keys"),
        ("unknown-system", "records/000001.ndjson line 1: the system is unknown to this version of the program"),
        ("not-canonical", "records/000001.ndjson line 1: not in canonical form, or with unknown keys"),
        ("wrong-hash-id", "records/000001.ndjson line 1: the id is not the hash of the payload"),
        ("bad-time", "records/000001.ndjson line 1: time is no RFC 3339 time"),
        ("blank-line", "records/000001.ndjson line 1: no JSON: no JSON value at byte 0"),
        ("no-line-feed", "records/000001.ndjson line 7: no line feed at the end"),
        (
            "record-less",
            "manifest.json: the number of records of records/000001.ndjson does not match the contents of the bundle"
        ),
        (
            "no-records",
            "manifest.json: the number of records of records/000001.ndjson does not match the contents of the bundle"
        ),
        (
            "segment-count",
            "manifest.json: the number of records of records/000001.ndjson does not match the contents of the bundle"
        ),
        ("record-twice", "records/000001.ndjson line 7: the record occurs twice"),
        ("total", "manifest.json: a total does not match the contents of the bundle"),
        ("version", "bundle format version 99 is not supported"),
        ("extra-key-in-manifest", "manifest.json: not in canonical form"),
        ("no-clients", "manifest.json: clients.ndjson does not match the contents of the bundle"),
        (
            "no-quarantine-list",
            "manifest.json: the list of quarantined input does not match the contents of the bundle"
        ),
        ("odd-problem", "problems.ndjson line 2: not a valid line of this list"),
    ]

    @Test(arguments: changes) func changeWithCorrectHashesIsDetected(change: String, message: String) throws {
        let other = try repack(change)
        let finished = try pingferry("verify", other)
        #expect(finished.status == 65)
        #expect(finished.output.isEmpty)
        #expect(finished.errorLines.first == "pingferry: \(other): \(message)")
        #expect(finished.errorLines.count == 2, "no hint")
    }

    /// A bundle that `verify` rejects because of its records is also rejected as an input.
    @Test(arguments: ["foreign-host", "extra-key", "not-canonical", "record-less", "odd-problem", "version"])
    func hostileBundleIsRejectedAsInput(change: String) throws {
        let other = try repack(change)
        for command in ["bundle", "convert"] {
            #expect(try pingferry(command, "-o", folder("out"), other).status == 65)
        }
        #expect(try pingferry("scan", other).status == 65)
        #expect(!folder.names.contains("out"))
        #expect(!folder.names.contains(".out.partial"))
    }

    @Test func changeInAnyRegionIsDetected() throws {
        let bytes = try folder.data("a.tar.zst")
        let step = bytes.count / 40
        for index in Array(stride(from: 0, to: bytes.count, by: step)) + [bytes.count - 1] {
            var damaged = bytes
            damaged[index] ^= 0x41
            let path = folder("damaged.tar.zst")
            try damaged.write(to: URL(fileURLWithPath: path))
            let finished = try pingferry("verify", path)
            #expect(finished.status == 65, "byte \(index)")
            #expect(finished.errors.hasPrefix("pingferry: \(path): "), "byte \(index): \(finished.errors)")
        }
    }

    @Test func truncationIsDetected() throws {
        let bytes = try folder.data("a.tar.zst")
        for count in [0, 1, 4, 100, bytes.count / 2, bytes.count - 9, bytes.count - 1] {
            let path = folder("cut.tar.zst")
            try bytes.prefix(count).write(to: URL(fileURLWithPath: path))
            for command in ["verify", "list", "scan"] {
                let finished = try pingferry(command, path)
                #expect(finished.status == 65, "\(command) \(count)")
                #expect(finished.errors.hasPrefix("pingferry: \(path): "), "\(finished.errors)")
            }
        }
    }

    @Test func otherBundlesAreVerifiedAfterError() throws {
        let bad = try repack("total")
        let finished = try pingferry("verify", "--json", bad, bundle)
        #expect(finished.status == 65)
        let results = try #require(try finished.json()["bundles"] as? [[String: Any]])
        #expect(results.map { $0["good"] as? Bool } == [false, true])
        #expect(results.map { $0["path"] as? String } == [bad, bundle])
        #expect(results.last?["digest"] is String)
    }

    private func repack(_ change: String) throws -> String {
        let path = folder("\(change).tar.zst")
        try tool("python3", fixture("repack.py"), bundle, path, change)
        return path
    }
}
