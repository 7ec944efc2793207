import Foundation
import TestSupport
import Testing

@Suite struct BundleCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Packs inputs and returns the path of the bundle.
    ///
    /// The status is 1 for samples with quarantined items.
    @discardableResult
    private func pack(_ name: String, _ arguments: [String], status: Int32 = 1) throws -> String {
        let finished = try shell(#""$0" bundle -q "$@""#, ["-o", folder(name)] + arguments)
        #expect(finished.status == status, "\(finished.errors)")
        return folder(name)
    }

    private func names(_ bundle: String) throws -> [String] {
        try tool("tar", "--zstd", "-tf", bundle).split(separator: "\n").map(String.init)
    }

    @Test func membersHaveDocumentedOrder() throws {
        let names = try names(pack("a.tar.zst", samples.map(sample)))
        #expect(names.prefix(2) == ["pingferry-bundle.json", "records/000001.ndjson"])
        #expect(names.suffix(4) == ["quarantine.ndjson", "problems.ndjson", "clients.ndjson", "manifest.json"])
        let quarantined = names.dropFirst(2).dropLast(4)
        #expect(quarantined.count == 6)
        #expect(quarantined.allSatisfy { $0.hasPrefix("quarantine/") && $0.count == 75 })
        #expect(Array(quarantined) == quarantined.sorted())
        #expect(folder.names == ["a.tar.zst"])
    }

    /// A limit of file sizes has the effect of a full disk, but requires no mount.
    ///
    /// The bundle is not affected, because standard output is a pipe.
    @Test func fullDiskForQuarantinedBytesIsReported() throws {
        try folder.makeFolder("in/MozTelemetry-Default-core")
        for number in 0..<3 {
            let junk = String(repeating: "junk \(number)", count: 1000)
            try folder.put(junk, "in/MozTelemetry-Default-core/-t-\(number).json")
        }
        let script = #"trap '' XFSZ; ulimit -f 1; TMPDIR="$2" "$0" bundle -q -o - "$1" | wc -c; exit ${PIPESTATUS[0]}"#
        let finished = try shell(script, [folder("in"), try folder.makeFolder("tmp")])
        #expect(finished.status == 74)
        #expect(
            finished.errorLines == [
                "pingferry: cannot spool to \(folder("tmp")): File too large",
                "hint: set TMPDIR to a folder on a disk with enough free space",
            ])
        let missing = try shell(#"TMPDIR=/none "$0" bundle -q -o "$2" "$1""#, [folder("in"), folder("b.tar.zst")])
        #expect(missing.status == 74)
        #expect(missing.errorLines.first == "pingferry: cannot spool to /none: No such file or directory")
        #expect(folder.names == ["in", "tmp"])
        // Other commands keep only the hashes.
        #expect(try shell(#"TMPDIR=/none "$0" scan -q "$1""#, [folder("in")]).status == 1)
    }

    @Test func modeAppliesToAllFilesOfBundle() throws {
        let script = """
            umask 077
            "$0" bundle -q --mode 0640 -o "$1/a.tar.zst" "$2"
            "$0" bundle -q --mode 640 --volume-size 4K -o "$1/b.tar.zst" "$2"
            umask 000
            "$0" bundle -q -o "$1/c.tar.zst" "$2"
            cd "$1" && stat -c '%n %a' *
            """
        let finished = try shell(script, [folder.path, sample("webxr")])
        let modes = Dictionary(
            uniqueKeysWithValues: finished.lines.map { line in
                let words = line.split(separator: " ")
                return (String(words[0]), String(words[1]))
            })
        #expect(modes.filter { $0.key.hasPrefix("a") } == ["a.tar.zst": "640"])
        #expect(modes["b.tar.zst.001"] == "640" && modes["b.tar.zst.sha256"] == "640")
        #expect(modes.filter { $0.value == "640" }.count == modes.count - 1)
        #expect(modes["c.tar.zst"] == "600")
        for mode in ["", "64", "8640", "0700", "0240", "2640", "+640", "00640"] {
            #expect(try shell(#""$0" bundle --mode "$@""#, [mode, "-o", folder("d"), "x"]).status == 64, "\(mode)")
        }
        for output in ["-", "/dev/stdout", "/dev/null"] {
            let finished = try shell(#""$0" bundle --mode 0640 -o "$@""#, [output, "x"])
            #expect(finished.status == 64)
            #expect(finished.errors.contains("--mode requires an output that is a file"))
        }
    }

    @Test func otherProgramsCanReadBundle() throws {
        let bundle = try pack("a.tar.zst", samples.map(sample))
        let list = try tool("tar", "--zstd", "-tf", bundle)
        #expect(try tool("bsdtar", "-tf", bundle) == list)
        try tool("zstd", "-q", "-t", bundle)
        let script = """
            import io, subprocess, sys, tarfile
            tar = tarfile.open(fileobj=io.BytesIO(subprocess.check_output(["zstd", "-dc", sys.argv[1]])))
            for member in tar:
                assert member.isreg() and member.mode == 0o600 and member.mtime == member.uid == member.gid == 0
                assert len(tar.extractfile(member).read()) == member.size
                print(member.name)
            """
        #expect(try tool("python3", "-c", script, bundle) == list)
    }

    @Test func recordsEqualOutputOfConvert() throws {
        let bundle = try pack("a.tar.zst", samples.map(sample))
        let converted = try shell(#""$0" convert -q -o - "$@""#, samples.map(sample)).output
        #expect(!converted.isEmpty)
        #expect(try Data(tool("tar", "--zstd", "-xOf", bundle, "records/000001.ndjson").utf8) == converted)
        #expect(try pingferry("convert", "-o", "-", bundle).output == converted)
    }

    @Test func quarantineHasOriginalBytes() throws {
        let bundle = try pack("a.tar.zst", [sample("damaged")])
        let lines = try tool("tar", "--zstd", "-xOf", bundle, "quarantine.ndjson").split(separator: "\n")
        #expect(lines.count == 5)
        for line in lines {
            let entry = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let (path, hash) = (try #require(entry["path"] as? String), try #require(entry["sha256"] as? String))
            var bytes = try Data(contentsOf: URL(fileURLWithPath: "\(sample("damaged"))/\(path)"))
            if let offset = entry["offset"] as? Int, let length = entry["length"] as? Int {
                bytes = bytes.subdata(in: offset..<offset + length)
            }
            let stored = try folder.put("", "stored")
            _ = try shell(#"tar --zstd -xOf "$1" "$2" > "$3""#, [bundle, "quarantine/\(hash)", stored])
            #expect(try folder.data("stored") == bytes)
            #expect(entry["size"] as? Int == bytes.count)
        }
    }

    @Test func onlyOwnerCanReadBundle() throws {
        let bundle = try pack("a.tar.zst", [sample("webxr")], status: 0)
        let mode = try FileManager.default.attributesOfItem(atPath: bundle)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func numberOfJobsDoesNotAffectOutput() throws {
        let load = try SharedCaptures.load(pings: 600)
        for jobs in ["1", "2", "7"] { try pack("\(jobs).tar.zst", ["--jobs", jobs, load, sample("focus")]) }
        let alone = try folder.data("1.tar.zst")
        #expect(try folder.data("2.tar.zst") == alone)
        #expect(try folder.data("7.tar.zst") == alone)
    }

    @Test func compressionLevelDoesNotAffectDigest() throws {
        var digests: Set<String> = []
        for level in ["1", "3", "19"] {
            let finished = try pingferry(
                "bundle", "--json", "--level", level, "-o", folder("\(level).tar.zst"), sample("webxr"))
            digests.insert(try #require(try finished.json()["digest"] as? String))
        }
        #expect(digests.count == 1)
        #expect(try folder.data("1.tar.zst") != folder.data("19.tar.zst"))
    }

    /// Returns the names and contents of all members except for the manifest, which lists the inputs.
    private func contents(_ bundle: String) throws -> String {
        try tool(
            "bash", "-c",
            #"tar --zstd --exclude manifest.json -tf "$0" && tar --zstd --exclude manifest.json -xOf "$0""#, bundle)
    }

    @Test func bundleOfBundleHasSameContents() throws {
        let first = try pack("first.tar.zst", samples.map(sample))
        let second = try pack("second.tar.zst", [first], status: 0)
        #expect(try contents(second) == contents(first))
        #expect(try digest(second) == digest(first))
    }

    private func digest(_ bundle: String) throws -> String {
        try #require(try pingferry("list", "--json", bundle).json()["digest"] as? String)
    }

    @Test func mergedBundleEqualsBundleOfCaptures() throws {
        let bundles = try ["focus", "damaged"].map { try pack("\($0).tar.zst", [sample($0)]) }
        let together = try pack("together.tar.zst", bundles, status: 0)
        let direct = try pack("direct.tar.zst", ["focus", "damaged"].map(sample))
        #expect(try contents(together) == contents(direct))
        #expect(try digest(together) == digest(direct))
        let reversed = try pack("reversed.tar.zst", bundles.reversed(), status: 0)
        #expect(try pingferry("verify", reversed).status == 0)
        #expect(try folder.data("reversed.tar.zst") != folder.data("together.tar.zst"))
    }

    @Test func duplicatesAcrossInputsAreOmitted() throws {
        let damaged = try pack("damaged.tar.zst", [sample("damaged")])
        let finished = try pingferry(
            "bundle", "--json", "-o", folder("a.tar.zst"), damaged, damaged, sample("damaged"))
        let summary = try finished.json()
        #expect(finished.status == 1)
        #expect(summary["duplicates"] as? Int == 10)
        #expect((summary["quarantined"] as? [Any])?.count == 5)
        let records = try pingferry("convert", "-q", "-o", "-", folder("a.tar.zst")).output
        #expect(try pingferry("convert", "-q", "-o", "-", damaged).output == records)
    }

    @Test("A dry run writes nothing, and states the size and the digest of the bundle")
    func dryRun() throws {
        let words = [
            "--json", "--index", folder("i"), "--receipt", folder("r.json"), "-o", folder("a.tar.zst"), sample("webxr"),
        ]
        let planned = try shell(#""$0" bundle -n "$@""#, words).json()
        #expect(folder.names == [])
        let made = try shell(#""$0" bundle "$@""#, words).json()
        #expect(planned["dryRun"] as? Bool == true && made["dryRun"] as? Bool == false)
        #expect(planned["digest"] as? String == made["digest"] as? String)
        #expect(planned["bytes"] as? Int == (try folder.data("a.tar.zst")).count)
        let again = try pingferry("bundle", "--dry-run", "-o", folder("a.tar.zst"), sample("webxr"))
        #expect(
            again.lines.first?.hasPrefix("dry run: \(planned["bytes"] ?? 0) bytes for \(folder("a.tar.zst")): ") == true
        )
    }

    @Test(
        "--verbose prints a line for each input and each store",
        arguments: ["scan", "gaps", "bundle -n -o x", "convert -o x"])
    func verbose(command: String) throws {
        let finished = try shell(
            #"cd "$1" && "$0" "${@:2}""#,
            [folder.path] + command.split(separator: " ").map(String.init) + ["-v", sample("webxr")])
        #expect(finished.errorLines.first == "pingferry: read webxr")
        #expect(
            finished.errorLines.contains {
                $0.hasPrefix("pingferry:   mozilla-ping-file ") && $0.contains(" records (")
            }, "\(finished.errors)")
    }

    @Test func jsonSummaryHasAllKeys() throws {
        let finished = try pingferry("bundle", "--json", "-o", folder("a.tar.zst"), sample("focus"))
        let summary = try finished.json()
        #expect(
            summary.keys.sorted() == [
                "bytes", "complete", "copies", "digest", "dryRun", "duplicates", "filters", "format", "index",
                "missingParents", "omitted", "output", "parents", "problemCounts", "problems", "quarantineCounts",
                "quarantined", "reread", "totals", "version", "withdrawals",
            ])
        #expect(summary["complete"] as? Bool == false)
        #expect(summary["output"] as? String == folder("a.tar.zst"))
        let totals = try #require(summary["totals"] as? [String: Any])
        #expect(totals["records"] as? Int == 7)
        #expect(totals["uploadable"] as? Int == 6)
        #expect(totals["held"] as? [String: Int] == ["pending-events": 1])
        #expect(totals["type"] as? [String: Int] == ["mozilla/core": 3, "mozilla/focus-event": 4])
        #expect(
            finished.errors == "pingferry: focus: Documents/eventArray-MozTelemetry-Default-focus-event.json"
                + " at byte 241: F4 event cut short\n")
    }

    @Test func quarantineHasLimits() throws {
        let bundle = try pack("a.tar.zst", ["--quarantine-total", "0", sample("focus")])
        #expect(try !names(bundle).contains { $0.hasPrefix("quarantine/") })
        #expect(try tool("tar", "--zstd", "-xOf", bundle, "quarantine.ndjson").contains("\"stored\":false"))
        #expect(try tool("tar", "--zstd", "-xOf", bundle, "problems.ndjson").contains("\"quarantine-limit\""))
        #expect(try pingferry("verify", bundle).status == 0)
    }

    @Test func emptyBundleIsValid() throws {
        let bundle = try pack("a.tar.zst", ["--type", "none", sample("webxr")], status: 0)
        #expect(try names(bundle).filter { $0.hasPrefix("records/") } == [])
        #expect(try pingferry("verify", bundle).lines.first == "\(bundle): good, 0 records")
    }

    @Test func labelBecomesNameOfCapture() throws {
        let bundle = try pack("a.tar.zst", ["--label", "Phone 7 / \"é\"\n", sample("webxr")], status: 0)
        #expect(try pingferry("verify", bundle).status == 0)
        let record = try #require(try pingferry("convert", "-o", "-", bundle).lines.first)
        #expect(record.contains(#""source":{"capture":"Phone 7 / \"é\"\n","#))
    }
}
