import Foundation
import Hashing
import TestSupport
import Testing

/// Tests of bundles that continue others, with real processes.
@Suite struct IncrementCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The captures of three nights, each of which includes those of the nights before.
    private static let nights = [["shop"], ["shop", "focus", "damaged"], ["shop", "focus", "damaged", "webxr"]]

    /// Packs the captures of a night and returns the summary.
    @discardableResult
    private func pack(_ name: String, night: Int, _ options: [String] = [], status: Int32) throws -> [String: Any] {
        let captures = Self.nights[night - 1].map(sample)
        let finished = try shell(#""$0" bundle --json "$@""#, options + ["-o", folder(name)] + captures)
        #expect(finished.status == status, "\(finished.errors)")
        return try finished.json()
    }

    /// Packs the bundles of three nights, each of which continues the one before.
    private func packChain() throws -> [String] {
        try pack("1.tar.zst", night: 1, ["--index", folder("1.index")], status: 0)
        try pack(
            "2.tar.zst", night: 2, ["--since-index", folder("1.index"), "--index", folder("2.index")], status: 1)
        try pack(
            "3.tar.zst", night: 3, ["--since-index", folder("2.index"), "--index", folder("3.index")], status: 0)
        return ["1.tar.zst", "2.tar.zst", "3.tar.zst"].map { folder($0) }
    }

    private func records(_ bundles: [String]) throws -> [String] {
        let finished = try shell(#""$0" convert -q -o - "$@""#, bundles)
        #expect(finished.status == 0, "\(finished.errors)")
        return finished.lines
    }

    private func digest(_ bundle: String) throws -> String {
        try #require(try pingferry("list", "--json", bundle).json()["digest"] as? String)
    }

    @Test func unionOfChainEqualsOneBundle() throws {
        let chain = try packChain()
        let all = ["shop", "focus", "damaged", "webxr"].map(sample)
        #expect(try shell(#""$0" bundle -q "$@""#, ["-o", folder("all.tar.zst")] + all).status == 1)
        let expected = try records([folder("all.tar.zst")])
        #expect(try records(chain) == expected)
        #expect(try records(chain.reversed()) == expected)
        // A bundle of the chain equals the bundle of all captures.
        #expect(try shell(#""$0" bundle -q "$@""#, ["-o", folder("union.tar.zst")] + chain).status == 0)
        #expect(try digest(folder("union.tar.zst")) == digest(folder("all.tar.zst")))
        #expect(
            try pingferry("list", "--json", folder("union.tar.zst")).json()["parents"] as? [String] == [])
    }

    @Test("A summary counts what was omitted, and only new quarantined items cause exit status 1")
    func omittedContents() throws {
        try pack("1.tar.zst", night: 2, ["--index", folder("1.index")], status: 1)
        let summary = try pack("2.tar.zst", night: 2, ["--since-index", folder("1.index")], status: 0)
        let totals = try #require(summary["totals"] as? [String: Any])
        #expect(totals["records"] as? Int == 0)
        #expect(summary["complete"] as? Bool == true)
        let listed = try pingferry("list", "--json", folder("1.tar.zst")).json()
        let omitted = try #require(summary["omitted"] as? [String: Int])
        #expect(omitted["records"] == (listed["totals"] as? [String: Any])?["records"] as? Int)
        #expect(omitted["quarantine"] == (listed["quarantined"] as? [Any])?.count)
        #expect(omitted["problems"] == (listed["problems"] as? [Any])?.count)
        #expect(summary["parents"] as? [String] == [try digest(folder("1.tar.zst"))])
        let text = try pingferry("list", folder("2.tar.zst")).text
        #expect(text.contains("\ncontinues the bundle with the digest \(try digest(folder("1.tar.zst")))\n"))
        #expect(text.contains("\nomitted because earlier bundles contain them: \(omitted["records"] ?? 0) records, "))
    }

    @Test("Indexes and bundles give the same increment, and the same index")
    func indexEqualsBundles() throws {
        let chain = try packChain()
        try pack(
            "a.tar.zst", night: 3,
            ["--since-bundle", chain[0], "--since-bundle", chain[1], "--index", folder("a.index")], status: 0)
        try pack("b.tar.zst", night: 3, ["--since-bundle", chain[1], "--since-bundle", chain[0]], status: 0)
        try pack(
            "c.tar.zst", night: 3, ["--since-bundle", chain[1], "--since-index", folder("1.index")], status: 0)
        for name in ["a.tar.zst", "b.tar.zst", "c.tar.zst"] {
            #expect(try folder.data(name) == folder.data("3.tar.zst"), "\(name)")
        }
        #expect(try folder.data("a.index") == folder.data("3.index"))
        let mode = try FileManager.default.attributesOfItem(atPath: folder("a.index"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func unknownParentIsRejected() throws {
        let chain = try packChain()
        let finished = try pingferry(
            "bundle", "--since-bundle", chain[1], "-o", folder("x.tar.zst"), sample("webxr"))
        #expect(finished.status == 65)
        #expect(
            finished.errorLines.first
                == "pingferry: \(chain[1]): it continues the bundle with the digest \(try digest(chain[0])), which is not given"
        )
        #expect(!folder.names.contains("x.tar.zst"))
        // Without the first bundle, the union of the others continues it, and an index of them would be incomplete.
        let union = folder("union.tar.zst")
        #expect(try pingferry("bundle", "-q", "-o", union, chain[1], chain[2]).status == 0)
        #expect(try pingferry("verify", "-q", "--chain", chain[0], union).status == 0)
        let indexed = try pingferry(
            "bundle", "--index", folder("x.index"), "-o", folder("x.tar.zst"), chain[1], chain[2])
        #expect(indexed.status == 65)
        #expect(!folder.names.contains("x.index"))
    }

    @Test func chainIsVerified() throws {
        let chain = try packChain()
        let digests = try chain.map { try digest($0) }
        let good = try pingferry("verify", "--chain", chain[0], chain[1], chain[2])
        #expect(good.status == 0, "\(good.errors)")
        #expect(good.lines.last == "chain of 3 bundles: complete, \(try records(chain).count) records")
        #expect(good.lines.contains("continues the bundle with the digest \(digests[1])"))
        // Given bundles, the expected code, and the digest that is reported.
        let faulty: [([Int], String, Int)] = [
            ([1, 2], "missing-parent", 0), ([0, 2], "missing-parent", 1), ([0, 2, 1], "parent-out-of-order", 1),
            ([0, 0, 1], "repeated", 0), ([0, 1, 2, 1], "repeated", 1),
        ]
        for (order, code, digest) in faulty {
            let finished = try shell(#""$0" verify --chain --json "$@""#, order.map { chain[$0] })
            #expect(finished.status == 65)
            #expect(finished.errors.contains(digests[digest]), "\(finished.errors)")
            let result = try #require(try finished.json()["chain"] as? [String: Any])
            #expect(result["good"] as? Bool == false)
            let faults = try #require(result["faults"] as? [[String: String]])
            #expect(faults.map { $0["code"] } == [code])
            #expect(faults.map { $0["digest"] } == [digests[digest]])
        }
        // The digest of the last bundle identifies the whole chain.
        #expect(try shell(#""$0" verify -q --chain --digest "$@""#, [digests[2]] + chain).status == 0)
        #expect(try shell(#""$0" verify -q --chain --digest "$@""#, [digests[1]] + chain).status == 65)
        #expect(try shell(#""$0" verify -q --digest "$@""#, [digests[2]] + chain).status == 64)
    }

    @Test("Several chains are counted, and with the digest of one, the bundles of others are rejected")
    func severalChains() throws {
        let chain = try packChain()
        let digests = try chain.map { try digest($0) }
        try pack("fork.tar.zst", night: 3, ["--since-index", folder("1.index")], status: 1)
        try pack("other.tar.zst", night: 2, ["--type", "core"], status: 1)
        let (fork, other) = (folder("fork.tar.zst"), folder("other.tar.zst"))
        let all = [chain[0], fork, other, chain[1], chain[2]]
        let count = try records(chain).count
        // The chain also contains the records of the fork and of the other bundle.
        let found = try shell(#""$0" verify --chain "$@""#, all)
        #expect(found.status == 0, "\(found.errors)")
        #expect(found.lines.last == "3 chains of 5 bundles: complete, \(count) records")
        let json = try shell(#""$0" verify --chain --json "$@""#, all).json()["chain"] as? [String: Any]
        #expect(json?["chains"] as? Int == 3)
        #expect(json?["ends"] as? [String] == [try digest(fork), try digest(other), digests[2]])
        #expect(json?["records"] as? Int == count)
        let refused = try shell(#""$0" verify -q --chain --digest "$@""#, [digests[2]] + all)
        #expect(refused.status == 65)
        let lines = refused.errorLines.filter { $0.contains("the last bundle does not continue it") }
        #expect(lines.map { $0.contains("/fork.tar.zst: ") } == [true, false])
        #expect(lines.map { $0.contains("/other.tar.zst: ") } == [false, true])
    }

    @Test("A parent that is not among the inputs is named", arguments: ["convert", "report", "gaps", "scan"])
    func missingParents(command: String) throws {
        let chain = try packChain()
        let line = "\(chain[1]): the bundle that it continues is missing: digest \(try digest(chain[0]))"
        let output = command == "convert" || command == "report" ? ["-o", folder("out.html")] : []
        let finished = try RunningProgram([pingferryPath, command] + output + [chain[2], chain[1]]).finish()
        #expect(finished.status == 0)
        #expect(finished.errorLines.contains("pingferry: \(line)"), "\(finished.errors)")
        let complete = try RunningProgram(
            [pingferryPath, command] + (output.isEmpty ? [] : output + ["--force"]) + chain
        ).finish()
        #expect(!complete.errors.contains("missing"), "\(complete.errors)")
    }

    @Test func damagedIndexIsRejected() throws {
        try pack("1.tar.zst", night: 1, ["--index", folder("1.index")], status: 0)
        let bytes = try folder.data("1.index")
        for contents in [bytes.dropLast(), bytes + [0], bytes.prefix(10), Data()] {
            try Data(contents).write(to: URL(fileURLWithPath: folder("bad.index")))
            let finished = try pingferry(
                "bundle", "--since-index", folder("bad.index"), "-o", folder("2.tar.zst"), sample("shop"))
            #expect(finished.status == 65)
            #expect(finished.errorLines.first?.hasPrefix("pingferry: \(folder("bad.index")): ") == true)
            #expect(finished.errorLines.last?.hasPrefix("hint: ") == true)
        }
        let missing = try pingferry(
            "bundle", "--since-index", folder("none"), "-o", folder("2.tar.zst"), sample("shop"))
        #expect(missing.status == 66)
    }

    @Test("An index replaces only an index that it continues, and no output replaces an earlier bundle")
    func replacedFiles() throws {
        let chain = try packChain()
        let index = folder("1.index")
        #expect(
            try pingferry("bundle", "-q", "--index", index, "-o", folder("x.tar.zst"), sample("shop")).status == 73)
        try pack("y.tar.zst", night: 2, ["--since-index", index, "--index", index], status: 1)
        #expect(try folder.data("1.index") == folder.data("2.index"))
        let replacing = try pingferry(
            "bundle", "--force", "--since-bundle", chain[0], "-o", chain[0], sample("focus"))
        #expect(replacing.status == 73)
        #expect(try pingferry("verify", "-q", chain[0]).status == 0)
        for name in ["z.tar.zst", "z.tar.zst.sha256", "z.tar.zst.001", "z.json", "-"] {
            let arguments = [
                name == "-" ? "-" : folder(name), "--receipt", folder("./z.json"), "-o", folder("z.tar.zst"),
                sample("shop"),
            ]
            #expect(try shell(#""$0" bundle --index "$@""#, arguments).status == 64, "\(name)")
        }
    }

    @Test("An index that cannot be written is reported, and the bundle and its receipt remain")
    func fullDisk() throws {
        // Files are limited to 64 KiB, which the keys exceed.
        let keyCount = 3000
        let header =
            #"{"ancestors":[],"details":0,"digest":"\#(String(repeating: "0", count: 64))","#
            + #""format":"pingferry-index","records":\#(keyCount),"version":1}"# + "\n"
        var bytes = Array(header.utf8)
        for number in 0..<keyCount {
            bytes += [UInt8](repeating: 0, count: 30) + [UInt8(number >> 8), UInt8(number & 0xFF)]
            bytes += [UInt8](repeating: 0, count: 8)
        }
        try Data(bytes + ContentHash(of: bytes).bytes).write(to: URL(fileURLWithPath: folder("large.index")))
        let index = folder("1.index")
        let finished = try shell(
            #"trap '' XFSZ; ulimit -f 64; "$0" bundle --since-index "$@""#,
            [
                folder("large.index"), "--index", index, "--receipt", folder("1.json"), "-o", folder("1.tar.zst"),
                sample("shop"),
            ])
        #expect(finished.status == 74)
        #expect(finished.errorLines.first == "pingferry: no index was written: cannot write \(index): File too large")
        #expect(folder.names == ["1.json", "1.tar.zst", "large.index"])
        #expect(try pingferry("verify", "-q", "--against", folder("1.json"), folder("1.tar.zst")).status == 0)
    }

    @Test("An earlier bundle or its index is not replaced, even with --force, if only the index is given")
    func replacedFilesOfIndex() throws {
        let index = folder("1.index")
        let bundles: [(String, [String])] = [("1.tar.zst", []), ("2.tar.zst", ["--volume-size", "4K"])]
        for (name, options) in bundles {
            try pack(name, night: 1, options + ["--force", "--index", index], status: 0)
            let names = folder.names
            let contents = try names.map { try folder.data($0) }
            var outputs = [["-o", folder(name)]]
            if options.isEmpty {
                outputs += [["-o", index], ["-o", folder("3.tar.zst"), "--receipt", index]]
            }
            for output in outputs {
                let finished = try shell(
                    #""$0" bundle --force --since-index "$@""#, [index] + options + output + [sample("focus")])
                #expect(finished.status == 73, "\(output)")
                #expect(finished.errors.contains(": it is part of the input\n"), "\(finished.errors)")
                #expect(folder.names == names)
                #expect(try names.map { try folder.data($0) } == contents)
            }
        }
    }

    @Test("An earlier bundle is one value, so that a capture can follow")
    func captureAfterEarlierBundle() throws {
        let first = folder("1.tar.zst")
        try pingferry("bundle", "-q", "--index", folder("i"), "-o", first, sample("webxr"))
        for option in [["--since-bundle", first], ["--since-index", folder("i")]] {
            let finished = try shell(#""$0" bundle --json -n -o x "$@""#, option + [sample("webxr")])
            let totals = try finished.json()["totals"] as? [String: Any]
            #expect(totals?["records"] as? Int == 0, "\(finished.errors)")
        }
    }

    // MARK: Indexes and their bundles

    /// Replaces bytes of an index with `edit`, and makes its checksum match again.
    private func forge(_ name: String, as newName: String, _ edit: (inout [UInt8]) throws -> Void) throws -> String {
        var bytes = [UInt8](try folder.data(name).dropLast(32))
        try edit(&bytes)
        let checked = bytes + SHA256.hash(bytes.span).bytes
        try Data(checked).write(to: URL(fileURLWithPath: folder(newName)))
        return folder(newName)
    }

    @Test("verify compares an index with its bundles, in any order")
    func indexOfBundles() throws {
        let chain = try packChain()
        for (count, index) in zip(1...3, ["1.index", "2.index", "3.index"]) {
            for bundles in [Array(chain.prefix(count)), chain.prefix(count).reversed()] {
                let finished = try shell(#""$0" verify --index "$@""#, [folder(index)] + bundles)
                #expect(finished.status == 0, "\(finished.errors)")
                #expect(finished.lines.last?.hasPrefix("\(folder(index)): the index of these bundles, with ") == true)
                let object = try shell(#""$0" verify --json --index "$@""#, [folder(index)] + bundles).json()["index"]
                let result = try #require(object as? [String: Any])
                #expect(result["good"] as? Bool == true)
                #expect(try result["digest"] as? String == digest(chain[count - 1]))
            }
        }
        try pack("v.tar.zst", night: 2, ["--volume-size", "4K", "--index", folder("v.index")], status: 1)
        #expect(try pingferry("verify", "-q", "--index", folder("v.index"), folder("v.tar.zst.001")).status == 0)
    }

    @Test("An index of other bundles, or with other keys, is reported")
    func forgedIndex() throws {
        let chain = try packChain()
        func check(_ index: String, _ bundles: [String], _ message: String) throws {
            let finished = try shell(#""$0" verify -q --index "$@""#, [index] + bundles)
            #expect(finished.status == 65, "\(message)")
            #expect(
                finished.errorLines.first?.hasPrefix("pingferry: \(index): \(message)") == true, "\(finished.errors)")
            let json = try shell(#""$0" verify --json --index "$@""#, [index] + bundles).json()
            #expect((json["index"] as? [String: Any])?["good"] as? Bool == false)
        }
        try check(folder("3.index"), Array(chain.prefix(2)), "not the index of these bundles")
        try check(folder("2.index"), [chain[1]], "it covers the bundle with the digest \(try digest(chain[0])), which")
        try check(folder("1.index"), Array(chain.prefix(2)), "it does not cover the bundle")
        // A byte of the contents and a byte of the rank of the first key, and a missing key.
        let start = try #require(folder.data("1.index").firstIndex(of: UInt8(ascii: "\n"))) + 1
        for (position, edit) in [20, 32].enumerated() {
            let forged = try forge("1.index", as: "forged\(position)") { $0[start + edit] ^= 1 }
            try check(
                forged, [chain[0]],
                "its keys are not those of the records of the bundles: 1 missing, 1 of other records")
        }
        let shorter = try forge("1.index", as: "shorter") { bytes in
            bytes.removeSubrange(start..<start + 40)
            let header = String(decoding: bytes[..<start], as: UTF8.self)
            let changed = header.replacing(#""records":6"#, with: #""records":5"#)
            #expect(changed != header)
            bytes.replaceSubrange(..<start, with: Array(changed.utf8))
        }
        try check(
            shorter, [chain[0]], "its keys are not those of the records of the bundles: 1 missing, 0 of other records")
        let text = try pingferry("verify", "-q", "--index", try folder.put("x", "text"), chain[0])
        #expect(text.status == 65 && text.errors.contains("not an index"))
    }

    @Test("A chain can consist of volumes")
    func volumes() throws {
        try pack("1.tar.zst", night: 1, ["--volume-size", "4K"], status: 0)
        let first = folder("1.tar.zst.001")
        try pack("2.tar.zst", night: 3, ["--since-bundle", first, "--volume-size", "4K"], status: 1)
        let finished = try pingferry("verify", "--chain", first, folder("2.tar.zst.001"))
        #expect(finished.status == 0, "\(finished.errors)")
    }

    @Test("An increment without new records keeps the key of the pseudonyms")
    func pseudonymizedIncrement() throws {
        #expect(try pingferry("pseudonym-key", "-o", folder("key")).status == 0)
        let key = ["--pseudonymize", folder("key")]
        try pack("1.tar.zst", night: 1, key + ["--index", folder("1.index")], status: 0)
        let summary = try pack("2.tar.zst", night: 1, key + ["--since-index", folder("1.index")], status: 0)
        #expect((summary["totals"] as? [String: Any])?["records"] as? Int == 0)
        let manifests = try ["1.tar.zst", "2.tar.zst"].map { try pingferry("list", "--json", folder($0)).json() }
        #expect(manifests[1]["pseudonymized"] as? String == manifests[0]["pseudonymized"] as? String)
        #expect(manifests[1]["pseudonymized"] is String)
        #expect(try pingferry("verify", "-q", "--chain", folder("1.tar.zst"), folder("2.tar.zst")).status == 0)
    }
}
