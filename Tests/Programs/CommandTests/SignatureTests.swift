import Foundation
import TestSupport
import Testing

/// Tests of the options `--signers`, `--revoked` and `--signature` of `verify`.
@Suite struct SignatureTests {
    private let folder: TemporaryFolder
    private let keys: Keys
    private let bundle: String

    init() throws {
        folder = try TemporaryFolder()
        keys = Keys(folder: folder)
        bundle = folder("a.tar.zst")
        #expect(try pingferry("bundle", "-q", "-o", bundle, sample("webxr")).status == 0)
    }

    private func verify(_ signers: String, _ more: String...) throws -> FinishedProgram {
        try RunningProgram([pingferryPath, "verify", "--signers", signers] + more + [bundle]).finish()
    }

    /// Expects that a bundle is rejected with a message that contains `reason`.
    private func expectRefusal(_ finished: FinishedProgram, _ reason: String, status: Int32 = 65) {
        #expect(finished.status == status)
        #expect(finished.text == "")
        #expect(finished.errors.contains(reason), "\(finished.errors)")
    }

    // MARK: Valid signatures

    @Test(arguments: ["ed25519", "ecdsa", "rsa"]) func keyOfEachType(type: String) throws {
        let key = try keys.make("key", type: type)
        try keys.sign(bundle, with: "key")
        let finished = try verify(try keys.list("ines@example.org \(key)"))
        #expect(finished.status == 0)
        let name = type.uppercased()
        let line = try #require(finished.lines.last)
        #expect(line.hasPrefix("signed by ines@example.org with \(name) key SHA256:"), "\(line)")
        #expect(finished.errors == "")
    }

    @Test func authorityCertificate() throws {
        let authority = try keys.make("authority")
        try keys.make("key")
        _ = try tool(
            "ssh-keygen", "-q", "-s", folder("authority"), "-I", "id", "-n", "ines@example.org", "-V", "-1h:+1h",
            folder("key.pub"))
        try keys.sign(bundle, with: "key-cert.pub")
        let finished = try verify(try keys.list("*@example.org cert-authority \(authority)"))
        #expect(finished.status == 0)
        #expect(finished.lines.last?.hasPrefix("signed by ines@example.org with ED25519-CERT key") == true)
        expectRefusal(try verify(try keys.list("*@example.com cert-authority \(authority)")), "a.tar.zst.sig")
    }

    @Test func listWithSeveralSignersAndOptions() throws {
        let (key, other) = (try keys.make("key"), try keys.make("other"))
        try keys.sign(bundle, with: "key")
        let list = try keys.list(
            "# who packs", "jo@example.org \(other)",
            "ines@example.org,ops@example.org namespaces=\"pingferry-bundle,git\",valid-after=\"20200101\" \(key)")
        let finished = try verify(list, "--json")
        #expect(finished.status == 0)
        let result = try #require((try finished.json()["bundles"] as? [[String: Any]])?.first)
        let signer = try #require(result["signer"] as? [String: String])
        #expect(signer["principal"] == "ines@example.org")
        #expect(signer["key"]?.hasPrefix("ED25519 key SHA256:") == true)
        expectRefusal(
            try verify(try keys.list("ines@example.org namespaces=\"git\" \(key)")), "a.tar.zst.sig is not valid")
    }

    @Test func listFromEnvironment() throws {
        let key = try keys.make("key")
        let list = try keys.list("ines@example.org \(key)")
        func run(_ signers: String?, _ revoked: String? = nil) throws -> FinishedProgram {
            var environment = ProcessInfo.processInfo.environment
            environment["PINGFERRY_SIGNERS"] = signers
            environment["PINGFERRY_REVOKED"] = revoked
            return try RunningProgram([pingferryPath, "verify", bundle], environment: environment).finish()
        }
        expectRefusal(try run(list), "not signed: there is no \(bundle).sig")
        #expect(try run(nil).status == 0)
        // An empty variable does not disable the check.
        expectRefusal(try run(""), "PINGFERRY_SIGNERS is set but empty", status: 78)
        expectRefusal(try run(list, ""), "PINGFERRY_REVOKED is set but empty", status: 78)
        try keys.sign(bundle, with: "key")
        #expect(try run(list).lines.last?.hasPrefix("signed by ines@example.org") == true)
        expectRefusal(try run(list, folder("key.pub")), "the key is revoked")
        expectRefusal(try run(nil, folder("key.pub")), "--revoked", status: 64)
    }

