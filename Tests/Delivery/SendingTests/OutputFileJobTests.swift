import Foundation
import Telemetry
import TestSupport
import Testing

/// Tests that the outputs of a job replace no other file, and that moved bundles are not lost.
@Suite struct OutputFileJobTests {
    private let folder: TemporaryFolder
    private let server: LoopbackServer

    init() throws {
        folder = try TemporaryFolder()
        server = try LoopbackServer()
        try folder.makeFolder("done")
        try folder.makeFolder("queue")
    }

    private func job(_ arguments: [String], through wrapper: [String] = []) async throws -> FinishedProgram {
        let common = ["--ledger", folder("ledger.sqlite"), "--timezone", noonTimezone]
        return try await Uploader(
            ["send", "--endpoint", "mozilla=\(server.address)"] + common + arguments, through: wrapper
        ).finish()
    }

    private func bundle(_ name: String, _ number: Int = 1) async throws -> String {
        try await Sample.bundle([Sample.ping(number, client: "C\(number)")], at: folder(name))
    }

    /// The contents of all files, by path.
    private func contents() throws -> [String: Data] {
        var found: [String: Data] = [:]
        for name in FileManager.default.enumerator(atPath: folder.path)?.compactMap({ $0 as? String }) ?? [] {
            found[name] = try? Data(contentsOf: URL(fileURLWithPath: folder(name)))
        }
        return found
    }

    // MARK: Metrics and receipts

    @Test("Metrics and receipts replace no file of the job, by any path", arguments: ["--metrics", "--receipt"])
    func filesOfTheJob(option: String) async throws {
        let bundle = try await bundle("queue/a.tar.zst")
        try folder.put("{}", "credentials", mode: 0o600)
        for name in ["queue/a.tar.zst.sig", "signers", "revoked", "ca"] { try folder.put("", name, mode: 0o600) }
        let manager = FileManager.default
        try manager.createSymbolicLink(atPath: folder("link"), withDestinationPath: "queue")
        try manager.linkItem(atPath: bundle, toPath: folder("hard"))
        let words = [
            "--force", "--receipt-records", "--credentials", folder("credentials"), "--signers", folder("signers"),
            "--revoked", folder("revoked"), "--ca-file", folder("ca"), bundle,
        ].filter { option == "--receipt" || $0 != "--receipt-records" }
        let before = try contents()
        for name in [
            "queue/a.tar.zst", "link/a.tar.zst", "hard", "queue/../link/./a.tar.zst", "link/a.tar.zst.sig", "signers",
            "revoked", "ca", "credentials", "ledger.sqlite", "ledger.sqlite-wal", "./ledger.sqlite-shm",
            "queue/../ledger.sqlite-journal", "ledger.sqlite.lock", "ledger.sqlite.jobs",
        ] {
            let finished = try await job([option, folder(name)] + words)
            #expect(finished.status == 73, "\(name): \(finished.errors)")
            #expect(finished.errors.contains("cannot replace \(folder(name)): it is part of the input"), "\(name)")
            #expect(try contents() == before)
        }
        #expect(try await server.report().total == 0)
    }

    @Test("A file that does not contain metrics is not replaced, as with an empty variable")
    func otherFiles() async throws {
        let first = try await bundle("queue/a.tar.zst", 1)
        let second = try await bundle("queue/b.tar.zst", 2)
        for name in ["text", "almost"] {
            try folder.put(name == "text" ? "mine\n" : "# HELP other_metric\n", name)
        }
        for path in [first, folder("text"), folder("almost"), folder("queue/../text")] {
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            let finished = try await job(["--metrics", path, second])
            #expect(finished.status == 73)
            #expect(finished.errors.contains("cannot replace \(path): it does not contain metrics of this program"))
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        }
        #expect(try await server.report().total == 0)
        try folder.put("", "empty")
        for _ in 1...2 {
            #expect(try await job(["--metrics", folder("empty"), second]).status == 0)
            #expect(try folder.text("empty").hasPrefix("# HELP pingferry_job_running "))
        }
    }

    @Test("Outputs are different files, and are not the new paths of moved bundles")
    func differentOutputs() async throws {
        let bundle = try await bundle("queue/a.tar.zst")
        let same = try await job(["--metrics", folder("x"), "--receipt", folder("queue/../x"), bundle])
        #expect(same.status == 73)
        for option in ["--metrics", "--receipt"] {
            let moved = try await job(["--move-done", folder("done"), option, folder("done/a.tar.zst"), bundle])
            #expect([64, 73].contains(moved.status))
        }
        #expect(folder.names == ["done", "queue"])
        #expect(try await server.report().total == 0)
    }