    @Test func signatureCoversAllVolumes() throws {
        let list = try keys.list("ines@example.org \(try keys.make("key"))")
        _ = try pingferry(
            "bundle", "-q", "--force", "-o", bundle, "--volume-size", "4K", sample("shop"), sample("webxr"))
        let first = "\(bundle).001"
        try keys.sign(bundle: folder("joined"), volumes: bundle, with: "key")
        let finished = try pingferry("verify", "--signers", list, first)
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(finished.lines.last?.hasPrefix("signed by ines@example.org") == true)
        // A changed volume is also detected without the list of hashes.
        try FileManager.default.removeItem(atPath: "\(bundle).sha256")
        var bytes = [UInt8](try folder.data("a.tar.zst.002"))
        bytes[bytes.count / 2] ^= 4
        try Data(bytes).write(to: URL(fileURLWithPath: "\(bundle).002"))
        expectRefusal(try pingferry("verify", "--signers", list, first), "incorrect signature")
    }

    @Test func receiptNamesSigner() throws {
        let list = try keys.list("ines@example.org \(try keys.make("key"))")
        try keys.sign(bundle, with: "key")
        #expect(try verify(list, "--receipt", folder("r.json")).status == 0)
        let receipt = try #require(
            try JSONSerialization.jsonObject(with: folder.data("r.json")) as? [String: Any])
        let predicate = try #require(receipt["predicate"] as? [String: Any])
        let entry = try #require((predicate["bundles"] as? [[String: Any]])?.first)
        #expect((entry["signer"] as? [String: String])?["principal"] == "ines@example.org")
    }

    @Test func bundleFromPipe() throws {
        let list = try keys.list("ines@example.org \(try keys.make("key"))")
        try keys.sign(bundle, with: "key")
        let finished = try shell(
            #""$0" verify --signers "$1" --signature "$2.sig" - < "$2""#, [list, bundle])
        #expect(finished.status == 0)
        #expect(finished.lines.last?.hasPrefix("signed by ines@example.org") == true)
        let other = try shell(#"cat "$2" "$2" | "$0" verify --signers "$1" --signature "$2.sig" -"#, [list, bundle])
        expectRefusal(other, "incorrect signature")
        expectRefusal(try shell(#""$0" verify --signers "$1" - < "$2""#, [list, bundle]), "--signature", status: 64)
    }

    // MARK: Rejected signatures

    @Test func missingSignature() throws {
        let list = try keys.list("ines@example.org \(try keys.make("key"))")
        expectRefusal(try verify(list), "not signed: there is no \(bundle).sig")
        #expect(try verify(list).errors.contains("ssh-keygen -Y sign -n pingferry-bundle"))
    }

    @Test func unknownKey() throws {
        try keys.make("key")
        try keys.sign(bundle, with: "key")
        expectRefusal(
            try verify(try keys.list("jo@example.org \(try keys.make("other"))")),
            "was not made by any of the allowed signers")
        expectRefusal(try verify(try keys.list()), "was not made by any of the allowed signers")
    }

    @Test func expiredKey() throws {
        let key = try keys.make("key")
        try keys.sign(bundle, with: "key")
        expectRefusal(
            try verify(try keys.list("ines@example.org valid-before=\"20200101\" \(key)")), "key has expired")
    }

    @Test func revokedKey() throws {
        let (key, other) = (try keys.make("key"), try keys.make("other"))
        try keys.sign(bundle, with: "key")
        let list = try keys.list("ines@example.org \(key)")
        expectRefusal(try verify(list, "--revoked", folder("key.pub")), "the key is revoked")
        #expect(!other.isEmpty)
        #expect(try verify(list, "--revoked", folder("other.pub")).status == 0)
        _ = try tool("ssh-keygen", "-q", "-k", "-f", folder("krl"), folder("key.pub"))
        expectRefusal(try verify(list, "--revoked", folder("krl")), "the key is revoked")
        expectRefusal(try verify(list, "--revoked", folder("none")), "none", status: 66)
    }

    @Test func signatureInAnotherNamespace() throws {
        let list = try keys.list("ines@example.org \(try keys.make("key"))")
        try keys.sign(bundle, with: "key", namespace: "git")
        expectRefusal(try verify(list), "namespace does not match")
        let other = try folder.put("another file", "other")
        try keys.sign(other, with: "key")
        try FileManager.default.removeItem(atPath: "\(bundle).sig")
        try FileManager.default.copyItem(atPath: "\(other).sig", toPath: "\(bundle).sig")
        expectRefusal(try verify(list), "incorrect signature")
    }

    @Test func additionalSignatures() throws {
        let list = try keys.list("ines@example.org \(try keys.make("key"))")
        try keys.sign(bundle, with: "key")
        let good = try folder.text("a.tar.zst.sig")
        for text in [good + "x", good + good, "x\n" + good, "", String(good.dropLast(40))] {
            try folder.put(text, "a.tar.zst.sig")
            expectRefusal(try verify(list), "does not contain exactly one SSH signature")
        }
        try FileManager.default.removeItem(atPath: "\(bundle).sig")
        _ = try folder.makeFolder("a.tar.zst.sig")
        expectRefusal(try verify(list), "does not contain exactly one SSH signature")
    }

    @Test func missingList() throws {
        expectRefusal(try verify(folder("none")), "none", status: 66)
        expectRefusal(try verify(folder.path), folder.path)
    }

    @Test func missingProgram() throws {
        let list = try keys.list("ines@example.org \(try keys.make("key"))")
        let finished = try shell(#"PATH=: exec "$0" verify --signers "$1" "$2""#, [list, bundle])
        expectRefusal(finished, "ssh-keygen is not installed", status: 69)
        #expect(finished.errors.contains("openssh-client"))
    }

    @Test func signatureRequiresSigners() throws {
        let finished = try pingferry("verify", "--signature", folder("none"), bundle)
        expectRefusal(finished, "--signature requires --signers", status: 64)
    }

    @Test func ignoredChildSignals() throws {
        let list = try keys.list("ines@example.org \(try keys.make("key"))")
        try keys.sign(bundle, with: "key")
        let script =
            "import os,signal,sys;signal.signal(signal.SIGCHLD,signal.SIG_IGN);os.execv(sys.argv[1],sys.argv[1:])"
        let finished = try RunningProgram(
            ["python3", "-c", script, pingferryPath, "verify", "--signers", list, bundle]
        ).finish()
        #expect(finished.status == 0, "\(finished.errors)")
    }

    @Test func receiptReplacesNoFileOfBundle() throws {
        let list = try keys.list("ines@example.org \(try keys.make("key"))")
        try keys.sign(bundle, with: "key")
        let good = try ["a.tar.zst", "a.tar.zst.sig", "signers"].map { try folder.data($0) }
        for name in ["a.tar.zst", "a.tar.zst.sig", "signers"] {
            expectRefusal(try verify(list, "--force", "--receipt", folder(name)), "cannot replace", status: 73)
        }
        #expect(try ["a.tar.zst", "a.tar.zst.sig", "signers"].map { try folder.data($0) } == good)
        for name in ["b.tar.zst", "b.tar.zst.001", "b.tar.zst.sha256", "b.tar.zst.sig", "./b.tar.zst.002"] {
            let made = try pingferry(
                "bundle", "--force", "--volume-size", "4K", "-o", folder("b.tar.zst"), "--receipt", folder(name),
                sample("webxr"))
            expectRefusal(made, "must not have the name of a file", status: 64)
        }
    }

    // MARK: No network

    @Test func noSocketIsOpened() throws {
        let list = try keys.list("ines@example.org \(try keys.make("key"))")
        try keys.sign(bundle, with: "key")
        let commands = [
            ["verify", "--signers", list, "--receipt", folder("verified.json"), bundle],
            [
                "bundle", "-q", "--volume-size", "4K", "-o", folder("v.tar.zst"), "--receipt", folder("v.json"),
                sample("shop"),
            ],
            ["list", folder("v.tar.zst.001")],
        ]
        // Users, unlike root, cannot raise the priority of threads, which would be written to the system log.
        let withoutPriority = getuid() == 0 ? ["setpriv", "--bounding-set", "-sys_nice"] : []
        for command in commands {
            let log = folder("calls")
            _ = try tool(
                ["strace", "-f", "-e", "trace=socket,connect,execve", "-o", log] + withoutPriority + [pingferryPath]
                    + command)
            let calls = try folder.text("calls").split(separator: "\n")
            let keygen = Set(
                calls.filter { $0.contains("ssh-keygen\", [") }.compactMap { $0.split(separator: " ").first })
            let own = calls.filter { call in !keygen.contains { call.hasPrefix("\($0) ") } }
            #expect(own.contains { $0.contains("execve(") })
            #expect(!own.contains { $0.contains("socket(") || $0.contains("connect(") }, "\(own)")
            // ssh-keygen may look up the user through a local socket.
            #expect(!calls.contains { $0.contains("AF_INET") }, "\(calls)")
        }
    }

    // MARK: Replacement of ssh-keygen

    @Test func busyProgramIsStartedAgain() throws {
        let list = try keys.list("ines@example.org \(try keys.make("key"))")
        try keys.sign(bundle, with: "key")
        let keygen = try folder.putProgram("#!/bin/sh\nexec /usr/bin/ssh-keygen \"$@\"\n", "bin/ssh-keygen")
        let writer = try RunningProgram(["sh", "-c", #"exec 3>> "$1"; echo open; exec sleep 1000"#, "sh", keygen])
        #expect(try writer.firstLine() == "open")
        let verify = #"PATH="$1:$PATH" exec strace -f -e trace=execve -o "$2" "$0" verify --signers "$3" "$4""#
        let arguments = [folder("bin"), folder("calls"), list, bundle]
        let refused = try shell(verify, arguments)
        #expect(refused.status == 74)
        #expect(refused.errors.contains("cannot run \(keygen): Text file busy"), "\(refused.errors)")
        #expect(try folder.text("calls").split(separator: "\n").count { $0.contains("ETXTBSY") } > 5)
        writer.send(SIGKILL)
        writer.wait()
        #expect(try shell(verify, arguments).status == 0)
    }

    // MARK: Changes after the check

    @Test func bundleChangedAfterCheckIsRejected() throws {
        let list = try keys.list("ines@example.org \(try keys.make("key"))")
        try keys.sign(bundle, with: "key")
        #expect(try pingferry("bundle", "-q", "-o", folder("other"), sample("focus")).status == 1)
        // The real program checks the signature, and the bundle is replaced before it ends.
        let real = try tool("bash", "-c", "command -v ssh-keygen").trimmingCharacters(in: .newlines)
        try folder.putProgram(
            """
            #!/bin/bash
            "\(real)" "$@"; status=$?
            [[ $2 != verify ]] || cat "\(folder("other"))" > "\(bundle)"
            exit $status

            """, "bin/ssh-keygen")
        let finished = try shell(
            #"PATH="$1:$PATH" exec "$0" verify --signers "$2" "$3""#, [folder("bin"), list, bundle])
        expectRefusal(finished, "has changed since it was checked")
    }

    @Test func changedByteIsDetected() throws {
        let list = try keys.list("ines@example.org \(try keys.make("key"))")
        try keys.sign(bundle, with: "key")
        let split = folder("v.tar.zst")
        _ = try pingferry("bundle", "-q", "-o", split, "--volume-size", "4K", sample("shop"), sample("webxr"))
        try keys.sign(bundle: folder("joined"), volumes: split, with: "key")
        // The list of hashes would already detect a changed volume.
        try FileManager.default.removeItem(atPath: "\(split).sha256")
        let targets = [
            (changed: "a.tar.zst", verified: bundle), ("a.tar.zst.sig", bundle), ("signers", bundle),
            ("v.tar.zst.002", "\(split).001"),
        ]
        let count = 20
        var generator = SeededGenerator(seed: 16)
        for (name, path) in targets {
            let whole = try RunningProgram([pingferryPath, "verify", "--signers", list, path]).finish()
            #expect(whole.status == 0, "\(whole.errors)")
            let refused = try changes(of: name, count, using: &generator) {
                let finished = try RunningProgram(
                    [pingferryPath, "verify", "--jobs", "1", "--signers", list, path]
                ).finish()
                // Some changes of the list are harmless, such as another name of the signer. The contents are the same.
                #expect(finished.status != 0 || finished.lines.filter(isDigest) == whole.lines.filter(isDigest))
                return finished.status != 0
            }
            #expect(name == "signers" ? refused > count * 2 / 5 : refused == count, "\(name): \(refused)")
        }
    }

    private func isDigest(_ line: String) -> Bool { line.hasPrefix("digest ") }

    /// Changes one byte of a file repeatedly, and returns the number of rejected changes.
    private func changes(
        of name: String, _ count: Int, using generator: inout SeededGenerator, _ isRefused: () throws -> Bool
    ) throws -> Int {
        let good = [UInt8](try folder.data(name))
        var refused = 0
        for _ in 0..<count {
            var bytes = good
            bytes[Int.random(in: bytes.indices, using: &generator)] ^= UInt8.random(in: 1...255, using: &generator)
            try Data(bytes).write(to: URL(fileURLWithPath: folder(name)))
            if try isRefused() { refused += 1 }
        }
        try Data(good).write(to: URL(fileURLWithPath: folder(name)))
        return refused
    }
}