    @Test("The files beside the ledger replace no bundle")
    func filesBesideTheLedger() async throws {
        let bundle = try await bundle("ledger.sqlite-journal")
        let before = try Data(contentsOf: URL(fileURLWithPath: bundle))
        #expect(try await job([bundle]).status == 73)
        let released = try await upload(
            "release", "--ledger", folder("ledger.sqlite"), "--reason", "schema", "--bundle", bundle)
        #expect(released.status == 73)
        #expect(try Data(contentsOf: URL(fileURLWithPath: bundle)) == before)
        #expect(!folder.names.contains("ledger.sqlite"))
    }

    // MARK: Moved bundles

    @Test("Of a symbolic link, the file is moved and the link is removed", arguments: [true, false])
    func movedLink(isRelative: Bool) async throws {
        let bundle = try await bundle("queue/a.tar.zst")
        try folder.put("signature", "queue/a.tar.zst.sig")
        try folder.makeFolder("links")
        for name in ["a.tar.zst", "a.tar.zst.sig"] {
            try FileManager.default.createSymbolicLink(
                atPath: folder("links/\(name)"),
                withDestinationPath: isRelative ? "../queue/\(name)" : folder("queue/\(name)"))
        }
        let contents = try Data(contentsOf: URL(fileURLWithPath: bundle))
        let finished = try await job(["--move-done", folder("done"), folder("links/a.tar.zst")])
        #expect(finished.status == 0, "\(finished.errors)")
        let moved = folder("done/a.tar.zst")
        #expect(finished.lines.last == "done: moved to \(moved)")
        #expect(try FileManager.default.attributesOfItem(atPath: moved)[.type] as? FileAttributeType == .typeRegular)
        #expect(try Data(contentsOf: URL(fileURLWithPath: moved)) == contents)
        #expect(try folder.text("done/a.tar.zst.sig") == "signature")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("links")) == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("queue")) == [])
        let status = try await upload("status", "--ledger", folder("ledger.sqlite"), "--timezone", noonTimezone, moved)
        #expect(status.status == 0, "\(status.errors)")
    }

    @Test(
        "A bundle survives a power failure at any moment while it is moved",
        .enabled(if: DurableFiles.canTrace, "strace cannot trace here"))
    func durableMove() async throws {
        let bundle = try await bundle("queue/a.tar.zst")
        try folder.put("signature", "queue/a.tar.zst.sig")
        try folder.put("other", "done/a.tar.zst")
        var model = try DurableFiles(of: folder.path)
        let log = try TemporaryFolder()
        let finished = try await job(
            ["--move-done", folder("done"), bundle], through: ["strace", "-o", log("log")] + DurableFiles.traceOptions)
        #expect(finished.status == 0, "\(finished.errors)")
        for call in DurableFiles.calls(in: try log.text("log")) {
            model.replay(call)
            for state in [model.survivors, model.files] {
                for name in ["/queue/a.tar.zst", "/queue/a.tar.zst.sig", "/done/a.tar.zst"] {
                    #expect(state.values.contains(.old(name)), "\(call)")
                }
            }
        }
        #expect(model.survivors["/done/a.tar.zst.2"] == .old("/queue/a.tar.zst"))
        #expect(model.survivors["/done/a.tar.zst.2.sig"] == .old("/queue/a.tar.zst.sig"))
        #expect(model.survivors["/queue/a.tar.zst"] == nil)
    }

    @Test(
        "If a folder cannot be synchronized, all files of the bundle are moved back",
        .enabled(if: DurableFiles.canTrace, "strace cannot trace here"), arguments: ["done", "queue"], [1, 2])
    func failedSync(name: String, count: Int) async throws {
        let bundle = try await bundle("queue/a.tar.zst")
        try folder.put("signature", "queue/a.tar.zst.sig")
        let finished = try await job(
            ["--move-done", folder("done"), bundle],
            through: [
                "strace", "-f", "-qq", "-o", "/dev/null", "-P", folder(name), "-e", "trace=fsync", "-e",
                "inject=fsync:error=EIO:when=\(count)",
            ])
        #expect(finished.status == 73, "\(finished.errors)")
        #expect(finished.errors.contains("cannot sync \(folder(name))"), "\(finished.errors)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder("queue")).sorted() == [
                "a.tar.zst", "a.tar.zst.sig",
            ])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("done")) == [])
    }
}
